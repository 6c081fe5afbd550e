// Package tenuregrpc brings an election to gRPC clients and servers.
//
//	resolver, err := tenuregrpc.NewResolver(store)             // clients reach the leader, and follow it
//	conn, err := grpc.NewClient(tenuregrpc.Target("billing"), grpc.WithResolvers(resolver), …)
//
//	gate, err := tenuregrpc.NewGate(candidate)                 // only the leader serves
//	server := grpc.NewServer(grpc.UnaryInterceptor(gate.Unary), grpc.StreamInterceptor(gate.Stream))
//
//	guard, err := tenuregrpc.NewGuard(mark, "billing")         // refuses writes of deposed leaders
//	server := grpc.NewServer(grpc.UnaryInterceptor(guard.Unary), grpc.StreamInterceptor(guard.Stream))
//
//	conn, err := grpc.NewClient(ledger,                        // sends the fencing token with each call
//		grpc.WithUnaryInterceptor(tenuregrpc.UnaryClientInterceptor),
//		grpc.WithStreamInterceptor(tenuregrpc.StreamClientInterceptor), …)
//
// # Finding the leader
//
// A [Resolver] observes the election and gives its clients one address: the one that the leader advertises
// ([tenure.WithAddress]). While there is no leader, or none that was heard of for the TTL of its lease, there is no
// address: calls that wait for readiness ([grpc.WaitForReady]) wait for the next leader, all others fail with
// [codes.Unavailable]. Calls under way when the leader changes go on at the server that has them; its gate ends them.
//
// What a resolver knows is a moment old. It saves clients the search; it is the gate that keeps two servers from
// serving.
//
// # The gate
//
// A [Gate] asks the candidate when a call arrives, by the clock, and the call then counts as leader work: its context
// ends with the term ([context.Cause] says why), a stream's reads and writes fail from then on, so that no client can
// hold the handler up, and the seat is not given up before the handler has returned. leaderhttp.Term finds the term in
// the context.
//
//   - [codes.Unavailable]: refused before the handler saw it. The trailer names the leader's address, if there is one
//     ([MetadataAddress]). It is safe to repeat such a call elsewhere.
//   - [codes.Aborted]: the handler gave up because its term ended; the call may have been carried out in part.
//
// # Fencing
//
// A leader that was paused can wake up in the middle of a call and send what it composed under a term that is over. A
// [Guard] in front of what receives such calls remembers the highest token that it has seen and refuses lower ones with
// [codes.FailedPrecondition]. Before it serves the first call of a higher token it ends the contexts of those with
// lower ones that this process still serves, and waits for them. The client interceptors take the term from the call's
// context (leaderhttp.WithTerm; a gate puts it there). Metadata and marks are those of package leaderhttp.
//
// # What it does not guarantee
//
//   - A handler that ignores its context outlives the term. A candidate whose handlers have not returned does not stand
//     again (see [tenure.Candidate.Stop]).
//   - Unavailable also comes from gRPC itself, for a connection that broke in the middle of a call. Only together with
//     [MetadataElection] in the trailer does it say that nothing was carried out.
//   - A guard orders what its own process serves. If several processes share a mark, the resource itself has to compare
//     tokens, in the transaction that writes. [GuardedToken] has the token.
//   - Tokens are no secrets and prove nothing. Whoever may call a guarded method can send the highest token there is,
//     and so shut out every leader to come: authenticate in an interceptor before the guard's.
//   - Who can write to the store decides where clients connect, and which name they expect in the server's certificate:
//     that of the advertised address. With certificates of a public authority fix the name with [grpc.WithAuthority].
package tenuregrpc

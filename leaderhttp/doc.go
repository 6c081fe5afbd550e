// Package leaderhttp brings an election to HTTP servers and clients. It needs only the standard library.
//
//	gate, err := leaderhttp.NewGate(candidate, handler)    // only the leader serves; the others say 503, or
//	gate, err := leaderhttp.NewGate(candidate, handler,    // pass the request on to the leader
//		leaderhttp.WithProxy(nil))
//	probes, err := leaderhttp.NewProbes(candidate)         // /leader, /healthz, /readyz, /status
//	guard, err := leaderhttp.NewGuard(mark, "billing", handler) // refuses writes of deposed leaders
//	client := &http.Client{Transport: leaderhttp.NewTransport(nil)} // sends the fencing token with each request
//
// # The gate
//
// A [Gate] asks the candidate when a request arrives, by the clock, and the request then counts as leader work: its
// context ends with the term ([context.Cause] says why), and the seat is not given up before the handler has returned.
// So that a client that sends or reads slowly cannot keep it from returning, connections whose handler is still at work
// some time after the end of the term are cut ([WithGrace]).
//
// Elsewhere the request is refused with 503 and Retry-After, or with 421 ([WithMisdirected]), redirected
// ([WithRedirect]) or passed on ([WithProxy]) to the address that the leader advertises ([tenure.WithAddress]).
//
// Two processes that each believe the other to lead never bounce a request for ever: who redirects or passes on notes
// the token of the term that it did so for, and nobody does it for a token that is not higher than the one noted. As
// tokens only rise with new terms, every way ends. The note is a header, Tenure-Hop, or in a redirect the query
// parameter tenure-hop, since a client that is redirected repeats nothing else; handlers behind a gate see neither.
//
// # Fencing
//
// A leader that was paused can wake up in the middle of a request and send what it composed under a term that is over.
// A [Guard] in front of whatever receives such requests remembers the highest token that it has seen ([Mark]) and
// refuses lower ones with 412. Before it serves the first request of a higher token it ends the contexts of those with
// lower ones that are still being served by this process, and waits for them.
//
// A [Transport] is the client's side: it takes the term from the request's context ([WithTerm]; a gate puts it there),
// sends its token, and refuses to send once the term is over.
//
// # What it does not guarantee
//
//   - A handler that ignores its context, and a connection that it has hijacked, outlive the term. A candidate whose
//     handlers have not returned does not stand again (see [tenure.Candidate.Stop]).
//   - A guard orders what its own process serves. If several processes share a [Mark], a request that one of them has
//     let through can still be at work when another one serves a higher token: there the resource itself has to compare
//     tokens, in the transaction that writes. [GuardedToken] has the token.
//   - Tokens are no secrets and prove nothing. Whoever may send to a guard can send the highest token there is, and so
//     shut out every leader to come: authenticate in front of it.
//   - Whether a request that was passed on, and failed with 502 or 504, was carried out, is not known.
package leaderhttp

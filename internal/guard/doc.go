// Package guard holds what the guards of fencing tokens have in common, of HTTP (leaderhttp) and of gRPC
// (adapters/grpc): how an election and a token are written into a request, and the order in which requests of different
// tokens are served.
package guard

// Package objectstore keeps elections in an object storage that can say "write this if the object's tag is still that":
// all that Amazon S3, Azure Blob Storage and their like have in common. A package for each maps their clients onto
// [Client].
//
// A record is one object. Its version is the object's tag, which may be a digest of its content: so every object
// carries a random nonce, new with every write, and no tag ever recurs.
//
// The layout, below the store's prefix:
//
//	elections/NAME.json   the record of an election
//	floor.json            the highest token that was pruned, once something was
//	probe.json            what the storage was tried on; nothing is ever written to it that was not to be refused
package objectstore

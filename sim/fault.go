package sim

// Fault is something that happens to a process, a machine, the network or the store, or that somebody does, at a
// random moment and mostly for a while.
type Fault uint8

// The faults.
const (
	ProcessPause  Fault = iota // all clocks run, nothing is executed
	Suspend                    // the monotonic clock stands too
	VMSnapshot                 // all clocks stand
	WallStep                   // an hour either way, or a little
	RateChange                 // within the bound
	Crash                      // and a new process later
	ProcessCopied              // it runs a second time, on another machine
	CutRequests                // one-way partition towards the store
	CutReplies                 // and from it
	HalfOpen                   // both, and nobody tells the watch
	Partition                  // both, and the watch is told
	StoreFreeze                // requests wait
	StoreAway                  // requests fail, some of them after they were applied
	Credentials                // writes fail for good, for a while
	Throttling                 // calls are refused, with a time to wait
	WatchSilent                // the watch stops delivering without a word
	WatchBreaks                // the watch is interrupted, and says so
	WatchFlaps                 // it says so again and again
	WatchRepeats               // it goes on delivering a state of the past
	Revocation                 // the store no longer vouches for the leader's term
	Sickness                   // the health check fails
	UserResigns                // with or without a successor
	UserStops                  // and starts again
	AskResign                  // an operator writes a request into the record
	AskTransfer                // for a candidate
	AskWrongTerm               // for a term that is over, or not yet begun
	PauseElection              // and resume it
	EditTTL                    // by hand
	Forget                     // leave a tombstone, if the seat is vacant
	ForgetSilent               // the same with a seat whose leader was silent for a TTL
	Prune                      // delete a vacant record after raising the floor
	RaiseFloor                 // another election's record was pruned
	FailOver                   // the store loses its last writes
	Restore                    // from a backup
	DeleteByHand               // without raising the floor
	numFaults
)

var faults = [numFaults]struct {
	name  string
	forks bool // needs a store that may lose writes
	push  bool // needs a store that pushes
}{
	ProcessPause:  {name: "process paused"},
	Suspend:       {name: "machine suspended"},
	VMSnapshot:    {name: "virtual machine snapshot"},
	WallStep:      {name: "wall clock stepped"},
	RateChange:    {name: "clock rate changed"},
	Crash:         {name: "crash"},
	ProcessCopied: {name: "process copied"},
	CutRequests:   {name: "one-way partition, requests"},
	CutReplies:    {name: "one-way partition, replies"},
	HalfOpen:      {name: "half-open connection"},
	Partition:     {name: "partition"},
	StoreFreeze:   {name: "store frozen"},
	StoreAway:     {name: "store away"},
	Credentials:   {name: "credentials expired"},
	Throttling:    {name: "throttling"},
	WatchSilent:   {name: "watch silent", push: true},
	WatchBreaks:   {name: "watch interrupted", push: true},
	WatchFlaps:    {name: "watch interrupted again and again", push: true},
	WatchRepeats:  {name: "watch repeats the past", push: true},
	Revocation:    {name: "term revoked", push: true},
	Sickness:      {name: "health check failed"},
	UserResigns:   {name: "user resigns"},
	UserStops:     {name: "user stops"},
	AskResign:     {name: "request to resign"},
	AskTransfer:   {name: "request to transfer"},
	AskWrongTerm:  {name: "request to another term"},
	PauseElection: {name: "election paused"},
	EditTTL:       {name: "TTL edited by hand"},
	Forget:        {name: "election forgotten"},
	ForgetSilent:  {name: "election of a silent leader forgotten"},
	Prune:         {name: "record pruned"},
	RaiseFloor:    {name: "floor raised"},
	FailOver:      {name: "store failed over", forks: true},
	Restore:       {name: "store restored", forks: true},
	DeleteByHand:  {name: "record deleted by hand", forks: true},
}

// String names the fault.
func (f Fault) String() string { return faults[f].name }

// MessageFault strikes single messages, calls or steps.
type MessageFault uint8

// The faults of messages.
const (
	RequestLost MessageFault = iota
	RequestLate              // it arrives after up to two leases, long after its caller gave up
	ReplyLost
	ReplyLate   // by up to two leases
	Repeated    // the client library sends the write again, since the first reply was lost
	Duplicated  // the network delivers the write once more, later
	StaleRead   // a load is answered by a replica that lags
	Refused     // not applied
	Broken      // an error that says nothing, whether applied or not
	PauseBefore // the process is paused between the reading of the clock and the sending
	CrashInStep // the process dies before its effects, between them, or after
	PushLost
	PushTwice
	PushLate
	numMessageFaults
)

var messageFaultNames = [numMessageFaults]string{
	"request lost", "request late", "reply lost", "reply late", "write repeated by the client", "write duplicated",
	"stale read", "refused", "unknown error", "paused before sending", "crash in a step", "push lost", "push twice",
	"push late",
}

// String names the fault.
func (f MessageFault) String() string { return messageFaultNames[f] }

//go:build linux

package register

import (
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Request is an operation. Token zero is an onlooker's, who may read.
type Request struct {
	Process  string `json:"process"`
	Kind     string `json:"kind"`
	Register string `json:"register"`
	Token    uint64 `json:"token"`
	Value    int64  `json:"value,omitempty"`
}

// Reply is how it ended.
type Reply struct {
	Outcome string `json:"outcome"`
	Value   int64  `json:"value,omitempty"`
}

// Server is all registers. Its methods are safe for concurrent use.
type Server struct {
	listener net.Listener
	server   http.Server
	serving  sync.WaitGroup
	unfenced bool

	mu    sync.Mutex
	cells map[string]*cell
	last  Write
	moved chan struct{}            // closed at the next accepted write
	reads map[string]chan struct{} // closed at the next accepted read of the process
}

type cell struct {
	mark  uint64
	value int64
}

// Write is who wrote when.
type Write struct {
	Process string
	Token   uint64
	At      time.Time
}

// Serve begins to serve on a free loopback port. Unfenced registers accept whatever comes, for a run that has to show
// what becomes of that.
func Serve(unfenced bool) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		listener: listener, unfenced: unfenced, cells: map[string]*cell{},
		moved: make(chan struct{}), reads: map[string]chan struct{}{},
	}
	s.server.Handler = http.HandlerFunc(s.handle)
	s.Listen(listener)
	return s, nil
}

// Listen serves there too, for those who cannot reach Addr. Close closes the listener.
func (s *Server) Listen(listener net.Listener) {
	s.serving.Go(func() { _ = s.server.Serve(listener) }) // it ends by Close
}

// Addr is the host and port to connect to.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends it.
func (s *Server) Close() {
	_ = s.server.Close()
	s.serving.Wait()
}

// Last returns the last accepted write, and a channel that is closed when there is another.
func (s *Server) Last() (Write, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.moved
}

// Reads returns a channel that is closed when a process next reads a register as a leader, to write what follows from
// it.
func (s *Server) Reads(process string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads[process] == nil {
		s.reads[process] = make(chan struct{})
	}
	return s.reads[process]
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	var request Request
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(s.do(request)) // whoever is gone does not hear of it
}

func (s *Server) do(r Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cells[r.Register]
	if c == nil {
		c = &cell{}
		s.cells[r.Register] = c
	}
	switch {
	case r.Token == 0 && r.Kind == history.Read:
		return Reply{history.OK, c.value}
	case r.Token < c.mark && !s.unfenced, r.Token == 0:
		return Reply{Outcome: history.Refused}
	}
	c.mark = max(c.mark, r.Token)
	if r.Kind == history.Read {
		if read := s.reads[r.Process]; read != nil {
			close(read)
			delete(s.reads, r.Process)
		}
		return Reply{history.OK, c.value}
	}
	c.value = r.Value
	s.last = Write{r.Process, r.Token, time.Now()}
	close(s.moved)
	s.moved = make(chan struct{})
	return Reply{Outcome: history.OK}
}

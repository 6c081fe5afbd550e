package sidecar

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"
)

const (
	typeEvents = "text/event-stream"
	typeLines  = "application/x-ndjson"
)

// stream is an answer that goes on: server-sent events, or a JSON object on each line.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	events  bool
	timeout time.Duration
}

// open takes one of the slots for streams and begins the answer. The slot is the caller's to free.
func (s *Sidecar) open(w http.ResponseWriter, r *http.Request, usual string) (*stream, bool) {
	select {
	case <-s.closing:
		unavailable(w, "the sidecar is ending")
		return nil, false
	default:
	}
	select {
	case s.streams <- struct{}{}:
	default:
		unavailable(w, "there are as many streams as may be served at once")
		return nil, false
	}
	kind := accepted(r, usual)
	out := &stream{w, http.NewResponseController(w), kind == typeEvents, s.options.WriteTimeout}
	// A stream may wait for as long as it takes, which is what ends requests of other kinds.
	_ = out.control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no")
	return out, true
}

func (s *Sidecar) freeStream() { <-s.streams }

// accepted finds the form that the client asks for by name.
func accepted(r *http.Request, usual string) string {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		switch kind, _, _ := mime.ParseMediaType(part); kind {
		case typeEvents, typeLines:
			return kind
		}
	}
	return usual
}

// send writes one event. A client that does not take it within the timeout has fallen silent.
func (s *stream) send(name string, event any) error {
	data, err := json.Marshal(event)
	if err != nil {
		return err
	}
	var frame bytes.Buffer
	if s.events {
		frame.WriteString("event: " + name + "\ndata: ")
	}
	frame.Write(data)
	frame.WriteByte('\n')
	if s.events {
		frame.WriteByte('\n')
	}
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return err
	}
	_, err = s.w.Write(frame.Bytes())
	return errors.Join(err, s.control.Flush())
}

package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// problem is the answer to a request that was refused.
type problem struct {
	Error string `json:"error"`
}

func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	reply(w, status, problem{fmt.Sprintf(format, args...)})
}

func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, "%s", why)
}

func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // a time beyond the year 9999
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has gone needs no answer
}

// decode reads the JSON of a request strictly: a field that is misspelt must not be ignored. No body is an empty one.
func decode(w http.ResponseWriter, r *http.Request, v any) bool {
	body := http.MaxBytesReader(w, r.Body, maxBody)
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(v)
	if errors.Is(err, io.EOF) {
		return true
	}
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return true
		}
		if err == nil {
			err = errors.New("there is more than one value")
		}
	}
	status := http.StatusBadRequest
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		status = http.StatusRequestEntityTooLarge
	}
	refuse(w, status, "the body cannot be read: %v", err)
	return false
}

// Command storage keeps notes in a directory. It takes them from the leader of the nodes alone: it keeps the highest
// fencing token that it has seen, also over a restart, and refuses every lower one.
package main

import (
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/tenure-go/tenure/leaderhttp"
)

func main() {
	if err := run(); err != nil {
		slog.Error("the storage failed", "error", err)
		os.Exit(1)
	}
}

func run() (err error) {
	listen := flag.String("listen", "localhost:9000", "`address` to listen on")
	dir := flag.String("dir", filepath.Join(os.TempDir(), "tenure-storage"), "`directory` of the notes")
	flag.Parse()
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return err
	}
	mark, err := leaderhttp.OpenFileMark(filepath.Join(*dir, ".mark"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mark.Close()) }()
	// One guard stands in front of everything that changes notes.
	guard, err := leaderhttp.NewGuard(mark, "notes", http.HandlerFunc(notes(*dir).put),
		leaderhttp.WithGuardLogger(slog.Default()))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /notes/{name}", notes(*dir).get)
	mux.Handle("PUT /notes/{name}", guard)
	server := &http.Server{Addr: *listen, Handler: mux, ReadTimeout: 10 * time.Second}
	return server.ListenAndServe()
}

// notes is the directory that has a file for each note.
type notes string

// file returns a note's file. Escaped, no name leads out of the directory, nor to the mark.
func (n notes) file(r *http.Request) string {
	return filepath.Join(string(n), url.PathEscape(r.PathValue("name"))+".note")
}

func (n notes) get(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, n.file(r)) }

func (n notes) put(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := replace(n.file(r), text); err != nil {
		slog.Error("not written", "error", err)
		http.Error(w, "not written", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// replace writes a file so that readers see the old content or the new.
func replace(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "draft-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

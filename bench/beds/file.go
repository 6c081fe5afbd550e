package beds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/file"
	"github.com/tenure-go/tenure/internal/testserver"
)

// File is the store in a directory.
func File() bench.Bed {
	return bench.Bed{
		Name: "file", About: "a directory on the local disk, synced",
		Start: func(tb testserver.TB) (bench.Server, error) { return startFile(testserver.Dir(tb)) },
		Open:  func(_ context.Context, address string) (bench.Store, error) { return file.Open(address) },
	}
}

// fileServer is a directory. A round trip to it is the reading of a small file.
type fileServer struct{ elections, bare string }

func startFile(dir string) (*fileServer, error) {
	f := &fileServer{filepath.Join(dir, "elections"), filepath.Join(dir, "bare")}
	if err := os.Mkdir(f.bare, 0o700); err != nil {
		return nil, err
	}
	for value := range bench.BareValues {
		if err := f.Write(context.Background(), value); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fileServer) Version() string { return "local file system" }

func (f *fileServer) Address() string { return f.elections }

func (f *fileServer) Open(context.Context) (bench.Store, error) { return file.Open(f.elections) }

func (f *fileServer) Ping(context.Context) error {
	_, err := os.ReadFile(f.path(0))
	return err
}

// Write replaces a file so that a power cut leaves the old or the new one: written, synced, renamed, and the directory
// synced.
func (f *fileServer) Write(_ context.Context, value int) error {
	path := f.path(value)
	if err := writeSynced(path+".new", bareValue); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(f.bare)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (f *fileServer) path(value int) string { return filepath.Join(f.bare, fmt.Sprint(value)) }

func writeSynced(path string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}

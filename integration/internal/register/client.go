//go:build linux

package register

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// timeout bounds one operation. The server answers at once unless the machine stands still.
const timeout = 5 * time.Second

// Client does operations on registers, and writes each into the history of its process.
type Client struct {
	addr, process string
	history       *history.Writer
	http          http.Client
	operations    atomic.Int64
}

// NewClient returns a client of the server at addr.
func NewClient(addr, process string, w *history.Writer) *Client {
	return &Client{
		addr: addr, process: process, history: w,
		http: http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConnsPerHost: 2}},
	}
}

// Close closes its connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Read returns the value of a register and how the reading ended. An error is one of the history.
func (c *Client) Read(name string, counter bool, token uint64) (int64, string, error) {
	reply, err := c.do(Request{c.process, history.Read, name, token, 0}, counter)
	return reply.Value, reply.Outcome, err
}

// Write writes, and returns how that ended.
func (c *Client) Write(name string, counter bool, token uint64, value int64) (string, error) {
	reply, err := c.do(Request{c.process, history.Write, name, token, value}, counter)
	return reply.Outcome, err
}

// do sends the operation whatever becomes of the caller's term meanwhile: what is sent is not called back.
func (c *Client) do(r Request, counter bool) (Reply, error) {
	number := int(c.operations.Add(1))
	err := c.history.Write(history.Event{Invoke: &history.Invoke{
		Operation: number, Kind: r.Kind, Register: r.Register, Counter: counter, Token: r.Token, Value: r.Value,
	}})
	if err != nil {
		return Reply{}, err
	}
	reply, problem := c.send(r)
	done := &history.Return{Operation: number, Outcome: reply.Outcome, Value: reply.Value}
	if problem != nil {
		done.Outcome, done.Error = history.Unknown, problem.Error()
		reply.Outcome = history.Unknown
	}
	return reply, c.history.Write(history.Event{Return: done})
}

func (c *Client) send(r Request) (reply Reply, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return reply, err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+c.addr,
		bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	// Sent once: what the client would repeat by itself might be done twice.
	request.GetBody = nil
	response, err := c.http.Do(request)
	if err != nil {
		return reply, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return reply, fmt.Errorf("the register answers %s", response.Status)
	}
	return reply, json.NewDecoder(response.Body).Decode(&reply)
}

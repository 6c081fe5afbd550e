package dualleader

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// redisServer is as much of Redis as locks use: strings that expire by the server's wall clock, and scripts, which a
// Lua interpreter really evaluates.
type redisServer struct {
	clock *Clock

	mu      sync.Mutex
	keys    map[string]redisValue
	scripts map[string]*lua.LFunction // by the checksum of their text
	state   *lua.LState
	wrote   bool // by the script that runs
}

type redisValue struct {
	text    string
	expires time.Duration // on the wall clock
}

// Of the client library, go-redis, at its defaults: how long it waits for a reply, and how often it tries again.
const (
	redisTimeout = 5 * time.Second
	redisRetries = 3
	redisBackoff = 8 * time.Millisecond
	noScript     = "NOSCRIPT No matching script"
	noExpiry     = Forever * 365
)

var errNoScript = errors.New(noScript)

func newRedisServer(clock *Clock) *redisServer {
	s := &redisServer{
		clock: clock, keys: map[string]redisValue{}, scripts: map[string]*lua.LFunction{},
		state: lua.NewState(),
	}
	library := s.state.NewTable()
	library.RawSetString("call", s.state.NewFunction(s.call))
	library.RawSetString("status_reply", s.state.NewFunction(statusReply))
	s.state.SetGlobal("redis", library)
	return s
}

func (s *redisServer) Delete() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.keys)
}

func (s *redisServer) Backup() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]redisValue{}
	for key, value := range s.keys {
		kept[key] = value
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.keys = kept
	}
}

func (s *redisServer) Close() { s.state.Close() }

// eval carries out a script, given by its text.
func (s *redisServer) eval(script string, keys []string, args []any) (reply any, wrote bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := sha1.Sum([]byte(script))
	sum := hex.EncodeToString(digest[:])
	if s.scripts[sum] == nil {
		if s.scripts[sum], err = s.state.LoadString(script); err != nil {
			return nil, false, err
		}
	}
	return s.run(s.scripts[sum], keys, args)
}

// evalSum carries out a script that is known, given by its checksum.
func (s *redisServer) evalSum(sum string, keys []string, args []any) (reply any, wrote bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	script, ok := s.scripts[sum]
	if !ok {
		return nil, false, errNoScript
	}
	return s.run(script, keys, args)
}

// setNX is SET with NX and PX.
func (s *redisServer) setNX(key, value string, expiry time.Duration) (set bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.get(key); ok {
		return false
	}
	s.keys[key] = redisValue{value, s.now() + expiry}
	return true
}

// read is GET.
func (s *redisServer) read(key string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(key)
}

func (s *redisServer) now() time.Duration {
	_, wall := s.clock.Read()
	return wall
}

func (s *redisServer) get(key string) (string, bool) {
	value, ok := s.keys[key]
	if !ok || value.expires <= s.now() {
		delete(s.keys, key)
		return "", false
	}
	return value.text, true
}

func (s *redisServer) run(script *lua.LFunction, keys []string, args []any) (reply any, wrote bool, err error) {
	s.state.SetGlobal("KEYS", s.list(len(keys), func(i int) string { return keys[i] }))
	s.state.SetGlobal("ARGV", s.list(len(args), func(i int) string { return fmt.Sprint(args[i]) }))
	s.wrote = false
	s.state.Push(script)
	if err := s.state.PCall(0, 1, nil); err != nil {
		return nil, false, err
	}
	result := s.state.Get(-1)
	s.state.Pop(1)
	return fromLua(result), s.wrote, nil
}

func (s *redisServer) list(n int, item func(int) string) *lua.LTable {
	table := s.state.NewTable()
	for i := range n {
		table.Append(lua.LString(item(i)))
	}
	return table
}

// fromLua converts a result as Redis does: false and nil are no reply at all.
func fromLua(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LNumber:
		return int64(v)
	case lua.LString:
		return string(v)
	case *lua.LTable:
		return v.RawGetString("ok").String()
	case lua.LBool:
		if v {
			return int64(1)
		}
	}
	return nil
}

func statusReply(l *lua.LState) int {
	table := l.NewTable()
	table.RawSetString("ok", l.Get(1))
	l.Push(table)
	return 1
}

// call is redis.call within a script.
func (s *redisServer) call(l *lua.LState) int {
	var words []string
	for i := 1; i <= l.GetTop(); i++ {
		words = append(words, l.Get(i).String())
	}
	l.Push(s.command(l, words))
	return 1
}

func (s *redisServer) command(l *lua.LState, words []string) lua.LValue {
	key := words[1]
	text, exists := s.get(key)
	switch strings.ToLower(words[0]) {
	case "get":
		if !exists {
			return lua.LFalse
		}
		return lua.LString(text)
	case "getrange":
		return lua.LString(text[:min(len(text), number(words[3])+1)])
	case "set":
		return s.set(l, words, exists)
	case "pexpire":
		if !exists {
			return lua.LNumber(0)
		}
		s.keys[key], s.wrote = redisValue{text, s.now() + milliseconds(words[2])}, true
		return lua.LNumber(1)
	case "pttl":
		return lua.LNumber((s.keys[key].expires - s.now()).Milliseconds())
	case "del":
		delete(s.keys, key)
		s.wrote = s.wrote || exists
		return lua.LNumber(map[bool]int{true: 1}[exists])
	}
	panic("the scripts of locks do not use " + words[0])
}

// set is SET with NX and PX, in any order.
func (s *redisServer) set(l *lua.LState, words []string, exists bool) lua.LValue {
	value := redisValue{words[2], s.now() + noExpiry}
	for i, word := range words[3:] {
		switch strings.ToLower(word) {
		case "nx":
			if exists {
				return lua.LFalse
			}
		case "px":
			value.expires = s.now() + milliseconds(words[3+i+1])
		}
	}
	s.keys[words[1]], s.wrote = value, true
	table := l.NewTable()
	table.RawSetString("ok", lua.LString("OK"))
	return table
}

func milliseconds(word string) time.Duration { return time.Duration(number(word)) * time.Millisecond }

func number(word string) int {
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic(err)
	}
	return int(f)
}

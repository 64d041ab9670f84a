// Command clients runs Go's lock libraries against $REDLOCKD_HOST:$REDLOCKD_PORT. It is a module of its own, so that none of them
// is a dependency of redlockd.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// handle is one client's handle of one lock. Nothing is sent before take.
type handle interface {
	take(ctx context.Context) (bool, error) // tries once; false when somebody else holds it
	release(ctx context.Context) error      // errRefused when the lock is not this handle's
	extend(ctx context.Context, ttl time.Duration) error
}

// errRefused is how a library says that the lock is not ours.
var errRefused = errors.New("refused")

// errNone: the library extends its locks by itself.
var errNone = errors.New("there is no such call")

// library is one that works.
type library struct {
	name, module, how, note string
	silent                  bool                              // it does not tell that a release was refused
	keeps                   bool                              // it extends its locks by itself, those of keptFor
	key                     string                            // under which a lock named %s stands
	open                    func(addr string) (opened, error) // before all checks
	refused                 func(addr string) (err error)     // instead of open: what must fail,
	says                    string                            // with an error that has this word
}

// opened is a library that is connected.
type opened struct {
	lock  func(name string, ttl time.Duration) handle
	close func()
}

func main() {
	addr := net.JoinHostPort(os.Getenv("REDLOCKD_HOST"), os.Getenv("REDLOCKD_PORT"))
	out := json.NewEncoder(os.Stdout)
	for _, l := range libraries {
		results := map[string]string{"refused": ""}
		if l.refused != nil {
			results["refused"] = text(mustFail(l.refused(addr), l.says))
		} else {
			results = run(l, addr)
		}
		out.Encode(map[string]any{
			"language": "Go", "library": l.name, "version": version(l.module), "how": l.how, "checks": results, "note": l.note,
		})
	}
}

// run makes all checks at once, on keys of their own.
func run(l library, addr string) map[string]string {
	o, err := l.open(addr)
	if err != nil { // then that is what each check says
		o.lock = func(string, time.Duration) handle { return broken{err} }
	} else {
		defer o.close()
	}
	s := suite{library: l, opened: o, addr: addr}
	results := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for name, check := range checks {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			key := fmt.Sprintf("%s:%x:%s", l.name, rand.Uint64(), strings.ReplaceAll(name, " ", "-"))
			result := text(check(s, ctx, key))
			mu.Lock()
			results[name] = result
			mu.Unlock()
		})
	}
	wg.Wait()
	return results
}

// broken is a library that could not be opened.
type broken struct{ err error }

func (b broken) take(context.Context) (bool, error)                  { return false, b.err }
func (b broken) release(context.Context) error                       { return b.err }
func (b broken) extend(ctx context.Context, ttl time.Duration) error { return b.err }

func mustFail(err error, word string) error {
	if err == nil {
		return errors.New("it was not refused")
	}
	if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(word)) {
		return fmt.Errorf("the error does not name %s: %w", word, err)
	}
	return nil
}

func text(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// version of a module that this program was built with.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == module && d.Replace != nil {
			d = d.Replace
		}
		if d.Path == module {
			return strings.TrimPrefix(d.Version, "v")
		}
	}
	return "unknown"
}

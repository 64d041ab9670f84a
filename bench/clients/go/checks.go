package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	long     = 30 * time.Second // longer than any pause of a busy machine: a lock of a check that must not end meanwhile
	short    = time.Second      // of one that is left to its end
	early    = short * 95 / 100 // rounding, and the millisecond at which a client began to count
	keptFor  = 3 * time.Second  // of one that its library extends by itself, six times meanwhile
	patience = time.Minute      // for a whole check
	workers  = 20
	times    = 3
)

// suite is a library under test.
type suite struct {
	library
	opened
	addr string
}

var checks = map[string]func(s suite, ctx context.Context, key string) error{
	"take":               suite.take,
	"contend":            suite.contend,
	"release":            suite.releaseOwn,
	"release by another": suite.releaseOfAnother,
	"extend":             suite.extend,
	"expiry":             suite.expiry,
	"counter":            suite.counter,
}

// number is what the server answers, asked by a connection of its own.
func (s suite) number(command, name string) (int, error) {
	c, err := redis.Dial("tcp", s.addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	return redis.Int(c.Do(command, fmt.Sprintf(s.key, name)))
}

// mustTake takes a lock that is free.
func mustTake(ctx context.Context, h handle) error {
	got, err := h.take(ctx)
	if err == nil && !got {
		err = errors.New("a free lock was refused")
	}
	return err
}

func mustNotTake(ctx context.Context, h handle) error {
	got, err := h.take(ctx)
	if err == nil && got {
		err = errors.New("two hold it")
	}
	return err
}

// awaitTake waits for the lock.
func awaitTake(ctx context.Context, h handle) error {
	for {
		got, err := h.take(ctx)
		if err != nil || got {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not to be had: %w", ctx.Err())
		case <-time.After(5*time.Millisecond + rand.N(25*time.Millisecond)):
		}
	}
}

func (s suite) take(ctx context.Context, key string) error {
	if err := mustTake(ctx, s.lock(key, long)); err != nil {
		return err
	}
	left, err := s.number("PTTL", key)
	if err == nil && (left <= 0 || left > int(long.Milliseconds())+1000) {
		err = fmt.Errorf("its PTTL is %d", left)
	}
	return err
}

func (s suite) contend(ctx context.Context, key string) error {
	if err := mustTake(ctx, s.lock(key, long)); err != nil {
		return err
	}
	return mustNotTake(ctx, s.lock(key, long))
}

func (s suite) releaseOwn(ctx context.Context, key string) error {
	for range 2 { // free after it
		h := s.lock(key, long)
		if err := mustTake(ctx, h); err != nil {
			return err
		}
		if err := h.release(ctx); err != nil {
			return err
		}
	}
	there, err := s.number("EXISTS", key)
	if err == nil && there != 0 {
		err = errors.New("the key is there after its release")
	}
	return err
}

// releaseOfAnother: who has lost the lock by its expiry releases it, when somebody else holds it.
func (s suite) releaseOfAnother(ctx context.Context, key string) error {
	a, b := s.lock(key, short), s.lock(key, long)
	if err := mustTake(ctx, a); err != nil {
		return err
	}
	if err := awaitTake(ctx, b); err != nil {
		return err
	}
	switch err := a.release(ctx); {
	case err == nil && !s.silent:
		return errors.New("the release of another's lock was not refused")
	case err != nil && !errors.Is(err, errRefused):
		return err
	}
	if err := mustNotTake(ctx, s.lock(key, long)); err != nil {
		return err
	}
	return b.release(ctx)
}

func (s suite) extend(ctx context.Context, key string) error {
	if s.keeps {
		return s.kept(ctx, key)
	}
	a := s.lock(key, 5*time.Second)
	if err := mustTake(ctx, a); err != nil {
		return err
	}
	if err := a.extend(ctx, long); err != nil {
		return err
	}
	left, err := s.number("PTTL", key)
	if err != nil {
		return err
	}
	if left < 10_000 {
		return fmt.Errorf("its PTTL is %d after an extension to %v", left, long)
	}
	if err := mustNotTake(ctx, s.lock(key, long)); err != nil {
		return err
	}
	return a.release(ctx)
}

// kept: the lock outlives the time that it was taken for, and is free once it is released.
func (s suite) kept(ctx context.Context, key string) error {
	a, b := s.lock(key, keptFor), s.lock(key, long)
	if err := mustTake(ctx, a); err != nil {
		return err
	}
	time.Sleep(2 * keptFor)
	if err := mustNotTake(ctx, b); err != nil {
		return err
	}
	if err := a.release(ctx); err != nil {
		return err
	}
	return awaitTake(ctx, b)
}

func (s suite) expiry(ctx context.Context, key string) error {
	began := time.Now()
	if err := mustTake(ctx, s.lock(key, short)); err != nil {
		return err
	}
	if err := awaitTake(ctx, s.lock(key, long)); err != nil {
		return err
	}
	if lived := time.Since(began); lived < early {
		return fmt.Errorf("a lock of %v ended after %v", short, lived)
	}
	return nil
}

// counter: without the lock, reads and writes of the workers would cross, and counts be lost.
func (s suite) counter(ctx context.Context, key string) error {
	var mu sync.Mutex // for the memory model alone: never held over read and write together
	count := 0
	read := func() int { mu.Lock(); defer mu.Unlock(); return count }
	write := func(n int) { mu.Lock(); defer mu.Unlock(); count = n }
	errs := make(chan error, workers)
	for range workers {
		go func() {
			h := s.lock(key, long)
			for range times {
				if err := awaitTake(ctx, h); err != nil {
					errs <- err
					return
				}
				seen := read()
				time.Sleep(2 * time.Millisecond)
				write(seen + 1)
				if err := h.release(ctx); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range workers {
		first = cmp.Or(first, <-errs)
	}
	if first != nil {
		return first
	}
	if lost := workers*times - read(); lost != 0 {
		return fmt.Errorf("%d of %d counts were lost", lost, workers*times)
	}
	return nil
}

package sim

import (
	"iter"
	"time"
)

// process is something that computes, and that the machine it runs on may stop for a while, or for good.
type process struct {
	*world
	name   string
	life   int // which life of it this is
	alive  bool
	paused time.Duration // until then
	tasks  map[*task]bool
}

// later runs do in this life of the process, d from now; when it is stopped then, as soon as it goes on.
func (p *process) later(d time.Duration, do func()) {
	life := p.life
	p.after(d, func() { p.run(life, do) })
}

func (p *process) run(life int, do func()) {
	switch {
	case !p.alive || p.life != life:
	case p.now < p.paused:
		p.after(p.paused-p.now, func() { p.run(life, do) })
	default:
		do()
	}
}

// pause stops the process for d.
func (p *process) pause(d time.Duration) {
	p.paused = max(p.paused, p.now+d)
	p.say(p.name, "stands still for %v", d.Round(time.Microsecond))
}

// end this life of the process.
func (p *process) end() {
	p.alive = false
	p.life++
	for len(p.tasks) > 0 {
		for _, t := range sorted(p.tasks) {
			t.stop()
			delete(p.tasks, t)
		}
	}
}

func sorted(tasks map[*task]bool) []*task {
	var all []*task
	for t := range tasks {
		all = append(all, t)
	}
	for i := range all { // few
		for j := i; j > 0 && all[j].id < all[j-1].id; j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return all
}

// task is something that takes several steps, written as one: a coroutine, that goes on when what it waits for has
// happened, and never beside anything else.
type task struct {
	*process
	id     int
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	waits  int // which of its waits this is
}

type stopped struct{}

// start a task of the process.
func (p *process) start(do func(t *task)) {
	p.world.tasks++
	t := &task{process: p, id: p.world.tasks}
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if v := recover(); v != nil {
				if _, ok := v.(stopped); !ok {
					panic(v)
				}
			}
		}()
		t.yield = yield
		do(t)
	})
	p.tasks[t] = true
	p.later(0, t.goOn)
}

func (t *task) goOn() {
	if _, more := t.resume(); !more {
		delete(t.tasks, t)
	}
}

// park the task until wake is called, once. Calls of a wake that came too late do nothing.
func (t *task) park(arrange func(wake func())) {
	t.waits++
	wait := t.waits
	arrange(func() {
		t.later(0, func() {
			if t.waits == wait && t.tasks[t] {
				t.waits++
				t.goOn()
			}
		})
	})
	if !t.yield(struct{}{}) {
		panic(stopped{})
	}
}

// sleep for d.
func (t *task) sleep(d time.Duration) {
	t.park(func(wake func()) { t.later(d, wake) })
}

// sleepUntil is sleep, but what is put into bell wakes it.
func (t *task) sleepUntil(d time.Duration, bell *func()) {
	t.park(func(wake func()) {
		*bell = wake
		t.later(d, wake)
	})
	*bell = nil
}

// together runs all of them, side by side, and waits for all.
func (t *task) together(n int, do func(t *task, i int)) {
	left := n
	var done func()
	for i := range n {
		t.start(func(child *task) {
			do(child, i)
			if left--; left == 0 && done != nil {
				done()
			}
		})
	}
	if left > 0 {
		t.park(func(wake func()) { done = wake })
	}
}

package safe_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// life is what a program made: every tensor holds the elements 0 to 5, in two rows, for as long as it is open.
type life struct {
	t         *testing.T
	tensors   []*safe.Tensor
	views     []borrowed
	legacy    []*ffi.DLManagedTensor
	versioned []*ffi.DLManagedTensorVersioned
	produced  int
	forgotten int // tensors that the garbage collector has to close
	depth     int // of nested loans
	steps     int // bounds the work, as each loan goes through part of the program again
}

// borrowed is a view and the tensor it was taken of. That is open exactly as long as the view may be used; it is nil when
// the tensor was forgotten, which the view alone keeps then.
type borrowed struct {
	view  safe.View[float32]
	owner *safe.Tensor
}

func (b borrowed) open() bool { return b.owner == nil || open(b.owner) }

func (l *life) add(tensor *safe.Tensor, err error) {
	if err != nil {
		l.t.Fatal(err)
	}
	l.tensors = append(l.tensors, tensor)
}

// open reports whether a tensor is neither closed nor moved.
func open(tensor *safe.Tensor) bool { return tensor.NDim() == 2 }

// check fails unless err is nil exactly if what was tried on tensor had to work.
func (l *life) check(err error, works bool) bool {
	l.t.Helper()
	if (err == nil) != works {
		l.t.Fatalf("got error %v, though this works is %v", err, works)
	}
	if err != nil && !errors.Is(err, safe.ErrReleased) && !errors.Is(err, safe.ErrReadOnly) {
		l.t.Fatalf("got error %v", err)
	}
	return err == nil
}

// step performs the operation that code names, on the things that which picks.
func (l *life) step(code, which byte, rest []byte) {
	if len(l.tensors) == 0 || len(l.tensors) < 8 && code%16 < 4 {
		l.make(code)
		return
	}
	tensor := l.tensors[int(which)%len(l.tensors)]
	switch code % 16 {
	case 4:
		for range 1 + which%2 { // a second time does no harm
			err := tensor.Close()
			if l.depth == 0 && err != nil || err != nil && !errors.Is(err, safe.ErrLent) {
				l.t.Fatal(err)
			}
		}
	case 5:
		m, err := safe.Pack(tensor)
		if l.check(err, open(tensor) && !tensor.ReadOnly()) {
			l.legacy = append(l.legacy, m)
		}
	case 6:
		m, err := safe.PackVersioned(tensor)
		if l.check(err, open(tensor)) {
			l.versioned = append(l.versioned, m)
		}
	case 7:
		l.lend(tensor, rest)
	case 8:
		moved, err := tensor.Move()
		if !errors.Is(err, safe.ErrLent) && l.check(err, err == nil) {
			l.add(safe.Receive(moved))
		}
	case 9:
		v, err := safe.ViewOf[float32](tensor)
		if l.check(err, open(tensor)) {
			l.views = append(l.views, borrowed{v, tensor})
		}
	case 10:
		if len(l.views) > 0 {
			b := l.views[int(which)%len(l.views)]
			value, err := b.view.At(1, 2)
			if l.check(err, b.open()) && value != 5 {
				l.t.Fatalf("the last element is %v", value)
			}
		}
	case 11:
		if len(l.views) > 0 {
			l.divide(l.views[int(which)%len(l.views)], which)
		}
	case 12:
		if last := len(l.legacy) - 1; last >= 0 {
			requireEqual(l.t, ctest.Sum(&l.legacy[last].DLTensor), 15)
			if which == 0 { // seldom, because making a thread takes longer than all the rest
				ctest.DeleteElsewhere(l.legacy[last])
			} else {
				ctest.Delete(l.legacy[last])
			}
			l.legacy = l.legacy[:last]
		}
	case 13:
		if last := len(l.versioned) - 1; last >= 0 {
			ctest.DeleteVersioned(l.versioned[last])
			l.versioned = l.versioned[:last]
		}
	case 14:
		if last := len(l.versioned) - 1; last >= 0 {
			l.add(safe.AdoptVersioned(l.versioned[last]))
			l.versioned = l.versioned[:last]
		}
	case 15:
		if which%4 == 1 {
			l.forget(tensor)
		} else {
			safe.Collect()
		}
	}
}

// divide looks at a part of a view, which ends with the view.
func (l *life) divide(b borrowed, which byte) {
	var part safe.View[float32]
	var err error
	want := 15.0
	switch which / 16 % 4 {
	case 0:
		part, err = b.view.Sub(1)
		want = 3 + 4 + 5
	case 1:
		part, err = b.view.Slice(1, 2, -1, -2)
		want = 0 + 2 + 3 + 5
	case 2:
		part, err = b.view.Transpose()
	case 3:
		part, err = b.view.Reshape(3, 1, 2)
	}
	if l.check(err, b.open()) {
		requireEqual(l.t, sumInC(l.t, part), want)
	}
}

// forget loses a tensor without closing it. Views of it go on working.
func (l *life) forget(tensor *safe.Tensor) {
	if !open(tensor) {
		return
	}
	l.tensors = slices.DeleteFunc(l.tensors, func(other *safe.Tensor) bool { return other == tensor })
	for i := range l.views {
		if l.views[i].owner == tensor {
			l.views[i].owner = nil
		}
	}
	l.forgotten++
}

func (l *life) make(code byte) {
	switch code % 4 {
	case 0:
		l.add(safe.New[float32](2, 3))
		copy(must(safe.Data[float32](l.tensors[len(l.tensors)-1])), count(6))
	case 1:
		l.add(safe.FromSlice(count(6), 2, 3))
	case 2:
		l.add(safe.Adopt(ctest.Produce(2, 3)))
		l.produced++
	case 3:
		l.add(safe.AdoptVersioned(ctest.ProduceVersioned(0, 2, 3)))
		l.produced++
	}
}

// lend lends tensor to a call in which life goes on.
func (l *life) lend(tensor *safe.Tensor, rest []byte) {
	works := open(tensor)
	err := safe.Lend(tensor, func(m *ffi.DLManagedTensor) error {
		l.depth++
		defer func() { l.depth-- }()
		l.run(rest[:len(rest)/2&^1])
		requireEqual(l.t, ctest.Sum(&m.DLTensor), 15)
		return nil
	})
	l.check(err, works)
}

func (l *life) run(program []byte) {
	for ; len(program) >= 2 && l.depth < 4 && l.steps < 100; l.steps++ {
		l.step(program[0], program[1], program[2:])
		program = program[2:]
	}
}

// lives goes through programs, one after the other, and looks at what is left over from them.
type lives struct {
	t         *testing.T
	deleted   int // how many of the produced tensors are to have been deleted so far
	forgotten int
}

func newLives(t *testing.T) *lives {
	leftovers.Settle(t)
	return &lives{t: t, deleted: ctest.Deleted()}
}

// run goes through one program and gives back what it has left open.
func (l *lives) run(program []byte) {
	one := &life{t: l.t}
	one.run(program)
	for _, tensor := range one.tensors {
		requireEqual(l.t, tensor.Close(), nil)
	}
	for _, m := range one.legacy {
		ctest.Delete(m)
	}
	for _, m := range one.versioned {
		ctest.DeleteVersioned(m)
	}
	l.deleted += one.produced
	if l.forgotten += one.forgotten; l.forgotten == 0 && !l.settled() {
		l.report()
	}
}

// settled reports whether everything that was made is gone, and was deleted once.
func (l *lives) settled() bool {
	safe.Collect()
	owners, bytes := safe.Live()
	return owners == 0 && bytes == 0 && ctest.Deleted() == l.deleted
}

// settle waits for the garbage collector where something was forgotten.
func (l *lives) settle() {
	if l.forgotten > 0 {
		leftovers.CollectUntil(l.t, l.settled)
	}
	if l.forgotten = 0; !l.settled() {
		l.report()
	}
}

func (l *lives) report() {
	owners, bytes := safe.Live()
	l.t.Fatalf("%d owners and %d bytes are left over, and %d deleters too many have run", owners, bytes, ctest.Deleted()-l.deleted)
}

func FuzzLifeCycles(f *testing.F) {
	f.Add([]byte{0, 0, 4, 0, 4, 0})
	f.Add([]byte{2, 0, 9, 0, 5, 0, 6, 0, 4, 0, 10, 0, 13, 0, 14, 0})
	f.Add([]byte{1, 0, 5, 0, 4, 0, 12, 0, 15, 0})
	f.Add([]byte{3, 0, 7, 0, 4, 0, 8, 0, 7, 0, 9, 0, 11, 0})
	f.Add([]byte{3, 0, 8, 0, 6, 0, 14, 0, 8, 1, 4, 2})
	f.Add([]byte{2, 0, 9, 0, 5, 0, 15, 1, 0, 0, 10, 0, 11, 16, 11, 32, 11, 48})
	f.Fuzz(func(t *testing.T, program []byte) {
		l := newLives(t)
		l.run(program)
		l.settle()
	})
}

func TestLivesLeaveNothingBehindWhateverHappensInThem(t *testing.T) {
	n, random := descriptor.Drive(t, 5_000)
	l := newLives(t)
	program := make([]byte, 128)
	defer func() {
		if t.Failed() {
			t.Logf("this happened in %#v", program)
		}
	}()
	for range n {
		program = program[:2+random.IntN(cap(program)-1)]
		for i := range program {
			program[i] = byte(random.Uint32())
		}
		l.run(program)
		if l.forgotten >= 1000 {
			l.settle()
		}
	}
	l.settle()
}

package safe_test

import (
	"errors"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// life is what FuzzLifeCycles keeps: every tensor holds the elements 0 to 5, in two rows, for as long as it is open.
type life struct {
	t         *testing.T
	tensors   []*safe.Tensor
	views     []borrowed
	legacy    []*ffi.DLManagedTensor
	versioned []*ffi.DLManagedTensorVersioned
	produced  int
	depth     int // of nested loans
	steps     int // bounds the work, as each loan goes through part of the program again
}

// borrowed is a view and the tensor it was taken of. That is open exactly as long as the view may be used.
type borrowed struct {
	view  safe.View[float32]
	owner *safe.Tensor
}

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
		err := tensor.Close()
		if l.depth == 0 && err != nil || err != nil && !errors.Is(err, safe.ErrLent) {
			l.t.Fatal(err)
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
			if l.check(err, open(b.owner)) && value != 5 {
				l.t.Fatalf("the last element is %v", value)
			}
		}
	case 11:
		if len(l.views) > 0 {
			b := l.views[int(which)%len(l.views)]
			row, err := b.view.Sub(1)
			if l.check(err, open(b.owner)) {
				requireEqual(l.t, sumInC(l.t, row), 12)
			}
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
		safe.Collect()
	}
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

func FuzzLifeCycles(f *testing.F) {
	f.Add([]byte{0, 0, 4, 0, 4, 0})
	f.Add([]byte{2, 0, 9, 0, 5, 0, 6, 0, 4, 0, 10, 0, 13, 0, 14, 0})
	f.Add([]byte{1, 0, 5, 0, 4, 0, 12, 0, 15, 0})
	f.Add([]byte{3, 0, 7, 0, 4, 0, 8, 0, 7, 0, 9, 0, 11, 0})
	f.Add([]byte{3, 0, 8, 0, 6, 0, 14, 0, 8, 1, 4, 2})
	f.Fuzz(func(t *testing.T, program []byte) {
		owners, bytes := safe.Live()
		deleted := ctest.Deleted()
		l := &life{t: t}
		l.run(program)
		for _, tensor := range l.tensors {
			requireEqual(t, tensor.Close(), nil)
		}
		for _, m := range l.legacy {
			ctest.Delete(m)
		}
		for _, m := range l.versioned {
			ctest.DeleteVersioned(m)
		}
		safe.Collect()
		nowOwners, nowBytes := safe.Live()
		requireEqual(t, nowOwners, owners)
		requireEqual(t, nowBytes, bytes)
		requireEqual(t, ctest.Deleted(), deleted+l.produced)
	})
}

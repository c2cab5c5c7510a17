package safe_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// answer is a type of a user's, which returns anything.
type answer struct {
	view safe.AnyView
	err  error
}

func (a answer) AsDLTensor() (safe.AnyView, error)    { return a.view, a.err }
func (a answer) AsDLTensorMut() (safe.AnyView, error) { return a.view, a.err }

// uses returns everything that can be done with a source of either kind, and needs no more than that.
func uses[S safe.AsDLTensorMut](src S) map[string]func() error {
	legacy := func(*ffi.DLManagedTensor) error { return nil }
	versioned := func(*ffi.DLManagedTensorVersioned) error { return nil }
	several := func(in, out []*ffi.DLManagedTensor) error { return nil }
	return map[string]func() error{
		"ViewOf":           func() error { _, err := safe.ViewOf[float32](src); return err },
		"MutViewOf":        func() error { _, err := safe.MutViewOf[float32](src); return err },
		"Lend":             func() error { return safe.Lend(src, legacy) },
		"LendMut":          func() error { return safe.LendMut(src, legacy) },
		"LendVersioned":    func() error { return safe.LendVersioned(src, versioned) },
		"LendVersionedMut": func() error { return safe.LendVersionedMut(src, versioned) },
		"LendAll, in":      func() error { return safe.LendAll([]safe.AsDLTensor{src}, nil, several) },
		"LendAll, out":     func() error { return safe.LendAll(nil, []safe.AsDLTensorMut{src}, several) },
		"Pack":             func() error { _, err := safe.Pack(src); return err },
		"PackVersioned":    func() error { _, err := safe.PackVersioned(src); return err },
		"Own":              func() error { _, err := safe.Own(src, func() {}); return err },
	}
}

func requireRefused(t *testing.T, uses map[string]func() error, want error) {
	t.Helper()
	for name, use := range uses {
		if err := use(); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
}

func TestNothingIsAnErrorWhateverIsDoneWithIt(t *testing.T) {
	leftovers.WantNone(t)
	var none safe.AsDLTensorMut
	broken := errors.New("the user's own")
	for name, refused := range map[string]struct {
		uses map[string]func() error
		want error
	}{
		"no source":                      {uses(none), safe.ErrEmpty},
		"a nil tensor":                   {uses((*safe.Tensor)(nil)), safe.ErrEmpty},
		"a nil tensor in an interface":   {uses(safe.AsDLTensorMut((*safe.Tensor)(nil))), safe.ErrEmpty},
		"a tensor that nobody made":      {uses(new(safe.Tensor)), safe.ErrEmpty},
		"a view that nobody made":        {uses(safe.AnyView{}), safe.ErrEmpty},
		"a typed view that nobody made":  {uses(safe.MutView[float32]{}), safe.ErrEmpty},
		"a type that returns no view":    {uses(answer{}), safe.ErrEmpty},
		"a type that returns an error":   {uses(answer{err: broken}), broken},
		"an interface to the last":       {uses(safe.AsDLTensorMut(answer{err: broken})), broken},
		"a pointer to a type of its own": {uses(&answer{}), safe.ErrEmpty},
	} {
		t.Run(name, func(t *testing.T) { requireRefused(t, refused.uses, refused.want) })
	}
	_, err := new(safe.Tensor).Move()
	requireError(t, err, safe.ErrEmpty)
	requireEqual(t, new(safe.Tensor).Close(), nil)
}

func TestATensorThatIsGoneIsRefusedThroughTypesOfUsersToo(t *testing.T) {
	leftovers.WantNone(t)
	closed, moved := must(safe.New[float32](2)), must(safe.New[float32](2))
	views := []safe.AnyView{closed.AnyView(), moved.AnyView()}
	requireEqual(t, closed.Close(), nil)
	again := must(safe.Receive(must(moved.Move())))
	defer again.Close()
	for i, tensor := range []*safe.Tensor{closed, moved} {
		requireRefused(t, uses(tensor), safe.ErrReleased)
		requireRefused(t, uses(views[i]), safe.ErrReleased)
		requireRefused(t, uses(answer{view: views[i]}), safe.ErrReleased)
	}
}

func TestUnalignedSlicesAreRefused(t *testing.T) {
	leftovers.WantNone(t)
	memory := make([]uint64, 4)
	s := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(&memory[0]), 1)), 6)
	for name, construct := range map[string]func() error{
		"SliceView":      func() error { _, err := safe.SliceView(s); return err },
		"SliceMutView":   func() error { _, err := safe.SliceMutView(s, 2, 3); return err },
		"FromSlice":      func() error { _, err := safe.FromSlice(s); return err },
		"StridedView":    func() error { _, err := safe.StridedView(s, []int64{2}, nil); return err },
		"StridedMutView": func() error { _, err := safe.StridedMutView(s, []int64{2}, []int64{2}); return err },
	} {
		var alignment *ffi.AlignmentError
		if err := construct(); !errors.As(err, &alignment) || alignment.Beside != 4 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOwnTakesMemoryThatNeedsNoRelease(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.Own(must(safe.SliceView(count(6))), nil))
	requireEqual(t, tensor.Close(), nil)
	_, err := safe.Own(safe.AnyView{}, nil)
	requireError(t, err, safe.ErrEmpty)
}

func TestOwnKeepsTheMemoryOfTheTensorThatItIsGiven(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 1)
	slice := count(6)
	for name, source := range map[string]func() *safe.Tensor{
		"own memory": func() *safe.Tensor {
			tensor := must(safe.New[float32](6))
			copy(must(safe.Data[float32](tensor)), slice)
			return tensor
		},
		"a slice": func() *safe.Tensor { return must(safe.FromSlice(slice)) },
		"adopted": func() *safe.Tensor { return must(safe.AdoptMut(ctest.Produce(6))) },
		"owned":   func() *safe.Tensor { return must(safe.Own(must(safe.SliceMutView(slice)), nil)) },
	} {
		for _, forget := range []bool{false, true} {
			if name == "adopted" && forget {
				continue
			}
			released := 0
			owned := func() *safe.Tensor {
				tensor := source()
				row := must(must(safe.MutViewOf[float32](tensor)).Slice(0, 1, 6, 2))
				owned := must(safe.Own(row, func() { released++ }))
				if !forget {
					requireEqual(t, tensor.Close(), nil)
				}
				return owned
			}()
			for range 3 {
				runtime.GC()
			}
			if got, want := elements(t, must(safe.ViewOf[float32](owned))), []float32{1, 3, 5}; !slices.Equal(got, want) {
				t.Errorf("%s, forgotten %v: %v, want %v", name, forget, got, want)
			}
			requireEqual(t, released, 0)
			requireEqual(t, owned.Close(), nil)
			requireEqual(t, released, 1)
			leftovers.Settle(t)
		}
	}
}

func TestOwnRefusesWhatIsLentForATimeAndReleasesAtOnce(t *testing.T) {
	leftovers.WantNone(t)
	m := ctest.Produce(3)
	defer ctest.Delete(m)
	released := 0
	own := func(v safe.AnyView) error {
		_, err := safe.Own(v, func() { released++ })
		return err
	}
	m.DLTensor.Strides = &m.DLTensor.Extents()[0] // of one axis, any will do
	inC := ctest.Borrow(&m.DLTensor)
	defer ctest.FreeAllocated(inC)
	argument := *(*safe.AnyView)(inC)
	requireEqual(t, argument.Flags(), 0)
	requireError(t, own(argument), safe.ErrUnowned)
	requireError(t, own(must(argument.Slice(0, 0, 2, 1))), safe.ErrUnowned)
	requireError(t, safe.Borrow(&m.DLTensor, 0, own), safe.ErrUnowned)
	requireEqual(t, released, 3)
}

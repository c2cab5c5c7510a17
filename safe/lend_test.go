package safe_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// sumInC returns the sum of what C sees of src.
func sumInC[S safe.AsDLTensor](t *testing.T, src S) (sum float64) {
	t.Helper()
	if err := safe.Lend(src, func(m *ffi.DLManagedTensor) error {
		sum = ctest.Sum(&m.DLTensor)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestLendShowsCTheSameElements(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.FromSlice(count(24), 2, 3, 4))
	defer tensor.Close()
	v := must(safe.ViewOf[float32](tensor))
	slice := must(safe.SliceView(count(24), 2, 3, 4))
	deep := must(safe.SliceView(count(24), 1, 2, 1, 3, 1, 4, 1, 1, 1, 1))
	for range 2 { // the second time around finds what the first has left
		requireEqual(t, sumInC(t, tensor), 276)
		requireEqual(t, sumInC(t, v), 276)
		requireEqual(t, sumInC(t, must(v.Sub(1))), 210)
		requireEqual(t, sumInC(t, must(must(v.Transpose()).Slice(0, 3, -1, -2))), 144)
		requireEqual(t, sumInC(t, slice), 276)
		requireEqual(t, sumInC(t, must(slice.Slice(2, 0, 1, 1))), 60)
		requireEqual(t, sumInC(t, deep), 276)
	}
}

func TestLendMutLetsCWrite(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2, 3))
	defer tensor.Close()
	column := must(must(safe.MutViewOf[float32](tensor)).Slice(1, 1, 2, 1))
	if err := safe.LendMut(column, func(m *ffi.DLManagedTensor) error {
		ctest.Fill(&m.DLTensor, 7)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := must(safe.Data[float32](tensor)); !slices.Equal(got, []float32{0, 7, 0, 0, 7, 0}) {
		t.Errorf("elements are %v", got)
	}
}

func TestVersionedLoansSayWhatMayBeWritten(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2))
	defer tensor.Close()
	var flags []ffi.Flags
	note := func(m *ffi.DLManagedTensorVersioned) error {
		requireEqual(t, m.Version, ffi.Version())
		flags = append(flags, m.Flags)
		return nil
	}
	requireEqual(t, safe.LendVersioned(tensor, note), nil)
	requireEqual(t, safe.LendVersionedMut(tensor, note), nil)
	requireEqual(t, safe.LendVersioned(must(safe.SliceMutView(count(2))), note), nil)
	requireEqual(t, safe.LendVersionedMut(must(safe.SliceMutView(count(2))), note), nil)
	if want := []ffi.Flags{ffi.FlagReadOnly, 0, ffi.FlagReadOnly, 0}; !slices.Equal(flags, want) {
		t.Errorf("flags are %v, want %v", flags, want)
	}
	requireError(t, safe.LendVersionedMut(must(safe.SliceView(count(2))).AnyView(), note), safe.ErrReadOnly)
}

func TestLendPassesTheCalleesErrorOn(t *testing.T) {
	mine := errors.New("mine")
	requireError(t, safe.Lend(must(safe.SliceView(count(2))), func(*ffi.DLManagedTensor) error { return mine }), mine)
}

func TestAPanicInTheCallEndsTheLoan(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2))
	func() {
		defer func() { requireEqual(t, recover(), "mine") }()
		_ = safe.Lend(tensor, func(*ffi.DLManagedTensor) error { panic("mine") })
	}()
	requireEqual(t, tensor.Close(), nil)
}

func TestALentTensorIsNotClosed(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2, 3))
	v := must(safe.ViewOf[float32](tensor))
	closeIt := func(*ffi.DLManagedTensor) error { return tensor.Close() }
	requireError(t, safe.Lend(tensor, closeIt), safe.ErrLent)
	requireError(t, safe.Lend(v, closeIt), safe.ErrLent)
	requireError(t, safe.Lend(tensor, func(outer *ffi.DLManagedTensor) error {
		return safe.Lend(must(v.Sub(1)), func(inner *ffi.DLManagedTensor) error {
			if outer == inner {
				t.Error("two loans in one place")
			}
			_, err := tensor.Move()
			return err
		})
	}), safe.ErrLent)
	requireEqual(t, tensor.Size(), 6)
	requireEqual(t, tensor.Close(), nil)
}

func TestManyGoroutinesLendOneTensor(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.FromSlice(count(24), 2, 3, 4))
	v := must(safe.ViewOf[float32](tensor))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				requireEqual(t, sumInC(t, tensor), 276)
				requireEqual(t, sumInC(t, must(v.Sub(0))), 66)
			}
		})
	}
	wait.Wait()
	requireEqual(t, tensor.Close(), nil)
}

func TestClosingWhileOthersLendWaitsForNobody(t *testing.T) {
	leftovers.WantNone(t)
	for range 200 {
		tensor := must(safe.FromSlice(count(24), 2, 3, 4))
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				for {
					sum := 0.0
					err := safe.Lend(tensor, func(m *ffi.DLManagedTensor) error {
						sum = ctest.Sum(&m.DLTensor)
						return nil
					})
					if err != nil {
						requireErrorIn(t, err, safe.ErrReleased)
						return
					}
					if sum != 276 {
						t.Errorf("sum is %v", sum)
						return
					}
					runtime.Gosched() // or it would be lent nearly all the time
				}
			})
		}
		for tensor.Close() != nil {
			runtime.Gosched()
		}
		wait.Wait()
	}
}

// requireErrorIn is requireError for goroutines of a test.
func requireErrorIn(t *testing.T, err, want error) {
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func TestViewsOfAScopeEndWithIt(t *testing.T) {
	leftovers.WantNone(t)
	m := ctest.Produce(2, 3)
	defer ctest.Delete(m)
	var kept safe.View[float32]
	if err := safe.Borrow(&m.DLTensor, ffi.FlagReadOnly, func(v safe.AnyView) error {
		kept = must(safe.ViewOf[float32](v))
		if got := elements(t, kept); !slices.Equal(got, count(6)) {
			t.Errorf("elements are %v", got)
		}
		requireEqual(t, sumInC(t, kept), 15)
		_, err := safe.Pack(kept)
		requireError(t, err, safe.ErrUnowned)
		_, err = safe.MutViewOf[float32](v)
		return err
	}); !errors.Is(err, safe.ErrReadOnly) {
		t.Fatal(err)
	}
	_, err := kept.At(0, 0)
	requireError(t, err, safe.ErrReleased)
	requireEqual(t, kept.NDim(), 0)

	scope := must(safe.NewScope())
	strides := []int64{3, 1}
	m.DLTensor.Strides = nil
	descriptor := m.DLTensor
	descriptor.Strides = &strides[0]
	first := scope.Borrow(&descriptor, 0)
	requireEqual(t, first.Dim(1), 3)
	scope.End()
	second := scope.Borrow(&descriptor, 0)
	requireEqual(t, first.Dim(1), 0)
	requireEqual(t, second.Dim(1), 3)
	scope.End()
	requireError(t, safe.Lend(second, nil), safe.ErrReleased)
}

func TestBorrowRefusesWhatTheValidatorRefuses(t *testing.T) {
	requireError(t, safe.Borrow(&ffi.DLTensor{Device: ffi.DLDevice{DeviceType: 6}}, 0, nil), ffi.ErrDeviceType)
	requireError(t, safe.Borrow(nil, 0, nil), ffi.ErrDescriptor)
}

func TestAViewWithoutAnOwnerIsNotPacked(t *testing.T) {
	_, err := safe.Pack(must(safe.SliceView(count(2))))
	requireError(t, err, safe.ErrUnowned)
	_, err = safe.PackVersioned(must(safe.SliceView(count(2))))
	requireError(t, err, safe.ErrUnowned)
}

func TestPackedViewsShareTheTensor(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.FromSlice(count(6), 2, 3))
	turned := must(must(safe.ViewOf[float32](tensor)).Transpose())
	m := must(safe.Pack(turned))
	requireEqual(t, uintptr(m.DLTensor.Data), tensor.DataPtr())
	if !slices.Equal(m.DLTensor.Extents(), []int64{3, 2}) || !slices.Equal(m.DLTensor.Steps(), []int64{1, 3}) {
		t.Errorf("packed %v %v", m.DLTensor.Extents(), m.DLTensor.Steps())
	}
	requireEqual(t, tensor.Close(), nil)
	requireEqual(t, ctest.Sum(&m.DLTensor), 15)
	ctest.Delete(m)
}

func TestLendAndPackTakeNoHeap(t *testing.T) {
	if ctest.RaceDetector {
		t.Skip("with the race detector, pools forget what they hold at random")
	}
	if ctest.AddressSanitizer {
		t.Skip("with AddressSanitizer, what is looked at through a pointer moves to the heap")
	}
	tensor := must(safe.New[float32](2, 3, 4, 5))
	defer tensor.Close()
	v := must(safe.ViewOf[float32](tensor))
	mut := must(safe.MutViewOf[float32](tensor))
	slice := must(safe.SliceMutView(make([]float32, 120), 2, 3, 4, 5))
	legacy := func(m *ffi.DLManagedTensor) error { ctest.Ignore(unsafe.Pointer(m)); return nil }
	versioned := func(m *ffi.DLManagedTensorVersioned) error { ctest.Ignore(unsafe.Pointer(m)); return nil }
	for name, work := range map[string]func(){
		"Lend a tensor":        func() { _ = safe.Lend(tensor, legacy) },
		"Lend a view":          func() { _ = safe.Lend(v, legacy) },
		"Lend a part":          func() { part, _ := v.Sub(1); _ = safe.Lend(part, legacy) },
		"Lend a slice":         func() { _ = safe.Lend(slice, legacy) },
		"LendMut a tensor":     func() { _ = safe.LendMut(tensor, legacy) },
		"LendMut a view":       func() { _ = safe.LendMut(mut, legacy) },
		"LendMut a slice":      func() { _ = safe.LendMut(slice, legacy) },
		"LendVersioned":        func() { _ = safe.LendVersioned(tensor, versioned) },
		"LendVersionedMut":     func() { _ = safe.LendVersionedMut(slice, versioned) },
		"Lend twice at a time": func() { _ = safe.Lend(v, func(*ffi.DLManagedTensor) error { return safe.Lend(v, legacy) }) },
		"Pack a tensor":        func() { m, _ := safe.Pack(tensor); ctest.Delete(m) },
		"PackVersioned a view": func() { m, _ := safe.PackVersioned(v); ctest.DeleteVersioned(m) },
	} {
		if allocations := testing.AllocsPerRun(200, work); allocations != 0 {
			t.Errorf("%s takes %v allocations", name, allocations)
		}
	}
}

func TestInputsOfALoanCanBeAppendedToWithoutHarmToOutputs(t *testing.T) {
	tensor := must(safe.New[float32](2))
	defer tensor.Close()
	err := safe.LendAll([]safe.AsDLTensor{tensor}, []safe.AsDLTensorMut{tensor}, func(in, out []*ffi.DLManagedTensor) error {
		output := out[0]
		_ = append(in, nil)
		requireEqual(t, out[0], output)
		return nil
	})
	requireEqual(t, err, nil)
}

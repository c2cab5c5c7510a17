package safe_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func TestAViewThatIsKeptBeyondItsCallIsAnErrorWhileWatched(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2, 3))
	copy(must(safe.Data[float32](tensor)), count(6))
	m := must(safe.Pack(tensor))
	inC := ctest.Borrow(&m.DLTensor)
	before := *(*[3]uintptr)(inC)

	watch := must(safe.NewWatch())
	watch.Over(inC)
	v := *(*safe.MutView[float32])(inC)
	row := must(v.Sub(1))
	requireEqual(t, must(v.At(1, 2)), 5)
	requireEqual(t, v.Set(9, 0, 0), nil)
	requireEqual(t, sumInC(t, v.View()), 24)
	if !slices.Equal(v.Shape(), []int64{2, 3}) || !slices.Equal(row.Strides(), []int64{1}) {
		t.Errorf("the view is %v, strides of a row %v", v, row.Strides())
	}
	watch.End()

	requireEqual(t, *(*[3]uintptr)(inC), before)
	// What C had it in is gone by the time a keeper looks.
	frame := unsafe.Slice((*byte)(inC), 100)
	for i := range frame {
		frame[i] = 0xee
	}
	ctest.FreeAllocated(inC)
	ctest.Delete(m)
	requireEqual(t, tensor.Close(), nil)
	_, err := v.At(0, 0)
	requireError(t, err, safe.ErrReleased)
	requireError(t, v.Set(1, 0, 0), safe.ErrReleased)
	requireRefused(t, uses(row), safe.ErrReleased)
	requireEqual(t, v.Size()+row.NDim(), 0)
}

func TestSeveralViewsEndTogether(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](6))
	defer tensor.Close()
	var views []safe.AnyView
	watch := must(safe.NewWatch())
	m := must(safe.Pack(tensor))
	defer ctest.Delete(m)
	for range 3 {
		inC := ctest.Borrow(&m.DLTensor)
		defer ctest.FreeAllocated(inC)
		watch.Over(inC)
		views = append(views, *(*safe.AnyView)(inC))
	}
	for _, v := range views {
		requireEqual(t, v.Size(), 6)
	}
	watch.End()
	for _, v := range views {
		requireEqual(t, v.Size(), 0)
	}
}

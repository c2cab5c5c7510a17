package safe_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func TestNewTensorsAreZeroAlignedAndCounted(t *testing.T) {
	leftovers.WantNone(t)
	for _, shape := range [][]int{nil, {1}, {3}, {2, 3}, {2, 3, 4, 5}, {1, 2, 1, 2, 1, 2}} {
		tensor := must(safe.New[float64](shape...))
		data := must(safe.Data[float64](tensor))
		requireEqual(t, len(data), tensor.Size())
		requireEqual(t, tensor.DataPtr()%64, 0)
		requireEqual(t, tensor.IsContiguous(), true)
		requireEqual(t, tensor.ReadOnly(), false)
		for i := range data {
			requireEqual(t, data[i], 0)
			data[i] = 1
		}
		_, bytes := safe.Live()
		requireEqual(t, int(bytes), 8*len(data))
		if err := tensor.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEmptyTensorsHaveNoDataAndNoPanics(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[int32](3, 0, 2))
	defer tensor.Close()
	requireEqual(t, tensor.DataPtr(), 0)
	requireEqual(t, len(must(safe.Data[int32](tensor))), 0)
	v := must(safe.ViewOf[int32](tensor))
	requireEqual(t, len(elements(t, v)), 0)
	requireEqual(t, must(v.Sub(2)).Size(), 0)
	m := must(safe.Pack(tensor))
	requireEqual(t, m.DLTensor.Data, nil)
	requireEqual(t, *m.DLTensor.Shape, 3)
	ctest.Delete(m)
	slice := must(safe.FromSlice([]int32{}, 0, 4))
	defer slice.Close()
	requireEqual(t, slice.String(), "int32 (0, 4) on cpu:0")
}

func TestImpossibleTensorsAreErrors(t *testing.T) {
	leftovers.WantNone(t)
	for _, row := range []struct {
		dtype ffi.DLDataType
		shape []int
		want  error
	}{
		{ffi.DTFloat32, []int{2, -1}, ffi.ErrExtent},
		{ffi.DTFloat32, []int{math.MaxInt, 2}, ffi.ErrSize},
		{ffi.DTFloat32, []int{math.MaxInt / 4}, safe.ErrMemory},
		{ffi.DTFloat32, slices.Repeat([]int{1}, 65), ffi.ErrNDim},
		{ffi.DLDataType{Code: 99, Bits: 8, Lanes: 1}, nil, ffi.ErrDTypeCode},
		{ffi.DLDataType{Code: ffi.Float, Bits: 12, Lanes: 1}, nil, ffi.ErrDTypeBits},
		{ffi.DLDataType{Code: ffi.Float, Bits: 32}, nil, ffi.ErrDTypeLanes},
	} {
		_, err := safe.NewDType(row.dtype, row.shape...)
		requireError(t, err, row.want)
	}
}

func TestATensorIsClosedOnceAndThenGone(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2, 3))
	v := must(safe.MutViewOf[float32](tensor))
	sub := must(v.Sub(1))
	for range 3 {
		if err := tensor.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// Another tensor takes the place of the first: the views must not take it for theirs.
	other := must(safe.New[float32](2, 3))
	defer other.Close()
	for name, use := range map[string]func() error{
		"Data":     func() error { _, err := safe.Data[float32](tensor); return err },
		"ViewOf":   func() error { _, err := safe.ViewOf[float32](tensor); return err },
		"MutView":  func() error { _, err := safe.MutViewOf[float64](tensor); return err },
		"Pack":     func() error { _, err := safe.Pack(tensor); return err },
		"Lend":     func() error { return safe.Lend(tensor, nil) },
		"LendMut":  func() error { return safe.LendMut(tensor, nil) },
		"Move":     func() error { _, err := tensor.Move(); return err },
		"At":       func() error { _, err := v.At(0, 0); return err },
		"Set":      func() error { return v.Set(1, 0, 0) },
		"CopyFrom": func() error { return v.CopyFrom(make([]float32, 6)) },
		"Sub":      func() error { _, err := v.Sub(0); return err },
		"Slice":    func() error { _, err := v.Slice(0, 0, 1, 1); return err },
		"Reshape":  func() error { _, err := v.Reshape(6); return err },
		"Rows":     func() error { _, err := v.Rows(); return err },
		"part":     func() error { _, err := sub.Data(); return err },
		"lend":     func() error { return safe.LendVersioned(sub, nil) },
		"pack":     func() error { _, err := safe.PackVersioned(v); return err },
	} {
		if err := use(); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: got %v", name, err)
		} else {
			requireError(t, err, safe.ErrReleased)
		}
	}
	requireEqual(t, v.NDim(), 0)
	requireEqual(t, v.Dim(0), 0)
	requireEqual(t, v.Size(), 0)
	requireEqual(t, v.IsContiguous(), false)
	requireEqual(t, len(v.Shape())+len(v.Strides()), 0)
}

func TestANilTensorIsAnError(t *testing.T) {
	var tensor *safe.Tensor
	_, err := safe.Pack(tensor)
	requireError(t, err, safe.ErrEmpty)
	_, err = tensor.Move()
	requireError(t, err, safe.ErrEmpty)
	_, err = safe.Data[float32](tensor)
	requireError(t, err, safe.ErrEmpty)
	requireError(t, safe.Lend(tensor, nil), safe.ErrEmpty)
	requireEqual(t, tensor.String(), "view of nothing")
	if err := tensor.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFromSliceSharesAndPins(t *testing.T) {
	leftovers.WantNone(t)
	slice := count(6)
	tensor := must(safe.FromSlice(slice, 2, 3))
	requireEqual(t, tensor.DataPtr(), uintptr(unsafe.Pointer(&slice[0])))
	must(safe.Data[float32](tensor))[5] = 50
	requireEqual(t, slice[5], 50)
	m := must(safe.Pack(tensor))
	requireEqual(t, m.DLTensor.Data, unsafe.Pointer(&slice[0]))
	slice = nil
	if err := tensor.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	requireEqual(t, ctest.Sum(&m.DLTensor), 0+1+2+3+4+50)
	ctest.DeleteElsewhere(m) // the pin waits for Collect: no C thread may enter Go for it
	owners, _ := safe.Live()
	safe.Collect()
	after, _ := safe.Live()
	requireEqual(t, after, owners-1)
}

func TestMovePassesTheOnlyReference(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2, 3))
	must(safe.Data[float32](tensor))[4] = 4
	address := tensor.DataPtr()
	v := must(safe.ViewOf[float32](tensor))
	moved := must(tensor.Move())
	requireEqual(t, uintptr(moved.Descriptor.Data), address)
	if !slices.Equal(moved.Descriptor.Extents(), []int64{2, 3}) || !slices.Equal(moved.Descriptor.Steps(), []int64{3, 1}) {
		t.Errorf("moved %+v", moved.Descriptor)
	}
	_, err := v.At(1, 1)
	requireError(t, err, safe.ErrReleased)
	_, err = tensor.Move()
	requireError(t, err, safe.ErrReleased)
	if err := tensor.Close(); err != nil {
		t.Fatal(err)
	}
	back := must(safe.Receive(moved))
	defer back.Close()
	requireEqual(t, must(must(safe.ViewOf[float32](back)).At(1, 1)), 4)
}

func TestTensorsOfAnyRankKeepTheirShape(t *testing.T) {
	leftovers.WantNone(t)
	for rank := range ffi.MaxNDim + 1 {
		shape := slices.Repeat([]int{1}, rank)
		if rank > 0 {
			shape[rank-1] = 2
		}
		tensor := must(safe.New[int8](shape...))
		m := must(safe.PackVersioned(tensor))
		requireEqual(t, int(m.DLTensor.NDim), rank)
		if !slices.Equal(m.DLTensor.Extents(), tensor.Shape()) || !slices.Equal(m.DLTensor.Steps(), tensor.Strides()) {
			t.Errorf("rank %d was packed as %v %v", rank, m.DLTensor.Extents(), m.DLTensor.Steps())
		}
		requireEqual(t, tensor.Close(), nil)
		back := must(safe.AdoptVersioned(m))
		requireEqual(t, back.NDim(), rank)
		requireEqual(t, back.Close(), nil)
	}
}

func TestAForgottenTensorIsReleased(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 1)
	before, _ := safe.Live()
	deleted := ctest.Deleted()
	func() {
		requireEqual(t, sumInC(t, must(safe.New[float32](1000))), 0)
		must(safe.FromSlice(make([]float32, 1000)))
		must(safe.Adopt(ctest.Produce(2, 3)))
	}()
	leftovers.CollectUntil(t, func() bool {
		now, _ := safe.Live()
		return now == before && ctest.Deleted() == deleted+1
	})
}

func TestAViewKeepsItsTensor(t *testing.T) {
	leftovers.WantNone(t)
	v := must(safe.ViewOf[float32](must(safe.Adopt(ctest.Produce(1000)))))
	deleted := ctest.Deleted()
	for range 3 {
		runtime.GC()
		requireEqual(t, must(v.At(999)), 999)
	}
	requireEqual(t, ctest.Deleted(), deleted)
	runtime.KeepAlive(v)
	leftovers.CollectUntil(t, func() bool { return ctest.Deleted() == deleted+1 })
}

func TestRowsAreCopiedAndMustBeEquallyLong(t *testing.T) {
	leftovers.WantNone(t)
	rows := [][]int16{{1, 2, 3}, {4, 5, 6}}
	tensor := must(safe.CopyRows(rows))
	defer tensor.Close()
	rows[1][2] = 60
	if got := elements(t, must(safe.ViewOf[int16](tensor))); !slices.Equal(got, []int16{1, 2, 3, 4, 5, 6}) {
		t.Errorf("elements are %v", got)
	}
	_, err := safe.CopyRows([][]int16{{1, 2}, {3}})
	requireError(t, err, safe.ErrLength)
	empty := must(safe.CopyRows[int16](nil))
	defer empty.Close()
	requireEqual(t, empty.String(), "int16 (0, 0) on cpu:0")
}

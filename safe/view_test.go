package safe_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// count returns 0, 1, 2, ... n-1.
func count(n int) []float32 {
	elements := make([]float32, n)
	for i := range elements {
		elements[i] = float32(i)
	}
	return elements
}

// elements returns all elements of a view, and fails unless every way to read them says the same.
func elements[T safe.Element](t *testing.T, v safe.View[T]) []T {
	t.Helper()
	contiguous := must(v.Contiguous())
	copied := make([]T, v.Size())
	if err := v.CopyTo(copied); err != nil {
		t.Fatal(err)
	}
	iterated := slices.Collect(must(v.Elements()))
	var single []T
	index := make([]int, v.NDim())
	for range v.Size() {
		single = append(single, must(v.At(index...)))
		for axis := len(index) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < v.Dim(axis) {
				break
			}
			index[axis] = 0
		}
	}
	if !slices.Equal(contiguous, copied) || !slices.Equal(contiguous, iterated) || !slices.Equal(contiguous, single) {
		t.Fatalf("Contiguous has %v, CopyTo %v, Elements %v, At %v", contiguous, copied, iterated, single)
	}
	if data, err := v.Data(); err == nil && !slices.Equal(data, contiguous) {
		t.Fatalf("Data has %v, Contiguous %v", data, contiguous)
	}
	return contiguous
}

func TestViewsOfASliceShowItsElements(t *testing.T) {
	whole := must(safe.SliceView(count(24), 2, 3, 4))
	for _, row := range []struct {
		name    string
		view    func() (safe.View[float32], error)
		shape   []int64
		strides []int64
		want    []float32
	}{
		{"whole", func() (safe.View[float32], error) { return whole, nil }, []int64{2, 3, 4}, []int64{12, 4, 1}, count(24)},
		{"sub", func() (safe.View[float32], error) { return whole.Sub(1) }, []int64{3, 4}, []int64{4, 1}, count(24)[12:]},
		{"rows of an axis", func() (safe.View[float32], error) { return whole.Slice(1, 1, 3, 1) },
			[]int64{2, 2, 4}, []int64{12, 4, 1}, slices.Concat(count(24)[4:12], count(24)[16:24])},
		{"every second column", func() (safe.View[float32], error) { return must(whole.Sub(0)).Slice(1, 0, 4, 2) },
			[]int64{3, 2}, []int64{4, 2}, []float32{0, 2, 4, 6, 8, 10}},
		{"backwards", func() (safe.View[float32], error) { return must(must(whole.Sub(0)).Sub(0)).Slice(0, 3, -1, -1) },
			[]int64{4}, []int64{-1}, []float32{3, 2, 1, 0}},
		{"backwards in threes", func() (safe.View[float32], error) { return must(must(whole.Sub(0)).Sub(0)).Slice(0, 3, -1, -3) },
			[]int64{2}, []int64{-3}, []float32{3, 0}},
		{"nothing", func() (safe.View[float32], error) { return whole.Slice(2, 4, 4, 1) },
			[]int64{2, 3, 0}, []int64{12, 4, 1}, []float32{}},
		{"one, in giant steps", func() (safe.View[float32], error) { return must(must(whole.Sub(0)).Sub(0)).Slice(0, 1, 4, math.MaxInt) },
			[]int64{1}, []int64{1}, []float32{1}},
		{"one, in giant steps back", func() (safe.View[float32], error) {
			return must(must(whole.Sub(0)).Sub(0)).Slice(0, 1, -1, math.MinInt)
		},
			[]int64{1}, []int64{1}, []float32{1}},
		{"transposed", func() (safe.View[float32], error) { return must(whole.Sub(0)).Transpose() },
			[]int64{4, 3}, []int64{1, 4}, []float32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{"axes moved", func() (safe.View[float32], error) { return whole.Transpose(2, 0, 1) },
			[]int64{4, 2, 3}, []int64{1, 12, 4}, []float32{0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23}},
		{"reshaped", func() (safe.View[float32], error) { return whole.Reshape(6, 4) }, []int64{6, 4}, []int64{4, 1}, count(24)},
		{"scalar", func() (safe.View[float32], error) { return must(must(whole.Sub(1)).Sub(2)).Sub(3) },
			[]int64{}, []int64{}, []float32{23}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := must(row.view())
			if !slices.Equal(v.Shape(), row.shape) || !slices.Equal(v.Strides(), row.strides) {
				t.Fatalf("shape %v strides %v, want %v %v", v.Shape(), v.Strides(), row.shape, row.strides)
			}
			if got := elements(t, v); !slices.Equal(got, row.want) {
				t.Fatalf("elements are %v, want %v", got, row.want)
			}
			requireEqual(t, v.Size(), len(row.want))
			requireEqual(t, v.NBytes(), 4*len(row.want))
			requireEqual(t, v.NDim(), len(row.shape))
		})
	}
}

func TestReshapeNeverCopies(t *testing.T) {
	base := must(safe.SliceView(count(24), 2, 3, 4))
	for _, row := range []struct {
		name    string
		view    safe.View[float32]
		shape   []int
		strides []int64 // nil: refused
	}{
		{"split a strided axis", must(base.Slice(2, 0, 4, 2)), []int{2, 3, 2, 1}, []int64{12, 4, 2, 1}},
		{"join what lies together", must(base.Slice(2, 0, 4, 2)), []int{6, 2}, []int64{4, 2}},
		{"join axes with a gap", must(base.Slice(1, 0, 2, 1)), []int{4, 4}, nil},
		{"across a transposition", must(base.Transpose()), []int{24}, nil},
		{"split one of transposed axes", must(base.Transpose(2, 1, 0)), []int{2, 2, 3, 2}, []int64{2, 1, 4, 12}},
		{"axes of extent 1", must(base.Slice(1, 0, 1, 1)), []int{2, 1, 4, 1}, []int64{12, 4, 1, 1}},
		{"empty", must(base.Slice(1, 1, 1, 1)), []int{7, 0}, []int64{1, 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v, err := row.view.Reshape(row.shape...)
			if row.strides == nil {
				requireError(t, err, safe.ErrLayout)
				return
			}
			if err != nil || !slices.Equal(v.Strides(), row.strides) {
				t.Fatalf("strides are %v, want %v (error %v)", v.Strides(), row.strides, err)
			}
			if got, want := elements(t, v), elements(t, row.view); !slices.Equal(got, want) {
				t.Fatalf("elements are %v, want %v", got, want)
			}
		})
	}
}

func TestMutViewsWriteThrough(t *testing.T) {
	flat := make([]float32, 6)
	v := must(safe.SliceMutView(flat, 2, 3))
	turned := must(v.Transpose())
	if err := turned.CopyFrom([]float32{1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	if want := []float32{1, 3, 5, 2, 4, 6}; !slices.Equal(flat, want) {
		t.Fatalf("memory is %v, want %v", flat, want)
	}
	if err := must(v.Sub(1)).Set(-1, 2); err != nil {
		t.Fatal(err)
	}
	rows := must(must(v.Slice(1, 0, 3, 2)).Rows())
	for i, row := range rows {
		if err := row.CopyFrom([]float32{float32(10 * i), float32(10*i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	must(must(v.Reshape(6)).Data())[1] = 99
	if want := []float32{0, 99, 1, 10, 4, 11}; !slices.Equal(flat, want) {
		t.Fatalf("memory is %v, want %v", flat, want)
	}
	requireEqual(t, v.Writable(), true)
	requireEqual(t, v.View().Writable(), false)
	requireEqual(t, v.View().ElementType(), ffi.DTFloat32)
	requireEqual(t, v.AnyView().ReadOnly(), false)
}

func TestRowsOfViews(t *testing.T) {
	v := must(safe.SliceView(count(6), 3, 2))
	for i, row := range must(v.Rows()) {
		if data := must(row.Data()); !slices.Equal(data, []float32{float32(2 * i), float32(2*i + 1)}) {
			t.Errorf("row %d is %v", i, data)
		}
	}
	seen := 0
	for range must(must(v.Slice(1, 0, 0, 1)).Rows()) {
		seen++
	}
	requireEqual(t, seen, 3)
	for i := range must(v.Rows()) {
		if i == 1 {
			break
		}
	}
	_, err := must(must(v.Sub(0)).Sub(0)).Rows()
	requireError(t, err, safe.ErrRank)
}

func TestBadIndicesAreErrorsWithTheFacts(t *testing.T) {
	v := must(safe.SliceView(count(6), 2, 3))
	for _, row := range []struct {
		name string
		err  func() error
		want error
		text string
	}{
		{"too large", func() error { _, err := v.At(1, 3); return err }, safe.ErrIndex, "index[1] is 3"},
		{"negative", func() error { _, err := v.At(-1, 0); return err }, safe.ErrIndex, "index[0] is -1"},
		{"too few", func() error { _, err := v.At(1); return err }, safe.ErrRank, "rank is 2; 1"},
		{"too many", func() error { _, err := v.At(1, 2, 0); return err }, safe.ErrRank, "rank is 2; 3"},
		{"sub", func() error { _, err := v.Sub(2); return err }, safe.ErrIndex, "index[0] is 2"},
		{"sub of a scalar", func() error { _, err := must(must(v.Sub(0)).Sub(0)).Sub(0); return err }, safe.ErrRank, "at least 1"},
		{"slice past the end", func() error { _, err := v.Slice(1, 0, 4, 1); return err }, safe.ErrIndex, "0:4:1 with extent 3"},
		{"slice from behind", func() error { _, err := v.Slice(1, 2, 1, 1); return err }, safe.ErrIndex, "2:1:1"},
		{"slice with step 0", func() error { _, err := v.Slice(1, 0, 3, 0); return err }, safe.ErrIndex, "0:3:0"},
		{"slice down from the end", func() error { _, err := v.Slice(1, 3, 0, -1); return err }, safe.ErrIndex, "3:0:-1"},
		{"slice of no axis", func() error { _, err := v.Slice(2, 0, 1, 1); return err }, safe.ErrIndex, "axis is 2"},
		{"axis twice", func() error { _, err := v.Transpose(0, 0); return err }, safe.ErrIndex, "axis 0 is named twice"},
		{"negative axis", func() error { _, err := v.Transpose(0, -1); return err }, safe.ErrIndex, "axis is -1"},
		{"axes missing", func() error { _, err := v.Transpose(0); return err }, safe.ErrRank, "rank is 2"},
		{"reshape to more", func() error { _, err := v.Reshape(7); return err }, safe.ErrLength, "7 elements; 6"},
		{"reshape to negative", func() error { _, err := v.Reshape(-2, -3); return err }, ffi.ErrExtent, "shape[0] is -2"},
		{"copy to a short slice", func() error { return v.CopyTo(make([]float32, 5)) }, safe.ErrLength, "5 elements; 6"},
		{"slice longer than its shape", func() error { _, err := safe.SliceView(count(6), 5); return err }, safe.ErrLength, "6 elements; 5"},
		{"shape beyond an int64", func() error { _, err := safe.SliceView(count(6), math.MaxInt, 3); return err }, ffi.ErrSize, "shape[0]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := row.err()
			requireError(t, err, row.want)
			if !strings.Contains(err.Error(), row.text) {
				t.Fatalf("message is %q, which lacks %q", err, row.text)
			}
		})
	}
	var index *safe.IndexError
	if _, err := v.At(1, 3); !errors.As(err, &index) || *index != (safe.IndexError{Axis: 1, Got: 3, Extent: 3}) {
		t.Errorf("facts are %+v", index)
	}
}

func TestAnotherDTypeIsRefusedAndNamed(t *testing.T) {
	v := must(safe.SliceView(count(6)))
	_, err := safe.ViewOf[float64](v)
	var dtype *safe.DTypeError
	if !errors.As(err, &dtype) || dtype.Got != ffi.DTFloat32 || dtype.Want != ffi.DTFloat64 {
		t.Fatalf("got %v", err)
	}
	requireError(t, err, safe.ErrDType)
	_, err = safe.ViewOf[safe.Float16](must(safe.SliceView(make([]uint16, 1))))
	requireError(t, err, safe.ErrDType)
}

func TestReadOnlyMemoryGivesNoMutView(t *testing.T) {
	_, err := safe.MutViewOf[float32](must(safe.SliceView(count(6))).AnyView())
	requireError(t, err, safe.ErrReadOnly)
}

func TestOverlappingStridesGiveNoMutView(t *testing.T) {
	memory := count(16)
	cpu := ffi.DLDevice{DeviceType: ffi.CPU}
	for _, row := range []struct {
		shape, strides []int64
		axis           int // -2: no overlap
	}{
		{[]int64{4, 4}, []int64{4, 1}, -2},
		{[]int64{4, 4}, []int64{1, 4}, -2},
		{[]int64{4, 2}, []int64{4, 2}, -2},
		{[]int64{4, 1}, []int64{1, 0}, -2},
		{[]int64{0, 4}, []int64{0, 0}, -2},
		{[]int64{4, 4}, []int64{0, 1}, 0},
		{[]int64{4, 4}, []int64{4, 0}, 1},
		{[]int64{5, 4}, []int64{2, 1}, 0},
		{[]int64{2, 2, 2}, []int64{1, 1, 1}, -1},
	} {
		t.Run(fmt.Sprint(row.shape, row.strides), func(t *testing.T) {
			if _, err := safe.FromRawParts[float32](unsafe.Pointer(&memory[0]), cpu, row.shape, row.strides); err != nil {
				t.Fatal("reading is allowed, but:", err)
			}
			_, err := safe.FromRawPartsMut[float32](unsafe.Pointer(&memory[0]), cpu, row.shape, row.strides)
			if row.axis == -2 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var overlap *safe.OverlapError
			if !errors.As(err, &overlap) || overlap.Axis != row.axis {
				t.Fatalf("got %v", err)
			}
			requireError(t, err, safe.ErrOverlap)
		})
	}
}

func TestRawPartsAreValidated(t *testing.T) {
	memory := count(16)
	data, cpu := unsafe.Pointer(&memory[0]), ffi.DLDevice{DeviceType: ffi.CPU}
	for _, row := range []struct {
		name    string
		data    unsafe.Pointer
		device  ffi.DLDevice
		shape   []int64
		strides []int64
		want    error
	}{
		{"no data", nil, cpu, []int64{2}, nil, ffi.ErrData},
		{"unaligned", unsafe.Add(data, 1), cpu, []int64{2}, nil, ffi.ErrAlignment},
		{"unknown device", data, ffi.DLDevice{DeviceType: 99}, []int64{2}, nil, ffi.ErrDeviceType},
		{"negative extent", data, cpu, []int64{-2}, nil, ffi.ErrExtent},
		{"too large", data, cpu, []int64{math.MaxInt64}, nil, ffi.ErrSize},
		{"rank 65", data, cpu, slices.Repeat([]int64{1}, 65), nil, ffi.ErrNDim},
		{"far strides", data, cpu, []int64{2}, []int64{math.MinInt64}, ffi.ErrSpan},
		{"a stride missing", data, cpu, []int64{2, 2}, []int64{2}, safe.ErrLength},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := safe.FromRawParts[float32](row.data, row.device, row.shape, row.strides)
			requireError(t, err, row.want)
			_, err = safe.FromRawPartsMut[float32](row.data, row.device, row.shape, row.strides)
			requireError(t, err, row.want)
		})
	}
}

func TestDeviceMemoryHasMetadataAndNoElements(t *testing.T) {
	memory := count(16) // stands for memory of a GPU: nothing must touch it
	gpu := ffi.DLDevice{DeviceType: ffi.CUDA, DeviceID: 1}
	v := must(safe.FromRawPartsMut[float32](unsafe.Pointer(&memory[0]), gpu, []int64{4, 4}, nil))
	requireEqual(t, v.String(), "float32 (4, 4) on cuda:1")
	requireEqual(t, v.Device(), gpu)
	requireEqual(t, must(v.Sub(1)).DataPtr(), uintptr(unsafe.Pointer(&memory[4])))
	for name, access := range map[string]func() error{
		"At":         func() error { _, err := v.At(0, 0); return err },
		"Set":        func() error { return v.Set(1, 0, 0) },
		"Data":       func() error { _, err := v.Data(); return err },
		"Contiguous": func() error { _, err := v.Contiguous(); return err },
		"CopyTo":     func() error { return v.CopyTo(make([]float32, 16)) },
		"CopyFrom":   func() error { return v.CopyFrom(make([]float32, 16)) },
		"Elements":   func() error { _, err := v.Elements(); return err },
		"Rows":       func() error { _, err := v.Rows(); return err },
	} {
		err := access()
		var device *safe.DeviceError
		if !errors.As(err, &device) || device.Got != gpu || !errors.Is(err, safe.ErrDevice) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestHandlesKeepTheirByteOffset(t *testing.T) {
	memory := count(16)
	handle := unsafe.Pointer(&memory[0])
	v := must(safe.FromRawParts[float32](handle, ffi.DLDevice{DeviceType: ffi.OpenCL}, []int64{4, 4}, nil))
	sub := must(v.Sub(3))
	requireEqual(t, sub.DataPtr(), uintptr(handle))
	if err := safe.Lend(sub, func(m *ffi.DLManagedTensor) error {
		requireEqual(t, m.DLTensor.Data, handle)
		requireEqual(t, m.DLTensor.ByteOffset, 48)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestNoPartLiesBeforeTheMemoryOfAHandle(t *testing.T) {
	memory := count(16)
	opencl := ffi.DLDevice{DeviceType: ffi.OpenCL}
	v := must(safe.FromRawParts[float32](unsafe.Pointer(&memory[0]), opencl, []int64{4}, []int64{-1}))
	for name, part := range map[string]func() (safe.View[float32], error){
		"Sub":   func() (safe.View[float32], error) { return v.Sub(1) },
		"Slice": func() (safe.View[float32], error) { return v.Slice(0, 3, -1, -1) },
	} {
		if _, err := part(); !errors.Is(err, safe.ErrHandle) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := v.Sub(0); err != nil {
		t.Error(err)
	}
}

func TestPackedElementsAreDescribedAndNotTakenApart(t *testing.T) {
	for _, row := range []struct {
		dtype  ffi.DLDataType
		nbytes int
	}{
		{ffi.DTFloat8E4M3FN, 10}, {ffi.DTFloat6E2M3FN, 8}, {ffi.DTFloat6E3M2FN, 8}, {ffi.DTFloat4E2M1FN, 5}, {ffi.DTInt4, 5},
		{ffi.DLDataType{Code: ffi.Bool, Bits: 1, Lanes: 1}, 2},
	} {
		t.Run(row.dtype.String(), func(t *testing.T) {
			leftovers.WantNone(t)
			tensor := must(safe.NewDType(row.dtype, 2, 5))
			defer tensor.Close()
			requireEqual(t, tensor.NBytes(), row.nbytes)
			_, err := tensor.Sub(1)
			if row.dtype.IsPacked(0) {
				requireError(t, err, safe.ErrPacked)
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := tensor.Reshape(10); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheZeroViewIsAnError(t *testing.T) {
	var v safe.MutView[float32]
	_, err := v.At()
	requireError(t, err, safe.ErrEmpty)
	requireError(t, v.Set(1), safe.ErrEmpty)
	_, err = v.Data()
	requireError(t, err, safe.ErrEmpty)
	_, err = safe.ViewOf[float32](v)
	requireError(t, err, safe.ErrEmpty)
	requireError(t, safe.Lend(v, nil), safe.ErrEmpty)
	requireEqual(t, v.Size(), 0)
	requireEqual(t, v.NBytes(), 0)
	requireEqual(t, v.String(), "view of nothing")
}

func TestViewsTakeNoHeap(t *testing.T) {
	if ctest.AddressSanitizer {
		t.Skip("with AddressSanitizer, what is looked at through a pointer moves to the heap")
	}
	tensor := must(safe.New[float32](2, 3, 4, 5))
	defer tensor.Close()
	sum := 0
	for name, work := range map[string]func(){
		"ViewOf": func() {
			v, _ := safe.ViewOf[float32](tensor)
			sum += v.NDim()
		},
		"At and Set": func() {
			v, _ := safe.MutViewOf[float32](tensor)
			_ = v.Set(1, 1, 2, 3, 4)
			_, _ = v.At(1, 2, 3, 4)
		},
		"Sub, Data": func() {
			v, _ := safe.ViewOf[float32](tensor)
			v, _ = v.Sub(1)
			data, _ := v.Data()
			sum += len(data)
		},
	} {
		if allocations := testing.AllocsPerRun(100, work); allocations != 0 {
			t.Errorf("%s takes %v allocations", name, allocations)
		}
	}
}

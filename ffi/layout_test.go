package ffi_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
)

// shapes returns every shape of up to three axes with extents 0 to 3.
func shapes() [][]int64 {
	all := [][]int64{{}}
	for first := 0; first < len(all); first++ {
		if len(all[first]) < 3 {
			for extent := range int64(4) {
				all = append(all, append(slices.Clone(all[first]), extent))
			}
		}
	}
	return all
}

// indices returns every index into shape, in row-major order.
func indices(shape []int64) [][]int64 {
	all := [][]int64{{}}
	for _, extent := range shape {
		var longer [][]int64
		for _, index := range all {
			for i := range extent {
				longer = append(longer, append(slices.Clone(index), i))
			}
		}
		all = longer
	}
	return all
}

// offsets returns the offset of every element, in row-major order.
func offsets(shape, strides []int64) []int64 {
	var all []int64
	for _, index := range indices(shape) {
		offset := int64(0)
		for axis, i := range index {
			offset += i * strides[axis]
		}
		all = append(all, offset)
	}
	return all
}

func TestRowMajorStridesCountUpWithoutGaps(t *testing.T) {
	for _, shape := range shapes() {
		got := offsets(shape, ffi.RowMajorStrides(shape))
		if int64(len(got)) != ffi.Numel(shape) {
			t.Errorf("%v: Numel is %d, there are %d", shape, ffi.Numel(shape), len(got))
		}
		for want, offset := range got {
			if offset != int64(want) {
				t.Errorf("%v: element %d lies at %d", shape, want, offset)
			}
		}
	}
}

// requireLayout compares the layout functions with what counting all elements says, and returns whether two of those share
// memory.
func requireLayout(t *testing.T, shape, strides []int64) (overlap bool) {
	t.Helper()
	all := offsets(shape, strides)
	contiguous := true
	for want, offset := range all {
		contiguous = contiguous && offset == int64(want)
	}
	if got := ffi.IsContiguous(shape, strides); got != contiguous {
		t.Errorf("%v %v: IsContiguous is %v", shape, strides, got)
	}
	low, high := int64(0), int64(0)
	if len(all) > 0 {
		low, high = slices.Min(all), slices.Max(all)
	}
	if gotLow, gotHigh := ffi.Span(shape, strides); gotLow != low || gotHigh != high {
		t.Errorf("%v %v: Span is %d to %d, want %d to %d", shape, strides, gotLow, gotHigh, low, high)
	}
	for i, index := range indices(shape) {
		if got := ffi.ElementOffset(strides, index); got != all[i] {
			t.Errorf("%v %v: ElementOffset of %v is %d, want %d", shape, strides, index, got, all[i])
		}
	}
	slices.Sort(all)
	overlap = len(slices.Compact(slices.Clone(all))) < len(all)
	if overlap && !ffi.MayOverlap(shape, strides) {
		t.Errorf("%v %v: elements overlap, and MayOverlap says no", shape, strides)
	}
	return overlap
}

func TestLayoutAgreesWithCountingAllElements(t *testing.T) {
	steps := []int64{-4, -3, -1, 0, 1, 2, 3, 6}
	for _, shape := range shapes() {
		strides := make([]int64, len(shape))
		var fill func(axis int)
		fill = func(axis int) {
			if axis == len(shape) {
				requireLayout(t, shape, strides)
				return
			}
			for _, step := range steps {
				strides[axis] = step
				fill(axis + 1)
			}
		}
		fill(0)
	}
}

func TestLayoutAgreesWithCountingAllElementsOfAnyLayout(t *testing.T) {
	n, random := descriptor.Drive(t, 20_000)
	descriptor.Layouts(n, random, func(l descriptor.Layout) {
		overlap := requireLayout(t, l.Shape, l.Strides)
		if l.Derived && ffi.MayOverlap(l.Shape, l.Strides) != overlap {
			t.Errorf("%v %v: that elements overlap is %v, and MayOverlap is not exact", l.Shape, l.Strides, overlap)
		}
	})
}

func FuzzLayoutAgreesWithCountingAllElements(f *testing.F) {
	descriptor.Seeds(func(_, axes []byte) { f.Add(axes) })
	f.Fuzz(func(t *testing.T, axes []byte) {
		shape, strides := descriptor.Axes(axes)
		elements := int64(1)
		for axis := range shape {
			// Small enough to count, and wild where it must not matter.
			shape[axis] &= 7
			if shape[axis] > 1 {
				strides[axis] %= 1 << 50
			}
			if elements *= max(shape[axis], 1); elements > 4096 {
				return
			}
		}
		requireLayout(t, shape, strides)
	})
}

func TestSlicesOfCompactTensorsDoNotOverlap(t *testing.T) {
	for _, layout := range []struct{ shape, strides []int64 }{
		{[]int64{4, 5, 6}, nil},
		{[]int64{4, 5, 6}, []int64{30, 6, 1}},
		{[]int64{6, 5, 4}, []int64{1, 6, 30}},    // transposed
		{[]int64{2, 5, 3}, []int64{60, 6, 2}},    // every second
		{[]int64{4, 5, 6}, []int64{-30, 6, -1}},  // reversed
		{[]int64{1, 3}, []int64{0, 1}},           // a stride that is never stepped
		{[]int64{0, 3}, []int64{0, 0}},           // nothing
		{[]int64{2}, []int64{math.MinInt64 + 1}}, // as far as it goes
	} {
		if ffi.MayOverlap(layout.shape, layout.strides) {
			t.Errorf("%v %v overlaps", layout.shape, layout.strides)
		}
	}
	if !ffi.MayOverlap([]int64{4, 3}, []int64{0, 1}) {
		t.Error("a broadcast tensor does not overlap")
	}
}

func TestPackedSizeIsRoundedUpOnce(t *testing.T) {
	for _, test := range []struct {
		dtype  ffi.DLDataType
		flags  ffi.Flags
		numel  int64
		size   int64
		packed bool
	}{
		{ffi.DTFloat32, 0, 3, 12, false},
		{ffi.DTFloat32, ffi.FlagSubbytePadded, 3, 12, false},
		{ffi.DTComplex128, 0, 3, 48, false},
		{ffi.DTBool, 0, 3, 3, false},
		{ffi.DLDataType{Code: ffi.Bool, Bits: 1, Lanes: 1}, 0, 9, 2, true},
		{ffi.DLDataType{Code: ffi.Bool, Bits: 1, Lanes: 1}, ffi.FlagSubbytePadded, 9, 9, false},
		{ffi.DTFloat4E2M1FN, 0, 3, 2, true},
		{ffi.DTFloat4E2M1FN, ffi.FlagSubbytePadded, 3, 3, false},
		{ffi.DTFloat6E2M3FN, 0, 4, 3, true},
		{ffi.DTFloat6E2M3FN, 0, 5, 4, true},
		{ffi.DLDataType{Code: ffi.Float4E2M1FN, Bits: 4, Lanes: 2}, 0, 3, 3, false},
		{ffi.DLDataType{Code: ffi.Int, Bits: 4, Lanes: 3}, 0, 3, 5, true},
		{ffi.DTFloat4E2M1FN, 0, 0, 0, true},
		{ffi.DTFloat4E2M1FN, 0, math.MaxInt64, 1 << 62, true},
	} {
		if got := ffi.PackedSize(test.dtype, test.flags, test.numel); got != test.size {
			t.Errorf("%d of %v, flags %v: %d bytes, want %d", test.numel, test.dtype, test.flags, got, test.size)
		}
		if got := test.dtype.IsPacked(test.flags); got != test.packed {
			t.Errorf("%v, flags %v: packed is %v", test.dtype, test.flags, got)
		}
	}
}

func TestCheckedSizeRefusesWhatValidateRefuses(t *testing.T) {
	elements, size, err := ffi.CheckedSize(ffi.DTFloat4E2M1FN, 0, []int64{3, 5})
	if elements != 15 || size != 8 || err != nil {
		t.Errorf("15 packed elements: %d, %d bytes, %v", elements, size, err)
	}
	if elements, size, err = ffi.CheckedSize(ffi.DTFloat32, 0, []int64{0, 1 << 40}); elements != 0 || size != 0 || err != nil {
		t.Errorf("an empty tensor: %d, %d bytes, %v", elements, size, err)
	}
	for _, test := range []struct {
		dtype ffi.DLDataType
		shape []int64
		want  error
	}{
		{ffi.DLDataType{Code: 30, Bits: 8, Lanes: 1}, nil, ffi.ErrDTypeCode},
		{ffi.DLDataType{Code: ffi.Float, Bits: 8, Lanes: 1}, nil, ffi.ErrDTypeBits},
		{ffi.DLDataType{Code: ffi.Float, Bits: 32}, nil, ffi.ErrDTypeLanes},
		{ffi.DTFloat32, make([]int64, 65), ffi.ErrNDim},
		{ffi.DTFloat32, []int64{2, -1}, ffi.ErrExtent},
		{ffi.DTFloat32, []int64{0, 1 << 61}, ffi.ErrSize},
		{ffi.DTInt8, []int64{1 << 32, 1 << 32}, ffi.ErrSize},
	} {
		if _, _, err := ffi.CheckedSize(test.dtype, 0, test.shape); !errors.Is(err, test.want) {
			t.Errorf("%v of %v: %v, want %v", test.shape, test.dtype, err, test.want)
		}
	}
}

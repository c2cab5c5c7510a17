package ffi

import (
	"math/bits"
	"slices"
)

// The layout rules, as functions on slices of extents and strides. Strides count elements, not bytes, and nil strides
// stand for row-major. Unless said otherwise the functions take what a validator or CheckedSize has let pass, and check
// nothing again. safe/layout.h is their mirror in C.

// IsPacked reports whether elements of type d are packed without regard to byte borders: they do not fill whole bytes,
// and flags do not say that they are padded.
func (d DLDataType) IsPacked(flags Flags) bool {
	return d.bits()%8 != 0 && flags&FlagSubbytePadded == 0
}

// bits is the width of an element, all lanes counted.
func (d DLDataType) bits() int64 { return int64(d.Bits) * int64(d.Lanes) }

// ItemSize returns the bytes of one element of type d, all lanes counted; where an element does not fill whole bytes,
// the bytes that it is padded to. Packed elements are no such distance apart: see PackedSize.
func ItemSize(d DLDataType) int64 { return (d.bits() + 7) / 8 }

// PackedSize returns the bytes that numel compact elements of type d take. Packed elements are rounded up once, at the
// end, and not one by one.
func PackedSize(d DLDataType, flags Flags, numel int64) int64 {
	size, _ := checkedPackedSize(d, flags, numel)
	return size
}

// checkedPackedSize is PackedSize, and whether the size fits.
func checkedPackedSize(d DLDataType, flags Flags, numel int64) (size int64, fits bool) {
	width := d.bits()
	if width%8 == 0 || flags&FlagSubbytePadded != 0 {
		return multiply(numel, (width+7)/8)
	}
	// Eight elements fill width bytes, whatever those are: so no product of bits can overflow.
	whole, fits := multiply(numel/8, width)
	size = whole + (numel%8*width+7)/8
	return size, fits && size >= 0
}

// Alignment returns the alignment in bytes that an element of type d needs in host memory: that of one integer or float
// in it, so half a complex number's size, and lanes do not count. It is 1 for what is narrower than a byte.
func Alignment(d DLDataType) int64 {
	if d.Bits%8 != 0 {
		return 1
	}
	return int64(d.Bits) / 8 >> (d.Code.Parts() - 1) // a shift, as divisions are slow
}

// Numel returns the number of elements of a tensor of this shape; 1 for a shape without axes.
func Numel(shape []int64) int64 {
	numel := int64(1)
	for _, extent := range shape {
		numel *= extent
	}
	return numel
}

// CheckedSize returns the number of elements and of bytes that a compact tensor takes. It is for dtypes and shapes that
// nobody has validated: it returns a DTypeCodeError, DTypeBitsError, DTypeLanesError, NDimError, ExtentError or
// SizeError as Validate would, but in words about arguments (see OfArgument).
func CheckedSize(d DLDataType, flags Flags, shape []int64) (elements, size int64, err error) {
	if len(shape) > MaxNDim {
		return 0, 0, breach{RuleNDim, noAxis, int64(len(shape)), 0}.fault().ofArgument()
	}
	if !d.Valid() {
		return 0, 0, dtypeFault(d).fault().ofArgument()
	}
	found := measureExtents(shape, nil)
	size, fits := checkedPackedSize(d, flags, found.product)
	switch {
	case found.least < 0 || found.oversized || !fits:
		return 0, 0, extentFault(d, flags, shape).fault().ofArgument()
	case found.least == 0:
		return 0, 0, nil
	}
	return found.product, size, nil
}

// RowMajorStrides returns the strides of a compact row-major tensor. Extents of 0 count as 1, so that the strides of an
// empty tensor are usable, too.
func RowMajorStrides(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	FillRowMajorStrides(strides, shape)
	return strides
}

// FillRowMajorStrides writes the strides of a compact row-major tensor into strides, which is as long as shape.
func FillRowMajorStrides(strides, shape []int64) {
	stride := int64(1)
	for axis := len(shape) - 1; axis >= 0; axis-- {
		strides[axis] = stride
		if shape[axis] > 1 {
			stride *= shape[axis]
		}
	}
}

// IsContiguous reports whether the elements lie row-major without gaps. The strides of axes of extent 1 and of empty
// tensors make no difference, as nothing ever steps along them.
func IsContiguous(shape, strides []int64) bool {
	if strides == nil {
		return true
	}
	need, rowMajor := int64(1), true
	for axis := len(shape) - 1; axis >= 0; axis-- {
		if shape[axis] == 0 {
			return true
		}
		if shape[axis] != 1 {
			rowMajor = rowMajor && strides[axis] == need
			need *= shape[axis]
		}
	}
	return rowMajor
}

// Span returns the offsets of the lowest and of the highest element from the first one, in elements: low is 0 or less,
// high 0 or more. Both are 0 for an empty tensor.
func Span(shape, strides []int64) (low, high int64) {
	if slices.Contains(shape, 0) {
		return 0, 0
	}
	if strides == nil {
		return 0, Numel(shape) - 1
	}
	for axis, extent := range shape {
		if extent == 1 {
			continue // its stride may be anything, also something that overflows
		}
		if reach := (extent - 1) * strides[axis]; reach < 0 {
			low += reach
		} else {
			high += reach
		}
	}
	return low, high
}

// ElementOffset returns the offset of the element at index from the first one, in elements. The index is as long as
// strides, which are not nil, and lies inside the shape; Numel-sized offsets into row-major tensors need no call.
func ElementOffset(strides, index []int64) int64 {
	offset := int64(0)
	for axis, i := range index {
		if i != 0 { // the stride of an axis of extent 1 may be anything
			offset += i * strides[axis]
		}
	}
	return offset
}

// MayOverlap reports whether two indices may lead to the same element, so that writing through the strides is in doubt.
// It is exact for every layout that slicing, transposing, reversing and broadcasting a compact tensor produce, and errs
// on the side of true for the rest, where the question is a hard one.
func MayOverlap(shape, strides []int64) bool {
	if strides == nil || slices.Contains(shape, 0) {
		return false
	}
	type axis struct{ step, extent uint64 }
	var buffer [MaxNDim]axis
	axes := buffer[:0]
	for i, extent := range shape {
		if extent > 1 {
			axes = append(axes, axis{magnitude(strides[i]), uint64(extent)})
		}
	}
	slices.SortFunc(axes, func(a, b axis) int {
		switch {
		case a.step < b.step:
			return -1
		case a.step > b.step:
			return 1
		}
		return 0
	})
	// Each axis must step over all that the axes with smaller strides reach.
	reach := uint64(0)
	for _, a := range axes {
		if a.step <= reach {
			return true
		}
		reach += a.step * (a.extent - 1)
	}
	return false
}

// magnitude is the absolute value of n, also of the smallest int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// multiply returns a * b, and whether the product fits. Both are 0 or more.
func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && int64(low) >= 0
}

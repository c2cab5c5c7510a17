package ffi

import (
	"math"
	"math/bits"
	"slices"
)

// noAxis is the Axis of a fault that is not about one.
const noAxis = -1

// Validate judges a descriptor that somebody else wrote, before anything trusts it: it returns nil, or the typed error
// of the first broken rule (see Rule). It reads shape and strides and neither changes them nor reads data.
func Validate(t *DLTensor) error { return ValidateFlagged(t, 0) }

// ValidateFlagged is Validate for a tensor that flags belong to; they say whether elements narrower than a byte are
// padded, and are not judged themselves.
func ValidateFlagged(t *DLTensor, flags Flags) error {
	if fault := judgeTensor(t, flags); fault.Rule != RuleNone {
		return fault.Err()
	}
	return nil
}

// ValidateManaged is Validate for a legacy managed tensor.
func ValidateManaged(m *DLManagedTensor) error {
	if m == nil {
		return Validate(nil)
	}
	return Validate(&m.DLTensor)
}

// ValidateVersioned judges the version of a managed tensor, then its flags, then its tensor. When the version is
// refused (see ErrVersion) nothing else has been read, and the owner still has to call the deleter.
func ValidateVersioned(m *DLManagedTensorVersioned) error {
	switch {
	case m == nil:
		return Validate(nil)
	case m.Version.Major != Major:
		return &VersionError{Fault{RuleVersion, noAxis, int64(m.Version.Major), int64(m.Version.Minor)}}
	case m.Flags&^knownFlags != 0 && m.Version.Minor <= Minor:
		// A newer minor version may define more flags; they do not change what we read.
		return &FlagsError{Fault{RuleFlags, noAxis, int64(m.Flags &^ knownFlags), int64(m.Version.Minor)}}
	}
	return ValidateFlagged(&m.DLTensor, m.Flags)
}

// judgeTensor goes through the rules of a tensor in order. Like all that judge here it returns the facts by value, and
// not as an error, so that a sound descriptor costs no allocation.
func judgeTensor(t *DLTensor, flags Flags) Fault {
	if t == nil {
		return Fault{RuleDescriptor, noAxis, 0, 0}
	}
	switch {
	case !t.Device.DeviceType.Known():
		return Fault{RuleDeviceType, noAxis, int64(t.Device.DeviceType), 0}
	case t.Device.DeviceID < 0:
		return Fault{RuleDeviceID, noAxis, int64(t.Device.DeviceID), 0}
	case t.NDim < 0 || t.NDim > MaxNDim:
		return Fault{RuleNDim, noAxis, int64(t.NDim), 0}
	case t.Shape == nil && t.NDim > 0:
		return Fault{RuleShape, noAxis, int64(t.NDim), 0}
	}
	if fault := judgeDType(t.DType); fault.Rule != RuleNone {
		return fault
	}
	shape, strides := t.Extents(), t.Steps()
	found := measureExtents(shape, strides)
	if fault := judgeExtents(found, t.DType, flags, shape); fault.Rule != RuleNone {
		return fault
	}
	if found.least == 0 {
		return Fault{}
	}
	if found.rowMajor {
		return judgeMemory(t, found.product, 0, uint64(PackedSize(t.DType, flags, found.product))-1)
	}
	reach, fault := judgeSpan(t.DType, shape, strides)
	if fault.Rule != RuleNone {
		return fault
	}
	if t.DType.IsPacked(flags) {
		return notRowMajor(shape, strides)
	}
	item := uint64(ItemSize(t.DType))
	return judgeMemory(t, found.product, uint64(-reach.low)*item, uint64(reach.high)*item+item-1)
}

// judgeDType judges code, bits and lanes.
func judgeDType(d DLDataType) Fault {
	switch {
	case !d.Code.Known():
		return Fault{RuleDTypeCode, noAxis, int64(d.Code), int64(d.Bits)}
	case codes[d.Code].widths&widthBit[d.Bits] == 0:
		return Fault{RuleDTypeBits, noAxis, int64(d.Code), int64(d.Bits)}
	case d.Lanes == 0:
		return Fault{RuleDTypeLanes, noAxis, 0, 0}
	}
	return Fault{}
}

// extents is what one pass over shape and strides finds.
type extents struct {
	product   int64 // of the extents, those below 2 left out; meaningless when oversized
	least     int64 // the smallest extent, and at most 1: below 0 one is negative, at 0 the tensor is empty
	oversized bool  // the product does not fit
	rowMajor  bool  // no gaps; meaningless when empty
}

func measureExtents(shape, strides []int64) extents {
	product, least, oversized, rowMajor := int64(1), int64(1), false, true
	for axis := len(shape) - 1; axis >= 0; axis-- {
		extent := shape[axis]
		if extent <= 1 {
			least = min(least, extent)
			continue
		}
		if strides != nil && strides[axis] != product {
			rowMajor = false
		}
		var fits bool
		if product, fits = multiply(product, extent); !fits {
			oversized = true
		}
	}
	return extents{product, least, oversized, rowMajor}
}

// judgeExtents judges what was found, and names the axis when it is at fault.
func judgeExtents(found extents, d DLDataType, flags Flags, shape []int64) Fault {
	if found.least < 0 {
		axis := slices.IndexFunc(shape, func(extent int64) bool { return extent < 0 })
		return Fault{RuleExtent, axis, shape[axis], 0}
	}
	if !found.oversized && bytesFit(d, flags, found.product) {
		return Fault{}
	}
	product := int64(1)
	for axis, extent := range shape {
		var fits bool
		if product, fits = multiply(product, max(extent, 1)); !fits || !bytesFit(d, flags, product) {
			return Fault{RuleSize, axis, extent, 0}
		}
	}
	return Fault{} // not reached: the loop multiplies up to the same product
}

// bytesFit reports whether so many elements take at most 2^63-1 bytes.
func bytesFit(d DLDataType, flags Flags, elements int64) bool {
	if !d.IsPacked(flags) {
		_, fits := multiply(elements, ItemSize(d))
		return fits
	}
	whole, fits := multiply(elements/8, d.bits())
	return fits && whole <= math.MaxInt64-(elements%8*d.bits()+7)/8
}

// span is how far elements lie from the first one, in elements: low is 0 or less, high 0 or more.
type span struct{ low, high int64 }

// judgeSpan adds up the reach of each axis. It is for tensors with elements.
func judgeSpan(d DLDataType, shape, strides []int64) (span, Fault) {
	var reach span
	item := ItemSize(d)
	total := int64(0) // distance from low to high, in elements
	for axis, extent := range shape {
		if extent == 1 {
			continue
		}
		stride := strides[axis]
		step, fits := multiply(extent-1, int64(magnitude(stride)))
		if fits {
			total += step // at most 2^64-2, which shows as a negative number
			_, fits = multiply(max(total, 0), item)
		}
		if !fits || total < 0 {
			return reach, Fault{RuleSpan, axis, stride, extent}
		}
		if stride < 0 {
			reach.low -= step
		} else {
			reach.high += step
		}
	}
	return reach, Fault{}
}

// notRowMajor names the last axis whose stride is not that of a row-major tensor; there is one.
func notRowMajor(shape, strides []int64) Fault {
	need := int64(1)
	for axis := len(shape) - 1; axis >= 0; axis-- {
		if shape[axis] > 1 && strides[axis] != need {
			return Fault{RulePackedLayout, axis, strides[axis], need}
		}
		need *= shape[axis]
	}
	return Fault{} // not reached
}

// judgeMemory judges where the bytes of a tensor with elements lie: they begin below bytes before the first element and
// end beyond bytes after its first byte.
func judgeMemory(t *DLTensor, elements int64, below, beyond uint64) Fault {
	device := t.Device.DeviceType.facts()
	if t.Data == nil {
		return Fault{RuleData, noAxis, elements, 0}
	}
	if !device.addressable {
		return Fault{}
	}
	first, carry := bits.Add64(uint64(uintptr(t.Data)), t.ByteOffset, 0)
	_, carryBeyond := bits.Add64(first, beyond, 0)
	if carry|carryBeyond != 0 || first < below {
		return Fault{RuleAddress, noAxis, int64(uintptr(t.Data)), int64(t.ByteOffset)}
	}
	alignment := Alignment(t.DType)
	if first&uint64(alignment-1) != 0 && device.host {
		return Fault{RuleAlignment, noAxis, int64(first), alignment}
	}
	return Fault{}
}

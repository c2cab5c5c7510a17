package ffi

import "math/bits"

// breach is the facts of a broken rule as the validator hands them on: one field more, and the compiler would keep them in
// memory and not in registers.
type breach struct {
	rule        Rule
	axis        int
	got, beside int64
}

// fault returns b as users know it.
func (b breach) fault() Fault { return Fault{Rule: b.rule, Axis: b.axis, Got: b.got, Beside: b.beside} }

// noAxis is the Axis of a fault that is not about one.
const noAxis = -1

// Validate judges a descriptor that somebody else wrote, before anything trusts it: it returns nil, or the typed error
// of the first broken rule (see Rule). It reads shape and strides and neither changes them nor reads data.
func Validate(t *DLTensor) error { return ValidateFlagged(t, 0) }

// ValidateFlagged is Validate for a tensor that flags belong to; they say whether elements narrower than a byte are
// padded, and are not judged themselves.
func ValidateFlagged(t *DLTensor, flags Flags) error {
	if found := judgeTensor(t, flags); found.rule != RuleNone {
		return found.fault().Err()
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
		return breach{RuleVersion, noAxis, int64(m.Version.Major), int64(m.Version.Minor)}.fault().Err()
	case m.Flags&^knownFlags != 0 && m.Version.Minor <= Minor:
		// A newer minor version may define more flags; they do not change what we read.
		return breach{RuleFlags, noAxis, int64(m.Flags &^ knownFlags), int64(m.Version.Minor)}.fault().Err()
	}
	return ValidateFlagged(&m.DLTensor, m.Flags)
}

// judgeTensor goes through the rules of a tensor in order. It returns the facts by value, and not as an error, so that a
// sound descriptor costs no allocation; what names an axis is found out in functions of its own, once something is known
// to be wrong, so that a sound one costs little time.
func judgeTensor(t *DLTensor, flags Flags) breach {
	if t == nil {
		return breach{RuleDescriptor, noAxis, 0, 0}
	}
	device := t.Device.DeviceType.facts()
	switch {
	case device.name == "":
		return breach{RuleDeviceType, noAxis, int64(t.Device.DeviceType), 0}
	case t.Device.DeviceID < 0:
		return breach{RuleDeviceID, noAxis, int64(t.Device.DeviceID), 0}
	case t.NDim < 0 || t.NDim > MaxNDim:
		return breach{RuleNDim, noAxis, int64(t.NDim), 0}
	case t.Shape == nil && t.NDim > 0:
		return breach{RuleShape, noAxis, int64(t.NDim), 0}
	case !t.DType.Valid():
		return dtypeFault(t.DType)
	}
	shape, strides := t.Extents(), t.Steps()
	found := measureExtents(shape, strides)
	width := t.DType.bits()
	size, fits := multiply(found.product, width/8)
	if width%8 != 0 { // else a call less
		size, fits = checkedPackedSize(t.DType, flags, found.product)
	}
	switch {
	case found.least < 0 || found.oversized || !fits:
		return extentFault(t.DType, flags, shape)
	case found.least == 0:
		return breach{}
	}
	// The first byte of the lowest element lies below bytes before that of the first one, the last byte of the highest
	// element beyond bytes after it.
	below, beyond := uint64(0), uint64(size)-1
	if !found.rowMajor {
		item := uint64(ItemSize(t.DType))
		low, high, fault := judgeSpan(int64(item), shape, strides)
		switch {
		case fault.rule != RuleNone:
			return fault
		case t.DType.IsPacked(flags):
			return packedLayoutFault(shape, strides)
		}
		below, beyond = uint64(-low)*item, uint64(high)*item+item-1
	}
	if t.Data == nil {
		return breach{RuleData, noAxis, found.product, 0}
	}
	if !device.addressable {
		return breach{}
	}
	first, carry := bits.Add64(uint64(uintptr(t.Data)), t.ByteOffset, 0)
	_, carryBeyond := bits.Add64(first, beyond, 0)
	if carry|carryBeyond|t.ByteOffset>>63 != 0 || first < below {
		return breach{RuleAddress, noAxis, int64(uintptr(t.Data)), int64(t.ByteOffset)}
	}
	if alignment := Alignment(t.DType); device.host && first&uint64(alignment-1) != 0 {
		return breach{RuleAlignment, noAxis, int64(first), alignment}
	}
	return breach{}
}

// dtypeFault names the rule that an invalid dtype breaks.
func dtypeFault(d DLDataType) breach {
	switch {
	case !d.Code.Known():
		return breach{RuleDTypeCode, noAxis, int64(d.Code), int64(d.Bits)}
	case codes[d.Code].widths&widthBit[d.Bits] == 0:
		return breach{RuleDTypeBits, noAxis, int64(d.Code), int64(d.Bits)}
	}
	return breach{RuleDTypeLanes, noAxis, 0, 0}
}

// extents is what one pass over shape and strides finds.
type extents struct {
	product   int64 // of the extents, those below 2 left out; meaningless when oversized
	least     int64 // the smallest extent, and at most 1: below 0 one is negative, at 0 the tensor is empty
	oversized bool  // the product does not fit
	rowMajor  bool  // no gaps; meaningless when empty
}

func measureExtents(shape, strides []int64) extents {
	product, beyond := uint64(1), uint64(0) // what of the products goes beyond 63 bits
	least, rowMajor := int64(1), true
	for axis := len(shape) - 1; axis >= 0; axis-- {
		extent := shape[axis]
		if extent <= 1 {
			least = min(least, extent)
			continue
		}
		if axis < len(strides) && strides[axis] != int64(product) {
			rowMajor = false
		}
		high, low := bits.Mul64(product, uint64(extent))
		product, beyond = low, beyond|high|low>>63
	}
	return extents{int64(product), least, beyond != 0, rowMajor}
}

// extentFault names the axis at which a shape goes wrong: the first of negative extent, else the one that takes the
// tensor past what an int64 counts.
func extentFault(d DLDataType, flags Flags, shape []int64) breach {
	for axis, extent := range shape {
		if extent < 0 {
			return breach{RuleExtent, axis, extent, 0}
		}
	}
	product, last := int64(1), len(shape)-1
	for axis, extent := range shape[:last] {
		var fits bool
		if product, fits = multiply(product, max(extent, 1)); fits {
			_, fits = checkedPackedSize(d, flags, product)
		}
		if !fits {
			return breach{RuleSize, axis, extent, 0}
		}
	}
	return breach{RuleSize, last, shape[last], 0} // as no axis before it
}

// judgeSpan adds up how far the elements lie from the first one, in elements: low is 0 or less, high 0 or more. It is
// for tensors with elements, of item bytes each.
func judgeSpan(item int64, shape, strides []int64) (low, high int64, fault breach) {
	for axis, extent := range shape {
		if extent == 1 {
			continue
		}
		stride := strides[axis]
		reach, fits := multiply(extent-1, int64(magnitude(stride)))
		if fits {
			// Both are below 2^63, so that a sum which does not fit shows as a negative number.
			total := high - low + reach
			_, fits = multiply(max(total, 0), item)
			fits = fits && total >= 0
		}
		if !fits {
			return low, high, breach{RuleSpan, axis, stride, extent}
		}
		if stride < 0 {
			low -= reach
		} else {
			high += reach
		}
	}
	return low, high, breach{}
}

// packedLayoutFault names the last axis whose stride is not that of a row-major tensor; there is one.
func packedLayoutFault(shape, strides []int64) breach {
	axis, need := len(shape)-1, int64(1)
	for shape[axis] == 1 || strides[axis] == need {
		need *= shape[axis]
		axis--
	}
	return breach{RulePackedLayout, axis, strides[axis], need}
}

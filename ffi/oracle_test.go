package ffi_test

import (
	"math"
	"math/big"
	"slices"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
)

// The oracle says what the rules say, one after the other, in integers without bounds, and shares nothing with the
// validator but the tables of devices and dtypes.

var (
	largest      = big.NewInt(math.MaxInt64)
	addressSpace = new(big.Int).Lsh(big.NewInt(1), 64)
)

// bytesOf is the size of so many compact elements.
func bytesOf(d *descriptor.Description, elements *big.Int) *big.Int {
	bits := new(big.Int).Mul(big.NewInt(int64(d.DType.Bits)), big.NewInt(int64(d.DType.Lanes)))
	if d.Flags&ffi.FlagSubbytePadded != 0 {
		bits = roundedUp(bits, 8)
	}
	size := roundedUp(new(big.Int).Mul(bits, elements), 8)
	return size.Div(size, big.NewInt(8))
}

func roundedUp(n *big.Int, multiple int64) *big.Int {
	m := big.NewInt(multiple)
	n = new(big.Int).Add(n, big.NewInt(multiple-1))
	return n.Mul(n.Div(n, m), m)
}

// oracle returns the first broken rule of a versioned descriptor.
func oracle(d *descriptor.Description) ffi.Fault {
	fault := func(rule ffi.Rule, got, beside int64) ffi.Fault {
		return ffi.Fault{Rule: rule, Axis: -1, Got: got, Beside: beside}
	}
	if d.Major != 1 {
		return fault(ffi.RuleVersion, int64(d.Major), int64(d.Minor))
	}
	if d.Flags > 7 && d.Minor <= 3 {
		return fault(ffi.RuleFlags, int64(d.Flags/8*8), int64(d.Minor))
	}
	if d.Device.DeviceType < 1 || d.Device.DeviceType > 20 || d.Device.DeviceType == 5 || d.Device.DeviceType == 6 {
		return fault(ffi.RuleDeviceType, int64(d.Device.DeviceType), 0)
	}
	if d.Device.DeviceID < 0 {
		return fault(ffi.RuleDeviceID, int64(d.Device.DeviceID), 0)
	}
	if d.NDim < 0 || d.NDim > 64 {
		return fault(ffi.RuleNDim, int64(d.NDim), 0)
	}
	if d.Shape == nil && d.NDim > 0 {
		return fault(ffi.RuleShape, int64(d.NDim), 0)
	}
	if d.DType.Code > 18 {
		return fault(ffi.RuleDTypeCode, int64(d.DType.Code), int64(d.DType.Bits))
	}
	if !slices.Contains(d.DType.Code.Widths(), int(d.DType.Bits)) {
		return fault(ffi.RuleDTypeBits, int64(d.DType.Code), int64(d.DType.Bits))
	}
	if d.DType.Lanes == 0 {
		return fault(ffi.RuleDTypeLanes, 0, 0)
	}
	shape := d.Shape[:d.NDim]
	if axis := slices.IndexFunc(shape, func(n int64) bool { return n < 0 }); axis >= 0 {
		return ffi.Fault{Rule: ffi.RuleExtent, Axis: axis, Got: shape[axis]}
	}
	elements := big.NewInt(1)
	for axis, extent := range shape {
		elements.Mul(elements, big.NewInt(max(extent, 1)))
		if elements.Cmp(largest) > 0 || bytesOf(d, elements).Cmp(largest) > 0 {
			return ffi.Fault{Rule: ffi.RuleSize, Axis: axis, Got: extent}
		}
	}
	if slices.Contains(shape, 0) {
		return ffi.Fault{}
	}
	return strideOracle(d, shape, elements)
}

// strideOracle goes on where the strides come in.
func strideOracle(d *descriptor.Description, shape []int64, elements *big.Int) ffi.Fault {
	strides := d.Strides
	if strides == nil {
		strides = ffi.RowMajorStrides(shape)
	}
	notRowMajor, need := -1, int64(0)
	for axis, wanted := range ffi.RowMajorStrides(shape) {
		if shape[axis] > 1 && strides[axis] != wanted {
			notRowMajor, need = axis, wanted
		}
	}
	item := bytesOf(&descriptor.Description{DType: d.DType}, big.NewInt(1))
	low, high := new(big.Int), new(big.Int) // in bytes, from the first element
	for axis, extent := range shape {
		if extent == 1 || notRowMajor < 0 {
			continue
		}
		reach := new(big.Int).Mul(big.NewInt(extent-1), big.NewInt(strides[axis]))
		if reach.Mul(reach, item).Sign() < 0 {
			low.Add(low, reach)
		} else {
			high.Add(high, reach)
		}
		if new(big.Int).Sub(high, low).Cmp(largest) > 0 {
			return ffi.Fault{Rule: ffi.RuleSpan, Axis: axis, Got: strides[axis], Beside: extent}
		}
	}
	if notRowMajor >= 0 && d.Flags&ffi.FlagSubbytePadded == 0 && int(d.DType.Bits)*int(d.DType.Lanes)%8 != 0 {
		return ffi.Fault{Rule: ffi.RulePackedLayout, Axis: notRowMajor, Got: strides[notRowMajor], Beside: need}
	}
	if notRowMajor < 0 {
		high.Sub(bytesOf(d, elements), item) // packed: the last element ends at the rounded-up size
	}
	return memoryOracle(d, elements, low, new(big.Int).Add(high, item))
}

// memoryOracle judges the bytes from low up to, and without, end; both counted from the first element.
func memoryOracle(d *descriptor.Description, elements, low, end *big.Int) ffi.Fault {
	if d.Data == 0 {
		return ffi.Fault{Rule: ffi.RuleData, Axis: -1, Got: elements.Int64()}
	}
	if !d.Device.DeviceType.Addressable() {
		return ffi.Fault{}
	}
	first := new(big.Int).SetUint64(d.Data)
	first.Add(first, new(big.Int).SetUint64(d.ByteOffset))
	if d.ByteOffset>>63 != 0 || new(big.Int).Add(first, low).Sign() < 0 || new(big.Int).Add(first, end).Cmp(addressSpace) > 0 {
		return ffi.Fault{Rule: ffi.RuleAddress, Axis: -1, Got: int64(d.Data), Beside: int64(d.ByteOffset)}
	}
	alignment := int64(1)
	if bits := int64(d.DType.Bits); bits%8 == 0 {
		alignment = bits / 8
		if d.DType.Code == ffi.Complex || d.DType.Code == ffi.Bcomplex {
			alignment /= 2
		}
	}
	if first.Uint64()%uint64(alignment) != 0 && d.Device.HostAccessible() {
		return ffi.Fault{Rule: ffi.RuleAlignment, Axis: -1, Got: int64(first.Uint64()), Beside: alignment}
	}
	return ffi.Fault{}
}

package safe

import (
	"math"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// SliceView returns a view of the memory of s, in row-major order. The shape must count as many elements as s has, or it is a
// LengthError; without a shape the view has one axis. Take rows and columns from a flat slice: a [][]T has no memory of its own to view.
func SliceView[T Element](s []T, shape ...int) (View[T], error) {
	m := newMetadata(max(len(shape), 1))
	m.shape[0] = int64(len(s))
	for axis, extent := range shape {
		m.shape[axis] = int64(extent)
	}
	m.dtype = DTypeOf[T]()
	numel, _, err := ffi.CheckedSize(m.dtype, 0, m.shape)
	if err != nil {
		return View[T]{}, err
	}
	if numel != int64(len(s)) {
		return View[T]{}, &LengthError{What: "the slice", Got: len(s), Want: int(numel), Fix: "the product of the shape's extents must be its length"}
	}
	if err := aligned(s); err != nil {
		return View[T]{}, err
	}
	ffi.FillRowMajorStrides(m.strides, m.shape)
	m.device.DeviceType = ffi.CPU
	m.traits = readOnly | goMemory
	return View[T]{anyView{data: unsafe.Pointer(unsafe.SliceData(s)), meta: m}}, nil
}

// aligned returns nil unless s was made by unsafe means, of an address that does not suit its type.
func aligned[T Element](s []T) error {
	address, alignment := uintptr(unsafe.Pointer(unsafe.SliceData(s))), unsafe.Alignof(*new(T))
	if len(s) == 0 || address%alignment == 0 {
		return nil
	}
	return ffi.Fault{Rule: ffi.RuleAlignment, Axis: -1, Got: int64(address), Beside: int64(alignment), Argument: true}.Err()
}

// StridedView returns a view of the memory of s whose first element is s[0]. Strides count elements and are not negative; what
// they reach must lie in s.
func StridedView[T Element](s []T, shape, strides []int64) (View[T], error) {
	if s == nil { // which would be missing data, and is a slice that is too short
		s = []T{}
	}
	v, err := FromRawParts[T](unsafe.Pointer(unsafe.SliceData(s)), ffi.DLDevice{DeviceType: ffi.CPU}, shape, strides)
	if err != nil {
		return View[T]{}, err
	}
	low, high := ffi.Span(v.shape(), v.strides())
	if low < 0 {
		for axis, stride := range v.strides() {
			if stride < 0 && v.shape()[axis] > 1 {
				return View[T]{}, &LayoutError{Axis: axis, Got: stride, Want: -stride, Fix: "view the slice from its beginning, and turn the axis around with Slice"}
			}
		}
	}
	if ffi.Numel(v.shape()) > 0 && high >= int64(len(s)) {
		return View[T]{}, &LengthError{What: "the slice", Got: len(s), Want: int(min(high, math.MaxInt-1)) + 1, Fix: "make it as long as shape and strides reach"}
	}
	return v, nil
}

// StridedMutView is StridedView for a slice that may be written to; strides that let elements share memory are refused.
func StridedMutView[T Element](s []T, shape, strides []int64) (MutView[T], error) {
	v, err := StridedView(s, shape, strides)
	if err != nil {
		return MutView[T]{}, err
	}
	v.meta.traits &^= readOnly
	return MutViewOf[T](v.anyView)
}

// SliceMutView is SliceView for a slice that may be written to.
func SliceMutView[T Element](s []T, shape ...int) (MutView[T], error) {
	v, err := SliceView(s, shape...)
	if err != nil {
		return MutView[T]{}, err
	}
	v.meta.traits &^= readOnly
	return MutView[T]{v}, nil
}

// FromRawParts returns a read-only view of memory that something else keeps: a buffer of a C library, or of a GPU. Strides
// count elements; nil stands for row-major. What the validator refuses is refused. The caller promises that the memory
// is there and stays until the last use of the view.
func FromRawParts[T Element](data unsafe.Pointer, device ffi.DLDevice, shape, strides []int64) (View[T], error) {
	v, err := Describe(data, device, DTypeOf[T](), shape, strides, ffi.FlagReadOnly)
	return View[T]{v}, err
}

// FromRawPartsMut is FromRawParts for memory that may be written to; strides that let elements share memory are refused.
func FromRawPartsMut[T Element](data unsafe.Pointer, device ffi.DLDevice, shape, strides []int64) (MutView[T], error) {
	v, err := Describe(data, device, DTypeOf[T](), shape, strides, 0)
	if err != nil {
		return MutView[T]{}, err
	}
	return MutViewOf[T](v)
}

// Describe is FromRawParts for a dtype that is known only at run time, or has no Go type. Flags that DLPack 1.3 does not
// define are refused.
func Describe(data unsafe.Pointer, device ffi.DLDevice, dtype ffi.DLDataType, shape, strides []int64, flags ffi.Flags) (AnyView, error) {
	if strides != nil && len(strides) != len(shape) {
		return AnyView{}, &LengthError{What: "strides", Got: len(strides), Want: len(shape), Fix: "give one for each extent, or nil for row-major"}
	}
	if unknown := flags &^ ffi.Flags(dlpackTraits); unknown != 0 {
		return AnyView{}, ffi.Fault{Rule: ffi.RuleFlags, Axis: -1, Got: int64(unknown), Beside: ffi.Minor, Argument: true}.Err()
	}
	v, err := FromDescriptor(&ffi.DLTensor{
		Data:    data,
		Device:  device,
		NDim:    int32(min(len(shape), math.MaxInt32)),
		DType:   dtype,
		Shape:   unsafe.SliceData(shape),
		Strides: unsafe.SliceData(strides),
	}, flags)
	return v, ffi.OfArgument(err)
}

// FromDescriptor is FromRawParts for a descriptor, whose shape and strides are copied. Flags that DLPack 1.3 does not define
// are left out: a producer of a newer version may have set them, and they change nothing in what is known here.
func FromDescriptor(d *ffi.DLTensor, flags ffi.Flags) (AnyView, error) {
	if err := ffi.ValidateFlagged(d, flags); err != nil {
		return AnyView{}, err
	}
	v := newMetadata(int(d.NDim)).copyOf(d, flags)
	if v.adrift() {
		return AnyView{}, ErrAddress
	}
	if v.meta.device.HostAccessible() {
		v.meta.traits |= goMemory // it may be: pinning it if it is not does no harm
	}
	return v, nil
}

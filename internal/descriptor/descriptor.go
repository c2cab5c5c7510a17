// Package descriptor builds tensor descriptors for tests: sound ones, and such as no honest producer would write.
package descriptor

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Description is the content of a descriptor. Nil slices stand for NULL.
type Description struct {
	Major, Minor   uint32
	Flags          ffi.Flags
	Data           uint64
	ByteOffset     uint64
	Device         ffi.DLDevice
	NDim           int32
	DType          ffi.DLDataType
	Shape, Strides []int64
}

// New returns the description of a sound float32 tensor on the CPU, with the given shape and NULL strides. Its data is
// an address that nobody may read.
func New(shape ...int64) *Description {
	return &Description{
		Major: ffi.Major, Minor: ffi.Minor,
		Data:   0x5000_0000_0000,
		Device: ffi.DLDevice{DeviceType: ffi.CPU},
		NDim:   int32(len(shape)),
		DType:  ffi.DTFloat32,
		Shape:  shape,
	}
}

// Versioned returns the descriptor. It points to the slices of d as C memory would, unseen by the garbage collector, so
// d must be kept alive (runtime.KeepAlive) while it is in use. It panics when NDim lets somebody read past the slices.
func (d *Description) Versioned() *ffi.DLManagedTensorVersioned {
	if d.NDim <= ffi.MaxNDim && (short(d.Shape, d.NDim) || short(d.Strides, d.NDim)) {
		panic("descriptor: shape and strides must have NDim entries, or be nil")
	}
	d.Shape, d.Strides = onHeap(d.Shape), onHeap(d.Strides)
	// Memory without pointers, in the eyes of the garbage collector and of cgo: what stands in it may point anywhere.
	memory := new([unsafe.Sizeof(ffi.DLManagedTensorVersioned{}) / 8]uint64)
	m := (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(memory))
	m.Version = ffi.DLPackVersion{Major: d.Major, Minor: d.Minor}
	m.Flags = d.Flags
	m.DLTensor.Device = d.Device
	m.DLTensor.NDim = d.NDim
	m.DLTensor.DType = d.DType
	m.DLTensor.ByteOffset = d.ByteOffset
	// As integers: a pointer into nowhere must never be the value of a Go pointer.
	*(*uint64)(unsafe.Pointer(&m.DLTensor.Data)) = d.Data
	*(*uintptr)(unsafe.Pointer(&m.DLTensor.Shape)) = address(d.Shape)
	*(*uintptr)(unsafe.Pointer(&m.DLTensor.Strides)) = address(d.Strides)
	return m
}

// onHeap returns a copy of s that stays where it is: a slice that the compiler has put on the stack moves with it, and the
// address of it that a descriptor holds does not.
//
//go:noinline
func onHeap(s []int64) []int64 { return slices.Clone(s) }

// Tensor is the tensor of Versioned.
func (d *Description) Tensor() *ffi.DLTensor { return &d.Versioned().DLTensor }

// short reports whether axes is there, and has fewer than ndim entries.
func short(axes []int64, ndim int32) bool { return axes != nil && len(axes) < int(ndim) }

// address is the address of the first entry; a slice without entries is no NULL either.
func address(axes []int64) uintptr {
	if axes == nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(axes)))
}

// interesting holds the extents and strides at which layout arithmetic goes wrong.
var interesting = [...]int64{
	0, 1, 2, 3, 4, 5, 7, 8, 16, 60, 255, 1 << 16, 1 << 30, 1<<31 - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 58, 1 << 59, 1 << 60,
	1 << 61, 1 << 62, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, -1, -2, -3, -4, -16, -1 << 31,
	-1 << 32, -1 << 62,
}

// Axes reads extents and strides from fuzzed bytes: a number selects an interesting value, anything above the last of
// them takes the value from the eight bytes that follow. When the bytes end short there are fewer axes.
func Axes(data []byte) (shape, strides []int64) {
	shape, strides = []int64{}, []int64{}
	for len(shape) < ffi.MaxNDim+1 {
		extent, rest, ok := number(data)
		if !ok {
			break
		}
		stride, rest, ok := number(rest)
		if !ok {
			break
		}
		shape, strides, data = append(shape, extent), append(strides, stride), rest
	}
	return shape, strides
}

func number(data []byte) (value int64, rest []byte, ok bool) {
	switch {
	case len(data) == 0:
		return 0, nil, false
	case int(data[0]) < len(interesting):
		return interesting[data[0]], data[1:], true
	case len(data) < 9:
		return 0, nil, false
	}
	return int64(binary.LittleEndian.Uint64(data[1:])), data[9:], true
}

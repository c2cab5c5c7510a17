package ffi_test

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// A descriptor over a Go slice, for as long as the slice stays where it is.
func ExampleValidate() {
	data := []float32{1, 2, 3, 4, 5, 6}
	shape := []int64{2, 3}
	tensor := &ffi.DLTensor{
		Data:   unsafe.Pointer(unsafe.SliceData(data)),
		Device: ffi.DLDevice{DeviceType: ffi.CPU},
		NDim:   2,
		DType:  ffi.DTFloat32,
		Shape:  unsafe.SliceData(shape),
	}
	fmt.Println(ffi.Validate(tensor))

	shape[1] = -3
	err := ffi.Validate(tensor)
	fmt.Println(err)
	var extent *ffi.ExtentError
	if errors.As(err, &extent) {
		fmt.Println("axis", extent.Axis, "got", extent.Got, "want", extent.Want())
	}
	runtime.KeepAlive(data)
	// Output:
	// <nil>
	// shape[1] is -3; an extent must be 0 or more; the producer's descriptor is broken, report it there
	// axis 1 got -3 want 0 or more
}

// What is refused can still be told apart.
func ExampleFaultOf() {
	err := ffi.ValidateVersioned(&ffi.DLManagedTensorVersioned{Version: ffi.DLPackVersion{Major: 2}})
	fault, _ := ffi.FaultOf(err)
	fmt.Println(fault.Rule, errors.Is(err, ffi.ErrVersion), errors.Is(err, ffi.ErrInvalid))
	// Output: version true true
}

func ExampleParseDType() {
	dtype, err := ffi.ParseDType("complex64")
	fmt.Println(dtype.Code, dtype.Bits, dtype.Lanes, err)
	fmt.Println(ffi.DTFloat8E4M3FN, ffi.DLDataType{Code: ffi.Float, Bits: 32, Lanes: 4})
	_, err = ffi.ParseDType("float33")
	fmt.Println(err)
	// Output:
	// complex 64 1 <nil>
	// float8_e4m3fn float32x4
	// ffi: dtype "float33" is unknown; examples are float32, int64, uint8, bool, complex64, bfloat16, float8_e4m3fn, float32x4
}

func ExampleParseDevice() {
	device, _ := ffi.ParseDevice("cuda:1")
	fmt.Println(device, device.HostAccessible())
	// Output: cuda:1 false
}

func ExampleFlags() {
	fmt.Println(ffi.FlagReadOnly | ffi.FlagIsCopied)
	// Output: read-only|copied
}

func ExampleDLPackVersion() {
	fmt.Println(ffi.Version())
	// Output: 1.3
}

// Three packed elements of four bits take two bytes; padded, three.
func ExamplePackedSize() {
	fmt.Println(ffi.PackedSize(ffi.DTFloat4E2M1FN, 0, 3))
	fmt.Println(ffi.PackedSize(ffi.DTFloat4E2M1FN, ffi.FlagSubbytePadded, 3))
	// Output:
	// 2
	// 3
}

func ExampleCheckedSize() {
	elements, size, err := ffi.CheckedSize(ffi.DTFloat64, 0, []int64{1000, 1000})
	fmt.Println(elements, size, err)
	_, _, err = ffi.CheckedSize(ffi.DTFloat64, 0, []int64{1 << 40, 1 << 40})
	fmt.Println(errors.Is(err, ffi.ErrSize))
	// Output:
	// 1000000 8000000 <nil>
	// true
}

// The rows of a matrix in reverse order: the first element is the highest but for its row.
func ExampleSpan() {
	shape, strides := []int64{2, 3}, []int64{-3, 1}
	low, high := ffi.Span(shape, strides)
	fmt.Println(low, high, ffi.IsContiguous(shape, strides), ffi.RowMajorStrides(shape))
	// Output: -3 2 false [3 1]
}

// Writing through the strides of a broadcast tensor would write elements twice.
func ExampleMayOverlap() {
	fmt.Println(ffi.MayOverlap([]int64{4, 3}, []int64{3, 1}), ffi.MayOverlap([]int64{4, 3}, []int64{0, 1}))
	// Output: false true
}

func ExampleElementOffset() {
	fmt.Println(ffi.ElementOffset([]int64{3, 1}, []int64{1, 2}))
	// Output: 5
}

func ExampleCheckStream() {
	cuda := ffi.DLDevice{DeviceType: ffi.CUDA}
	fmt.Println(ffi.CheckStream(cuda, ffi.NoStream))
	fmt.Println(ffi.CheckStream(cuda, ffi.StreamOf(0)))
	// Output:
	// <nil>
	// stream is 0 for cuda:0; None, -1, 1, 2 or a handle above 2 is accepted (0 is ambiguous); pass 1 for the legacy default stream
}

package pyglue

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/safe"
)

// encoder writes a result of type T to its place in the frame.
type encoder[T any] struct {
	kind   int
	encode func(*C.call_result, T) error
}

// encoderOf picks the encoder for T, once, when a function is declared.
func encoderOf[T any]() encoder[T] {
	var zero T
	switch any(zero).(type) {
	case *safe.Tensor:
		return encode[T](C.KIND_TENSOR, encodeTensor)
	case float64:
		return encode[T](C.KIND_FLOAT, func(r *C.call_result, v float64) error { r.real = C.double(v); return nil })
	case int:
		return encode[T](C.KIND_INT, func(r *C.call_result, v int) error { r.integer = C.int64_t(v); return nil })
	case int64:
		return encode[T](C.KIND_INT, func(r *C.call_result, v int64) error { r.integer = C.int64_t(v); return nil })
	case bool:
		return encode[T](C.KIND_BOOL, func(r *C.call_result, v bool) error {
			r.integer = 0
			if v {
				r.integer = 1
			}
			return nil
		})
	case complex128:
		return encode[T](C.KIND_COMPLEX, func(r *C.call_result, v complex128) error {
			r.real, r.imaginary = C.double(real(v)), C.double(imag(v))
			return nil
		})
	case string:
		return encode[T](C.KIND_STRING, func(r *C.call_result, v string) error {
			r.text, r.integer = C.CString(v), C.int64_t(len(v))
			return nil
		})
	case []byte:
		return encode[T](C.KIND_BYTES, func(r *C.call_result, v []byte) error {
			r.text, r.integer = (*C.char)(C.CBytes(v)), C.int64_t(len(v))
			return nil
		})
	}
	panic(fmt.Sprintf("pyglue: a result of type %v cannot be returned to Python", reflect.TypeFor[T]()))
}

func encode[T any](kind int, function any) encoder[T] {
	return encoder[T]{kind, function.(func(*C.call_result, T) error)}
}

// encodeTensor hands the tensor over: it is closed for Go, and Python's from now on.
func encodeTensor(r *C.call_result, tensor *safe.Tensor) error {
	moved, err := tensor.Move()
	if err != nil {
		return err
	}
	r.owner = (*C.dlpackgo_owner)(moved.Owner)
	r.flags = C.uint64_t(moved.Flags)
	d := &moved.Descriptor
	r.tensor.data = d.Data
	r.tensor.device = C.DLDevice{device_type: C.int32_t(d.Device.DeviceType), device_id: C.int32_t(d.Device.DeviceID)}
	r.tensor.ndim = C.int32_t(d.NDim)
	r.tensor.dtype = C.DLDataType{code: C.uint8_t(d.DType.Code), bits: C.uint8_t(d.DType.Bits), lanes: C.uint16_t(d.DType.Lanes)}
	r.tensor.byte_offset = C.uint64_t(d.ByteOffset)
	extents := unsafe.Slice((*int64)(unsafe.Pointer(&r.extents[0])), len(r.extents))
	copy(extents, d.Extents())
	copy(extents[d.NDim:], d.Steps())
	return nil
}

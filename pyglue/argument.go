package pyglue

// #include "call.h"
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Optional is an argument that may be left out in Python, or be None.
type Optional[T any] struct {
	Value T
	Given bool
}

// Or returns the value, or otherwise when none was given.
func (o Optional[T]) Or(otherwise T) T {
	if o.Given {
		return o.Value
	}
	return otherwise
}

// parameter is what C has to know of one.
type parameter struct {
	kind     int
	optional bool
	dtype    ffi.DLDataType // of views; the zero value for any dtype
}

// isView reports whether the argument is a view, which is good for the call.
func (p parameter) isView() bool { return p.kind == C.KIND_VIEW || p.kind == C.KIND_MUTABLE_VIEW }

// decoder reads an argument of type T from its place in the frame.
type decoder[T any] struct {
	parameter parameter
	decode    func(*C.call_argument) T // nil for views, which C has decoded to the last bit
}

func (d *decoder[T]) from(a *C.call_argument) T {
	if d.decode != nil {
		return d.decode(a)
	}
	return *(*T)(unsafe.Pointer(&a.tensor.view)) // short enough to be inlined
}

// decoderOf picks the decoder for T, once, when a function is declared. T must be one of the types in the package
// documentation.
func decoderOf[T any]() decoder[T] {
	var zero T
	switch v := any(zero).(type) {
	case float64:
		return scalar[T](C.KIND_FLOAT, func(a *C.call_argument) float64 { return float64(a.real) })
	case int:
		return scalar[T](C.KIND_INT, func(a *C.call_argument) int { return int(a.integer) })
	case int64:
		return scalar[T](C.KIND_INT, func(a *C.call_argument) int64 { return int64(a.integer) })
	case bool:
		return scalar[T](C.KIND_BOOL, func(a *C.call_argument) bool { return a.integer != 0 })
	case complex128:
		return scalar[T](C.KIND_COMPLEX, func(a *C.call_argument) complex128 {
			return complex(float64(a.real), float64(a.imaginary))
		})
	case string:
		return scalar[T](C.KIND_STRING, func(a *C.call_argument) string { return string(text(a)) })
	case []byte:
		return scalar[T](C.KIND_BYTES, func(a *C.call_argument) []byte { return append([]byte(nil), text(a)...) })
	case *safe.Tensor:
		return scalar[T](C.KIND_TENSOR, tensorArgument)
	case safe.AnyView:
		return decoder[T]{parameter: parameter{kind: C.KIND_VIEW}}
	case optionalArgument:
		p, decode := v.decoder()
		return decoder[T]{p, decode.(func(*C.call_argument) T)}
	case typedView:
		p := parameter{kind: C.KIND_VIEW, dtype: v.ElementType()}
		if v.Writable() {
			p.kind = C.KIND_MUTABLE_VIEW
		}
		return decoder[T]{parameter: p}
	}
	panic(fmt.Sprintf("pyglue: a parameter of type %v cannot be passed from Python", reflect.TypeFor[T]()))
}

// scalar makes a decoder of a function that returns T, although the compiler cannot know that.
func scalar[T any](kind int, decode any) decoder[T] {
	return decoder[T]{parameter{kind: kind}, decode.(func(*C.call_argument) T)}
}

// typedView is what safe.View and safe.MutView have in common.
type typedView interface {
	ElementType() ffi.DLDataType
	Writable() bool
}

func text(a *C.call_argument) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(a.text)), int(a.integer))
}

// optionalArgument is implemented by Optional alone. The decoder is a func(*C.call_argument) Optional[T].
type optionalArgument interface{ decoder() (parameter, any) }

func (Optional[T]) decoder() (parameter, any) {
	inner := decoderOf[T]()
	inner.parameter.optional = true
	return inner.parameter, func(a *C.call_argument) (o Optional[T]) {
		if o.Given = bool(a.given); o.Given {
			o.Value = inner.from(a)
		}
		return o
	}
}

// tensorArgument gives Go a reference of its own, which a Close or the garbage collector gives back.
func tensorArgument(a *C.call_argument) *safe.Tensor {
	view := &a.tensor.metadata
	tensor, err := safe.Receive(safe.Moved{
		Owner: unsafe.Pointer(C.dlpackgo_owner_retain(a.owner)),
		Descriptor: ffi.DLTensor{
			Data:       a.tensor.view.data,
			Device:     *(*ffi.DLDevice)(unsafe.Pointer(&view.device)),
			NDim:       int32(view.shape_length),
			DType:      *(*ffi.DLDataType)(unsafe.Pointer(&view.dtype)),
			Shape:      (*int64)(view.shape),
			Strides:    (*int64)(view.strides),
			ByteOffset: uint64(view.byte_offset),
		},
		Flags: ffi.Flags(view.flags),
	})
	if err != nil {
		panic(err)
	}
	return tensor
}

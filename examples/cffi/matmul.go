package main

// #include <stdlib.h>
// #include "runtime.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
	"github.com/dlpackgo/dlpackgo/safe"
)

// RegisterMatmul offers the matrix product, computed in Go, to everything in the process that speaks TVM-FFI.
func RegisterMatmul(name string) error {
	key := C.CString(name)
	defer C.free(unsafe.Pointer(key))
	return try(func() C.int { return C.runtime_register_matmul(key) })
}

// matmul_in_go is what TVM-FFI calls. Neither an error nor a panic may leave it but as an error of TVM-FFI.
//
//export matmul_in_go
func matmul_in_go(_ unsafe.Pointer, arguments *C.any_value, count C.int32_t, result *C.any_value) (status C.int) {
	defer func() {
		if problem := recover(); problem != nil {
			status = raise(fmt.Errorf("panic: %v", problem))
		}
	}()
	product, err := matmul(unsafe.Slice(arguments, int(count)))
	if err != nil {
		return raise(err)
	}
	defer product.Close()
	m, err := safe.PackVersioned(product)
	if err != nil {
		return raise(err)
	}
	status = C.runtime_return((*C.DLManagedTensorVersioned)(unsafe.Pointer(m)), result)
	if status != 0 {
		// TVM-FFI has refused it, and so it is still ours.
		if refused, err := safe.AdoptVersioned(m); err == nil {
			refused.Close()
		}
	}
	return status
}

func raise(err error) C.int {
	text := C.CString(err.Error())
	defer C.free(unsafe.Pointer(text))
	return C.runtime_raise(text)
}

func matmul(arguments []C.any_value) (product *safe.Tensor, err error) {
	if len(arguments) != 2 || arguments[0].type_index != C.TYPE_DLTENSOR_POINTER || arguments[1].type_index != C.TYPE_DLTENSOR_POINTER {
		return nil, fmt.Errorf("matmul takes two tensors")
	}
	err = borrow(arguments[0], func(a safe.View[float64]) error {
		return borrow(arguments[1], func(b safe.View[float64]) error {
			product, err = linalg.MatMul(a, b)
			return err
		})
	})
	return product, err
}

// borrow calls use with a view of an argument, which ends when use returns.
func borrow(argument C.any_value, use func(safe.View[float64]) error) error {
	return safe.Borrow((*ffi.DLTensor)(argument.pointer), ffi.FlagReadOnly, func(v safe.AnyView) error {
		typed, err := safe.ViewOf[float64](v)
		if err != nil {
			return err
		}
		return use(typed)
	})
}

package main

// #cgo CFLAGS: -O2 -Wall -Wextra -Werror -std=gnu11
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "runtime.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Open opens the library of TVM-FFI, which the functions below use.
func Open(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if problem := C.runtime_open(name); problem != nil {
		return errors.New(C.GoString(problem))
	}
	return nil
}

// try calls a function of the library. Errors belong to a thread, so the goroutine stays on it until it has the text.
func try(call func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if call() == 0 {
		return nil
	}
	var text [1024]C.char
	C.runtime_error_text(&text[0], C.size_t(len(text)))
	return errors.New(C.GoString(&text[0]))
}

// Function is a global function of TVM-FFI. Any language may have registered it.
type Function struct{ handle unsafe.Pointer }

// Find returns the global function of a name.
func Find(name string) (Function, error) {
	key := C.CString(name)
	defer C.free(unsafe.Pointer(key))
	var f Function
	err := try(func() C.int { return C.runtime_find(key, &f.handle) })
	if err == nil && f.handle == nil {
		err = fmt.Errorf("there is no global function %q", name)
	}
	return f, err
}

// Release gives the function back.
func (f Function) Release() { C.runtime_release(f.handle) }

// Call lends tensors to the function and returns the tensor that it returns, which the caller closes.
func (f Function) Call(arguments ...safe.AsDLTensor) (*safe.Tensor, error) {
	var result *C.DLManagedTensorVersioned
	err := safe.LendAll(arguments, nil, func(lent, _ []*ffi.DLManagedTensor) error {
		first := (**C.DLManagedTensor)(unsafe.Pointer(unsafe.SliceData(lent)))
		return try(func() C.int { return C.runtime_call(f.handle, first, C.int32_t(len(lent)), &result) })
	})
	if err != nil {
		return nil, err
	}
	return safe.AdoptVersioned((*ffi.DLManagedTensorVersioned)(unsafe.Pointer(result)))
}

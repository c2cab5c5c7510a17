// Command operator is a Python extension module with two operators that know no framework: one in Go, and one of a C library
// that Go lends the tensors to. They are called with arrays of NumPy, PyTorch, JAX, TensorFlow and whatever else speaks DLPack:
//
//	python examples/build.py operator
//	PYTHONPATH=out/operator python examples/operator/main.py
package main

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror
// #include "module.h"
// #include "scale.h"
import "C"

import (
	"errors"
	"math"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// gelu returns x * Phi(x), the Gaussian error linear unit, of every element.
func gelu[T float32 | float64](x safe.View[T]) (*safe.Tensor, error) {
	shape := make([]int, x.NDim())
	for axis := range shape {
		shape[axis] = x.Dim(axis)
	}
	result, err := safe.New[T](shape...)
	if err != nil {
		return nil, err
	}
	out, err := safe.Data[T](result)
	if err != nil {
		return nil, err
	}
	if err := x.CopyTo(out); err != nil {
		return nil, err
	}
	for i, v := range out {
		out[i] = T(0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
	return result, nil
}

// scale multiplies the elements of x in place. The work is done by a C library, which gets the caller's memory.
func scale(x safe.MutView[float32], factor float64) error {
	return safe.LendMut(x, func(m *ffi.DLManagedTensor) error {
		if C.operator_scale((*C.DLTensor)(unsafe.Pointer(&m.DLTensor)), C.float(factor)) != 0 {
			return errors.New("the operator takes row-major memory only; pass a contiguous array")
		}
		return nil
	})
}

func init() {
	m := pyglue.Module("operators")
	m.Def("gelu", pyglue.Args("x"), pyglue.Func1(gelu[float32]), pyglue.Func1(gelu[float64]),
		pyglue.Doc("The Gaussian error linear unit of every element."))
	m.Def("scale", pyglue.Args("x", "factor"), pyglue.Func2R0(scale),
		pyglue.Doc("Multiply the elements of x by factor, in place."))
}

func main() {}

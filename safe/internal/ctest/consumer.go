// Package ctest is the C side of the tests of package safe: cgo is not to be had in test files.
package ctest

// #cgo CFLAGS: -O2 -Wall -Wextra -Werror -Wno-unused-parameter -std=gnu11
// #include "consumer.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

func managed(m *ffi.DLManagedTensor) *C.DLManagedTensor {
	return (*C.DLManagedTensor)(unsafe.Pointer(m))
}

func versioned(m *ffi.DLManagedTensorVersioned) *C.DLManagedTensorVersioned {
	return (*C.DLManagedTensorVersioned)(unsafe.Pointer(m))
}

func tensor(t *ffi.DLTensor) *C.DLTensor { return (*C.DLTensor)(unsafe.Pointer(t)) }

func extents(shape []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(shape)) }

// Borrow returns a dlpackgo_view of t, with its metadata behind it, to be freed with FreeAllocated.
func Borrow(t *ffi.DLTensor) unsafe.Pointer { return C.ctest_borrow(tensor(t)) }

// Ignore calls an empty C function.
func Ignore(p unsafe.Pointer) { C.ctest_ignore(p) }

// Allocate calls malloc.
func Allocate(size int) unsafe.Pointer { return C.ctest_allocate(C.size_t(size)) }

// FreeAllocated calls free.
func FreeAllocated(p unsafe.Pointer) { C.ctest_free(p) }

// Sum returns the sum of a float32 tensor.
func Sum(t *ffi.DLTensor) float64 { return float64(C.ctest_sum(tensor(t))) }

// Fill sets every element of a float32 tensor.
func Fill(t *ffi.DLTensor, value float32) { C.ctest_fill(tensor(t), C.float(value)) }

// Produce returns a float32 tensor with the elements 0, 1, 2, ..., whose strides are NULL.
func Produce(shape ...int64) *ffi.DLManagedTensor {
	return (*ffi.DLManagedTensor)(unsafe.Pointer(C.ctest_produce(C.int32_t(len(shape)), extents(shape))))
}

// ProduceVersioned is Produce for the struct with a version.
func ProduceVersioned(flags ffi.Flags, shape ...int64) *ffi.DLManagedTensorVersioned {
	return (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(C.ctest_produce_versioned(C.int32_t(len(shape)), extents(shape), C.uint64_t(flags))))
}

// Deleted returns how many of the produced tensors were deleted so far.
func Deleted() int { return int(C.ctest_deleted()) }

// Disown makes the deleters of two produced tensors leave elements and shape alone, so that descriptors may be spoiled, and
// returns what frees those.
func Disown(m *ffi.DLManagedTensor, v *ffi.DLManagedTensorVersioned) (free func()) {
	C.ctest_disown(managed(m), versioned(v))
	first, second := m.DLTensor, v.DLTensor
	return func() {
		C.ctest_free_parts(first.Data, unsafe.Pointer(first.Shape))
		C.ctest_free_parts(second.Data, unsafe.Pointer(second.Shape))
	}
}

// Constant returns a float32 tensor of rank 4 that stays where it is when it is deleted.
func Constant() *ffi.DLManagedTensor {
	return (*ffi.DLManagedTensor)(unsafe.Pointer(C.ctest_constant()))
}

// Delete calls the deleter of m, as a consumer does that is done with it.
func Delete(m *ffi.DLManagedTensor) { C.ctest_delete(managed(m)) }

// DeleteAll calls the deleters of all tensors at these addresses, from C.
func DeleteAll(all []uintptr) {
	C.ctest_delete_all((**C.DLManagedTensor)(unsafe.Pointer(unsafe.SliceData(all))), C.size_t(len(all)))
}

// DeleteVersioned calls the deleter of m, as a consumer does that is done with it.
func DeleteVersioned(m *ffi.DLManagedTensorVersioned) { C.ctest_delete_versioned(versioned(m)) }

// DeleteElsewhere calls the deleter of m on a thread that Go does not know.
func DeleteElsewhere(m *ffi.DLManagedTensor) { C.ctest_delete_elsewhere(managed(m)) }

// Keep keeps m for the functions below, which use it when they must not.
func Keep(m *ffi.DLManagedTensor) { C.ctest_keep(managed(m)) }

// WriteToKept writes into what Keep was given.
func WriteToKept() { C.ctest_write_to_kept() }

// DeleteKept calls the deleter of what Keep was given.
func DeleteKept() { C.ctest_delete_kept() }

// ReadKept sums up what Keep was given.
func ReadKept() float64 { return float64(C.ctest_read_kept()) }

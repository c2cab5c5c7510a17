package capsule

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror -fvisibility=hidden -fno-plt
// #include "capsule.h"
import "C"

import (
	"errors"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// PyObject is a PyObject *. Everything in this package needs the GIL, and the thread that holds it.
type PyObject = unsafe.Pointer

// Errors of consuming a capsule.
var (
	// ErrNotDLPack says that an object is no capsule, or one of another name.
	ErrNotDLPack = errors.New("capsule: not a capsule named dltensor or dltensor_versioned")
	// ErrConsumed says that somebody consumed the capsule already. Ask the producer for another one.
	ErrConsumed = errors.New("capsule: consumed already")
	// ErrPython says that the CPython API failed; Python's exception is set.
	ErrPython = errors.New("capsule: the Python exception that is set")
)

// New returns a new reference to a capsule named dltensor, which owns managed until it is consumed. When it fails,
// managed is deleted.
func New(managed *ffi.DLManagedTensor) (PyObject, error) {
	return object(C.capsule_new((*C.DLManagedTensor)(unsafe.Pointer(managed))))
}

// NewVersioned is New for a capsule named dltensor_versioned.
func NewVersioned(managed *ffi.DLManagedTensorVersioned) (PyObject, error) {
	return object(C.capsule_new_versioned((*C.DLManagedTensorVersioned)(unsafe.Pointer(managed))))
}

func object(capsule *C.PyObject) (PyObject, error) {
	if capsule == nil {
		return nil, ErrPython
	}
	return PyObject(capsule), nil
}

// Consume takes the managed tensor out of a capsule and renames the capsule, so that nobody else does. Exactly one of
// the returned structs is there when the error is nil, of the kind that the capsule's own name says. It belongs to the
// caller, whether or not it is sound: validate it, and call its deleter once.
func Consume(object PyObject) (*ffi.DLManagedTensor, *ffi.DLManagedTensorVersioned, error) {
	var managed unsafe.Pointer
	capsule := (*C.PyObject)(object)
	kind := C.capsule_inspect(capsule, &managed)
	switch {
	case kind == C.CAPSULE_OTHER:
		return nil, nil, ErrNotDLPack
	case kind == C.CAPSULE_USED || !bool(C.capsule_claim(capsule, kind)):
		return nil, nil, ErrConsumed
	case kind == C.CAPSULE_VERSIONED:
		return nil, (*ffi.DLManagedTensorVersioned)(managed), nil
	}
	return (*ffi.DLManagedTensor)(managed), nil, nil
}

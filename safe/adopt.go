package safe

// #include "owner.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Adopt returns a tensor that owns m, which a C library has given away. In every case m is no longer the caller's: its
// deleter runs exactly once, when the tensor and all that was exported from it are gone, or at once when m is refused.
//
// This struct cannot say whether its memory may be written, so the tensor is read-only. AdoptMut is for callers that know
// better.
func Adopt(m *ffi.DLManagedTensor) (*Tensor, error) { return adoptManaged(m, ffi.FlagReadOnly) }

// AdoptMut is Adopt for memory that may be written, as the documentation of the library that made it must say.
func AdoptMut(m *ffi.DLManagedTensor) (*Tensor, error) { return adoptManaged(m, 0) }

func adoptManaged(m *ffi.DLManagedTensor, flags ffi.Flags) (*Tensor, error) {
	err := ffi.ValidateManaged(m)
	if m == nil {
		return nil, err
	}
	return adopt(C.dlpackgo_owner_adopt((*C.DLManagedTensor)(unsafe.Pointer(m))), &m.DLTensor, flags, err)
}

// AdoptVersioned is Adopt for the struct with a version, which says whether its memory may be written. Another major
// version than 1 is refused, and released.
func AdoptVersioned(m *ffi.DLManagedTensorVersioned) (*Tensor, error) {
	err := ffi.ValidateVersioned(m)
	if m == nil {
		return nil, err
	}
	return adopt(C.dlpackgo_owner_adopt_versioned((*C.DLManagedTensorVersioned)(unsafe.Pointer(m))), &m.DLTensor, m.Flags, err)
}

// adopt returns the tensor of an owner, whose descriptor was refused if err is not nil.
func adopt(owner *C.dlpackgo_owner, d *ffi.DLTensor, flags ffi.Flags, err error) (*Tensor, error) {
	if owner == nil {
		return nil, &MemoryError{Bytes: C.sizeof_dlpackgo_owner}
	}
	if err == nil && inFirstPage(d) {
		err = ErrAddress
	}
	if err != nil {
		releaseOwner(owner)
		return nil, err
	}
	return copyOf(d, flags).own(owner)
}

// inFirstPage reports whether data is an address at which no system has memory, but that is not NULL. The Go runtime
// stops the process when it finds such a pointer on a stack, so none may get into a view.
func inFirstPage(d *ffi.DLTensor) bool {
	address := *(*uintptr)(unsafe.Pointer(&d.Data))
	return address-1 < 4095
}

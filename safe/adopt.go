package safe

// #include "adopt.h"
// #include "view.h"
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
	return adopt(possession{managed: unsafe.Pointer(m)}, &m.DLTensor, flags, err)
}

// AdoptVersioned is Adopt for the struct with a version, which says whether its memory may be written. Another major
// version than 1 is refused, and released.
func AdoptVersioned(m *ffi.DLManagedTensorVersioned) (*Tensor, error) {
	err := ffi.ValidateVersioned(m)
	if m == nil {
		return nil, err
	}
	return adopt(possession{managed: unsafe.Pointer(m), versioned: true}, &m.DLTensor, m.Flags, err)
}

// adopt returns the tensor of a possession whose descriptor is d, which was refused if err is not nil.
func adopt(p possession, d *ffi.DLTensor, flags ffi.Flags, err error) (*Tensor, error) {
	if err != nil {
		p.release()
		return nil, err
	}
	t := tensorLike(d, flags)
	if t.adrift() {
		p.release()
		return nil, ErrAddress
	}
	return t.own(p)
}

// firstAddress is where memory can begin; what views have instead of a smaller pointer, view.h says.
const firstAddress = C.DLPACKGO_FIRST_ADDRESS

// adrift reports whether v has elements, but data lay below firstAddress.
func (v AnyView) adrift() bool { return v.data == nil && ffi.Numel(v.shape()) != 0 }

// possession is what a tensor has to give back: one reference of an owner, or a managed tensor that was adopted and, so far,
// not shared. That one gets an owner only when it is, because an owner costs a crossing and an allocation in C.
type possession struct {
	owner     *C.dlpackgo_owner
	managed   unsafe.Pointer
	versioned bool
	shared    bool // others ask owner how many exports are out: none may be counted that was not made
}

// owned returns p with an owner.
func (p possession) owned() (possession, error) {
	if p.owner != nil {
		return p, nil
	}
	if p.versioned {
		p.owner = C.dlpackgo_owner_adopt_versioned((*C.DLManagedTensorVersioned)(p.managed))
	} else {
		p.owner = C.dlpackgo_owner_adopt((*C.DLManagedTensor)(p.managed))
	}
	if p.owner == nil {
		return p, &MemoryError{Bytes: C.sizeof_dlpackgo_owner}
	}
	return p, nil
}

// empty reports whether there is nothing to give back.
func (p possession) empty() bool { return p.owner == nil && p.managed == nil }

// release gives p back.
func (p possession) release() {
	switch {
	case p.owner != nil:
		giveBack(p.owner, C.DLPACKGO_REFERENCE)
	case p.managed != nil:
		if C.dlpackgo_discard(p.managed, C.bool(p.versioned)) {
			Collect()
		}
	}
}

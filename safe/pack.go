package safe

// #include "pack.h"
// #include "loan.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Pack returns a managed tensor over the memory of src, a tensor or a view of one, for a consumer that takes ownership: the
// memory stays until the consumer has called the deleter, on any thread, even when the tensor is closed before. What has
// no owner to share, such as a view of a plain slice, is refused with ErrUnowned. So is read-only memory, with
// ErrReadOnly: this struct cannot say so, and PackVersioned's can.
func Pack[S AsDLTensor](src S) (*ffi.DLManagedTensor, error) {
	v, owner, g, err := lendForPacking(src)
	if err != nil {
		return nil, err
	}
	defer g.end()
	if v.ReadOnly() {
		return nil, ErrReadOnly
	}
	m := C.dlpackgo_pack(owner, &g.held.loan.managed.dl_tensor)
	if m == nil {
		return nil, &MemoryError{Bytes: C.sizeof_DLManagedTensor}
	}
	return (*ffi.DLManagedTensor)(unsafe.Pointer(m)), nil
}

// PackVersioned is Pack for the struct with a version, which can also say that memory is read-only.
func PackVersioned[S AsDLTensor](src S) (*ffi.DLManagedTensorVersioned, error) {
	v, owner, g, err := lendForPacking(src)
	if err != nil {
		return nil, err
	}
	defer g.end()
	m := C.dlpackgo_pack_versioned(owner, &g.held.loan.versioned.dl_tensor, C.uint64_t(v.traits&sharedTraits))
	if m == nil {
		return nil, &MemoryError{Bytes: C.sizeof_DLManagedTensorVersioned}
	}
	return (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(m)), nil
}

// lendForPacking lends src to this package itself: so its owner stays while it gets another reference, and its
// description lies where C may see it.
func lendForPacking[S AsDLTensor](src S) (AnyView, *C.dlpackgo_owner, *guard, error) {
	v, err := src.AsDLTensor()
	if err != nil {
		return v, nil, nil, err
	}
	if v.guard == nil {
		return v, nil, nil, ErrUnowned
	}
	g, err := v.lend()
	if err != nil {
		return v, nil, nil, err
	}
	owner, err := v.guard.held.share()
	if owner == nil {
		g.end()
		if err == nil {
			err = ErrUnowned
		}
	}
	return v, owner, g, err
}

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
	owner, g, flags, err := lendForPacking(src)
	if err != nil {
		return nil, err
	}
	defer g.end()
	if flags&readOnly != 0 {
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
	owner, g, flags, err := lendForPacking(src)
	if err != nil {
		return nil, err
	}
	defer g.end()
	m := C.dlpackgo_pack_versioned(owner, &g.held.loan.managed.dl_tensor, C.uint64_t(flags&sharedTraits))
	if m == nil {
		return nil, &MemoryError{Bytes: C.sizeof_DLManagedTensorVersioned}
	}
	return (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(m)), nil
}

// lendForPacking lends src to this package itself: so its owner stays while it gets another reference, and its
// description lies where C may see it.
func lendForPacking[S AsDLTensor](src S) (owner *C.dlpackgo_owner, g *guard, flags traits, err error) {
	var lender *guard
	if t, ok := any(&src).(**Tensor); ok { // as in Lend
		if g, err = (*t).lend(); err != nil {
			return nil, nil, 0, err
		}
		lender, flags = (*t).guard, (*t).traits
	} else {
		v, err := src.AsDLTensor()
		if err != nil {
			return nil, nil, 0, err
		}
		if g, err = v.lend(); err != nil {
			return nil, nil, 0, err
		}
		lender, flags = v.guard, v.traits
	}
	if lender != nil {
		owner, err = lender.held.share()
	}
	if owner == nil {
		g.end()
		if err == nil {
			err = ErrUnowned
		}
	}
	return owner, g, flags, err
}

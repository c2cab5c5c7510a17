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
	v, l, err := lendForPacking(src)
	if err != nil {
		return nil, err
	}
	defer l.end()
	if v.ReadOnly() {
		return nil, ErrReadOnly
	}
	m := C.dlpackgo_pack(l.guard.held.owner, l.describe(&l.block.managed.dl_tensor, &v))
	if m == nil {
		return nil, &MemoryError{Bytes: C.sizeof_DLManagedTensor}
	}
	return (*ffi.DLManagedTensor)(unsafe.Pointer(m)), nil
}

// PackVersioned is Pack for the struct with a version, which can also say that memory is read-only.
func PackVersioned[S AsDLTensor](src S) (*ffi.DLManagedTensorVersioned, error) {
	v, l, err := lendForPacking(src)
	if err != nil {
		return nil, err
	}
	defer l.end()
	m := C.dlpackgo_pack_versioned(l.guard.held.owner, l.describe(&l.block.versioned.dl_tensor, &v), C.uint64_t(v.traits&sharedTraits))
	if m == nil {
		return nil, &MemoryError{Bytes: C.sizeof_DLManagedTensorVersioned}
	}
	return (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(m)), nil
}

// lendForPacking lends a view of src to this package itself, so that its owner stays while it gets another reference.
func lendForPacking[S AsDLTensor](src S) (v AnyView, l loan, err error) {
	v, err = src.AsDLTensor()
	if err != nil {
		return v, l, err
	}
	if v.guard == nil {
		return v, l, ErrUnowned
	}
	l, err = v.lend(false)
	if err == nil && v.guard.held.owner == nil {
		l.end()
		err = ErrUnowned
	}
	return v, l, err
}

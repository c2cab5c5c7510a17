package safe

// #include "owner.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Pack returns a managed tensor over the memory of src, a tensor or a view of one, for a consumer that takes ownership: the
// memory stays until the consumer has called the deleter, on any thread, even when the tensor is closed before. What has
// no owner to share, such as a view of a plain slice, is refused with ErrUnowned. So is read-only memory, with
// ErrReadOnly: this struct cannot say so, and PackVersioned's can.
func Pack[S AsDLTensor](src S) (*ffi.DLManagedTensor, error) {
	v, err := viewOf(src)
	if err != nil {
		return nil, err
	}
	return v.pack()
}

// PackVersioned is Pack for the struct with a version, which can also say that memory is read-only.
func PackVersioned[S AsDLTensor](src S) (*ffi.DLManagedTensorVersioned, error) {
	v, err := viewOf(src)
	if err != nil {
		return nil, err
	}
	return v.packVersioned()
}

func (v AnyView) pack() (*ffi.DLManagedTensor, error) {
	e, owner, err := v.export(readOnly)
	if err != nil {
		return nil, err
	}
	return e.managed(owner, v), nil
}

func (v AnyView) packVersioned() (*ffi.DLManagedTensorVersioned, error) {
	e, owner, err := v.export(0)
	if err != nil {
		return nil, err
	}
	return e.versioned(owner, v), nil
}

// export returns an envelope for v, and the owner to put into it, of which an export more is counted. Views with the refused
// traits have none.
func (v AnyView) export(refused traits) (envelope, *C.dlpackgo_owner, error) {
	switch {
	case v.meta == nil:
		return envelope{}, nil, ErrEmpty
	case v.meta.guard == nil:
		return envelope{}, nil, ErrUnowned
	}
	g := v.meta.guard
	e, err := takeEnvelope(len(v.shape()))
	if err != nil {
		return envelope{}, nil, err
	}
	// Nobody closes the tensor meanwhile: its loan is out, or one more than that.
	taken := g.take()
	if !taken {
		g.others.Add(1)
	}
	owner, err := v.countExport(refused)
	if taken {
		g.putBack()
	} else {
		g.others.Add(-1)
	}
	if err != nil {
		e.discard()
	}
	return e, owner, err
}

// countExport returns the owner of v, of which it has counted an export more.
func (v AnyView) countExport(refused traits) (*C.dlpackgo_owner, error) {
	if v.stale() {
		return nil, v.gone()
	}
	owner, err := v.meta.guard.held.share()
	switch {
	case err != nil:
		return nil, err
	case owner == nil:
		return nil, ErrUnowned
	case v.meta.traits&refused != 0:
		return nil, ErrReadOnly
	}
	atomic.AddUint64((*uint64)(unsafe.Pointer(owner)), C.DLPACKGO_EXPORT|C.DLPACKGO_REFERENCE)
	return owner, nil
}

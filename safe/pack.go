package safe

// #include "owner.h"
import "C"

import "github.com/dlpackgo/dlpackgo/ffi"

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
	e, err := takeEnvelope(len(v.shape()))
	if err != nil {
		return envelope{}, nil, err
	}
	owner, current, err := v.meta.guard.held.export(v.meta.generation)
	switch {
	case owner != nil && v.meta.traits&refused == 0:
		return e, owner, nil
	case owner != nil:
		C.dlpackgo_owner_release_export(owner)
		err = ErrReadOnly
	default:
		err = v.unshared(current, err)
	}
	e.discard()
	return envelope{}, nil, err
}

// unshared returns why the guard of v had no owner to share.
func (v AnyView) unshared(current bool, err error) error {
	switch {
	case !current:
		return v.gone()
	case err == nil:
		return ErrUnowned
	}
	return err
}

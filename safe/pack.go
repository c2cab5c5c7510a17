package safe

import "github.com/dlpackgo/dlpackgo/ffi"

// Pack returns a managed tensor over the memory of src, a tensor or a view of one, for a consumer that takes ownership: the
// memory stays until the consumer has called the deleter, on any thread, even when the tensor is closed before. What has
// no owner to share, such as a view of a plain slice, is refused with ErrUnowned. So is read-only memory, with
// ErrReadOnly: this struct cannot say so, and PackVersioned's can.
func Pack[S AsDLTensor](src S) (*ffi.DLManagedTensor, error) {
	v, err := claimedView(src)
	if err != nil {
		return nil, err
	}
	e, err := v.export(readOnly)
	if err != nil {
		return nil, err
	}
	return e.managed(v), nil
}

// PackVersioned is Pack for the struct with a version, which can also say that memory is read-only.
func PackVersioned[S AsDLTensor](src S) (*ffi.DLManagedTensorVersioned, error) {
	v, err := claimedView(src)
	if err != nil {
		return nil, err
	}
	e, err := v.export(0)
	if err != nil {
		return nil, err
	}
	return e.versioned(v), nil
}

// export returns an envelope for v. Views with the refused traits have none.
func (v AnyView) export(refused traits) (envelope, error) {
	switch {
	case v.meta == nil:
		return envelope{}, ErrEmpty
	case v.meta.guard == nil:
		return envelope{}, ErrUnowned
	}
	g, ndim := v.meta.guard, len(v.shape())
	usual := ndim <= envelopeRank && !debugging() // while debugging, the memory is to be freed with the export
	var e envelope
	if usual {
		e = g.takeAtHand(v.meta.generation)
	}
	if e.start == nil {
		var current bool
		var err error
		if e, current, err = g.held.newExport(v.meta.generation, ndim, usual); e.owner == nil {
			return envelope{}, v.unshared(current, err)
		}
	}
	if v.meta.traits&refused != 0 {
		e.discard()
		return envelope{}, ErrReadOnly
	}
	return e, nil
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

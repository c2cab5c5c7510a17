package safe

import "unsafe"

// asView returns the view in src, where S is a view or a tensor of this package, and nil for every other type: to ask for it
// by AsDLTensor would copy it several times. It may be stale, or a view of nothing.
func asView[S AsDLTensor](src *S) *AnyView {
	switch any((*S)(nil)).(type) {
	case **Tensor:
		if t := *(**Tensor)(unsafe.Pointer(src)); t != nil {
			return &t.anyView
		}
	case *AnyView,
		*View[bool], *View[int8], *View[int16], *View[int32], *View[int64], *View[int],
		*View[uint8], *View[uint16], *View[uint32], *View[uint64], *View[uint],
		*View[Float16], *View[BFloat16], *View[float32], *View[float64], *View[complex64], *View[complex128],
		*MutView[bool], *MutView[int8], *MutView[int16], *MutView[int32], *MutView[int64], *MutView[int],
		*MutView[uint8], *MutView[uint16], *MutView[uint32], *MutView[uint64], *MutView[uint],
		*MutView[Float16], *MutView[BFloat16], *MutView[float32], *MutView[float64], *MutView[complex64], *MutView[complex128]:
		return (*AnyView)(unsafe.Pointer(src))
	}
	return nil
}

// viewOf returns the view of src. It does not rely on what types of yours return: a view of nothing is an error, and so is
// one that has outlived its memory.
func viewOf[S AsDLTensor](src S) (AnyView, error) {
	if any(src) == nil { // S is an interface
		return AnyView{}, ErrEmpty
	}
	v, err := src.AsDLTensor()
	switch {
	case err != nil:
		return AnyView{}, err
	case v.dtype.Lanes == 0:
		return AnyView{}, ErrEmpty
	case v.stale():
		return AnyView{}, v.gone()
	}
	return v, nil
}

// writableView returns the view of src that may be written. It does not rely on src having asked.
func writableView[S AsDLTensorMut](src S) (AnyView, error) {
	if any(src) == nil {
		return AnyView{}, ErrEmpty
	}
	v, err := src.AsDLTensorMut()
	switch {
	case err != nil:
		return AnyView{}, err
	case v.dtype.Lanes == 0:
		return AnyView{}, ErrEmpty
	}
	return v, v.writable()
}

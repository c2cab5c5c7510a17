package safe

// viewOf returns the view of src. It does not rely on what types of yours return: a view of nothing is an error, and so is
// one that has outlived its memory.
func viewOf[S AsDLTensor](src S) (AnyView, error) {
	if any(src) == nil { // S is an interface
		return AnyView{}, ErrEmpty
	}
	v, err := src.AsDLTensor()
	if err == nil && v.stale() {
		err = v.gone()
	}
	return v, err
}

// writableView returns the view of src that may be written. It does not rely on src having asked.
func writableView[S AsDLTensorMut](src S) (AnyView, error) {
	if any(src) == nil {
		return AnyView{}, ErrEmpty
	}
	v, err := src.AsDLTensorMut()
	if err == nil {
		err = v.writable()
	}
	return v, err
}

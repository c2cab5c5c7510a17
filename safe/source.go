package safe

import (
	"fmt"
	"reflect"
)

// viewOf returns the view of src. It does not rely on what types of yours return: a view of nothing is an error, and so is
// one that has outlived its memory.
func viewOf[S AsDLTensor](src S) (v AnyView, err error) {
	if any(src) == nil { // S is an interface
		return AnyView{}, ErrEmpty
	}
	defer func() {
		if r := recover(); r != nil {
			err = ofNilSource(src, r)
		}
	}()
	v, err = src.AsDLTensor()
	if err == nil && v.stale() {
		err = v.gone()
	}
	return v, err
}

// writableView returns the view of src that may be written. It does not rely on src having asked.
func writableView[S AsDLTensorMut](src S) (v AnyView, err error) {
	if any(src) == nil {
		return AnyView{}, ErrEmpty
	}
	defer func() {
		if r := recover(); r != nil {
			err = ofNilSource(src, r)
		}
	}()
	v, err = src.AsDLTensorMut()
	if err == nil {
		err = v.writable()
	}
	return v, err
}

// ofNilSource returns the error of a nil pointer in src, whose method panicked with r because it did not look for one. All
// other panics go on: they are of a type that has something to view.
func ofNilSource(src, r any) error {
	if value := reflect.ValueOf(src); value.Kind() == reflect.Pointer && value.IsNil() {
		return fmt.Errorf("%w: the %T is nil", ErrEmpty, src)
	}
	panic(r)
}

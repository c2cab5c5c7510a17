package safe

import (
	"fmt"
	"reflect"
	"unsafe"
)

// viewOf returns the view of src. It does not rely on what types of yours return: a view of nothing is an error, and so is
// one that has outlived its memory.
func viewOf[S AsDLTensor](src S) (AnyView, error) {
	v, err := claimedView(src)
	if err == nil && v.stale() {
		err = v.gone()
	}
	return v, err
}

// claimedView returns what src says is its view, for those who find out themselves whether it is stale.
func claimedView[S AsDLTensor](src S) (AnyView, error) {
	if mayBeNil(&src) {
		return viewOfNil(src, S.AsDLTensor)
	}
	return src.AsDLTensor()
}

// writableView returns the view of src that may be written. It does not rely on src having asked.
func writableView[S AsDLTensorMut](src S) (AnyView, error) {
	var v AnyView
	var err error
	if mayBeNil(&src) {
		v, err = viewOfNil(src, S.AsDLTensorMut)
	} else {
		v, err = src.AsDLTensorMut()
	}
	if err == nil {
		err = v.writable()
	}
	return v, err
}

// mayBeNil reports whether src may be a nil pointer, or a nil interface, or an interface that holds a nil pointer. It is quick:
// of other types that are as large it may be true as well.
func mayBeNil[S any](src *S) bool {
	switch unsafe.Sizeof(*src) {
	case unsafe.Sizeof(uintptr(0)):
		return *(*uintptr)(unsafe.Pointer(src)) == 0
	case unsafe.Sizeof(any(nil)):
		return (*[2]uintptr)(unsafe.Pointer(src))[1] == 0 // where an interface holds a pointer
	}
	return false
}

// viewOfNil is view for a src that may be nil. Its type may have a view of nil, or may panic because it did not look for it.
func viewOfNil[S any](src S, view func(S) (AnyView, error)) (v AnyView, err error) {
	if any(src) == nil { // S is an interface
		return AnyView{}, ErrEmpty
	}
	defer func() {
		if value := reflect.ValueOf(src); value.Kind() == reflect.Pointer && value.IsNil() && recover() != nil {
			err = fmt.Errorf("%w: the %T is nil", ErrEmpty, src)
		}
	}()
	return view(src)
}

package safe

import (
	"errors"
	"iter"
	"runtime"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/memory"
)

// Reading and writing go through v.data, which the garbage collector knows nothing of when it is C memory. What keeps the
// tensor is v.meta: hence the runtime.KeepAlive after the last access in each function below.

// At returns one element. It takes one index per axis, counted from 0: another number of them is a RankError, one outside its
// axis an IndexError. Like all that reads elements it returns a ReleasedError when the view has outlived its memory, and a
// DeviceError where the host cannot reach it.
func (v View[T]) At(index ...int) (T, error) {
	p, err := v.element(index, unsafe.Sizeof(*new(T)))
	if err != nil {
		var zero T
		return zero, err
	}
	if v.holdsBools() {
		value := truth[T](p)
		runtime.KeepAlive(v.meta)
		return value, nil
	}
	value := *(*T)(p)
	runtime.KeepAlive(v.meta)
	return value, nil
}

// Set changes one element. It takes the indices that At takes, and refuses what At refuses.
func (v MutView[T]) Set(value T, index ...int) error {
	p, err := v.element(index, unsafe.Sizeof(value))
	if err == nil {
		*(*T)(p) = value
	}
	runtime.KeepAlive(v.meta)
	return err
}

// element returns where an element of size bytes lies.
func (v AnyView) element(index []int, size uintptr) (unsafe.Pointer, error) {
	if err := v.access(); err != nil {
		return nil, err
	}
	shape, strides := v.shape(), v.strides()
	if len(index) != len(shape) || len(index) != len(strides) {
		return nil, &RankError{Got: len(shape), Want: len(index), Fix: "give one index for each axis"}
	}
	offset := int64(0)
	for axis, i := range index {
		if uint64(i) >= uint64(shape[axis]) {
			return nil, &IndexError{Axis: axis, Got: i, Extent: int(shape[axis])}
		}
		offset += int64(i) * strides[axis]
	}
	return unsafe.Add(v.data, offset*int64(size)), nil
}

// Data returns the elements as a slice over the tensor's own memory, which nothing may write to. It lives as long as
// the view does: keep the tensor, and use the slice before it is closed. Elements that do not lie next to each other in
// row-major order are a LayoutError, and bools other than 0 and 1 a BoolError.
func (v View[T]) Data() ([]T, error) {
	if err := v.access(); err != nil {
		return nil, err
	}
	if !ffi.IsContiguous(v.shape(), v.strides()) {
		return nil, v.layoutError()
	}
	elements := unsafe.Slice((*T)(v.data), int(ffi.Numel(v.shape())))
	if v.holdsBools() {
		if err := checkBools(elements); err != nil {
			return nil, err
		}
	}
	return elements, nil
}

// Data returns the elements as a slice over the tensor's own memory, to read and to write. It lives as long as the view
// does: keep the tensor, and use the slice before it is closed. Elements that do not lie next to each other in row-major
// order are a LayoutError, and bools other than 0 and 1 a BoolError.
func (v MutView[T]) Data() ([]T, error) { return v.view.Data() }

// Span returns the tensor's own memory from its lowest to its highest element, whatever lies between, and the index of its
// first element in there: with the strides, what libraries need that take a slice and steps of their own. It lives as long
// as what Data returns.
func (v MutView[T]) Span() (memory []T, first int, err error) {
	if err := v.access(); err != nil {
		return nil, 0, err
	}
	if ffi.Numel(v.shape()) == 0 {
		return nil, 0, nil
	}
	low, high := ffi.Span(v.shape(), v.strides())
	lowest := unsafe.Add(v.data, low*int64(unsafe.Sizeof(*new(T))))
	memory = unsafe.Slice((*T)(lowest), int(high-low)+1)
	if v.holdsBools() {
		if err := checkBools(memory); err != nil {
			return nil, 0, err
		}
	}
	return memory, int(-low), nil
}

// layoutError names the innermost axis that is not row-major.
func (v AnyView) layoutError() error {
	want := int64(1)
	for axis := len(v.shape()) - 1; axis >= 0; axis-- {
		if v.shape()[axis] == 1 {
			continue
		}
		if v.strides()[axis] != want {
			return &LayoutError{Axis: axis, Got: v.strides()[axis], Want: want}
		}
		want *= v.shape()[axis]
	}
	return nil
}

// Contiguous returns the elements in row-major order: what Data returns where it can, else a copy, or a MemoryError where
// there is no memory for one.
func (v View[T]) Contiguous() ([]T, error) {
	if err := v.access(); err != nil {
		return nil, err
	}
	if ffi.IsContiguous(v.shape(), v.strides()) {
		elements, err := v.Data()
		if !errors.Is(err, ErrBool) {
			return elements, err
		}
	}
	if size := v.NBytes(); !memory.Available(int64(size)) {
		return nil, &MemoryError{Bytes: int64(size)}
	}
	elements := make([]T, int(ffi.Numel(v.shape())))
	return elements, v.CopyTo(elements)
}

// CopyTo copies the elements to dst in row-major order. The length of dst must be Size, or it is a LengthError.
func (v View[T]) CopyTo(dst []T) error {
	if err := v.access(); err != nil {
		return err
	}
	if size := int(ffi.Numel(v.shape())); len(dst) != size {
		return &LengthError{What: "the slice to copy to", Got: len(dst), Want: size, Fix: "make it as long as Size says"}
	}
	gather(dst, v.data, v.shape(), v.strides())
	if v.holdsBools() {
		repairBools(dst)
	}
	runtime.KeepAlive(v.meta)
	return nil
}

// CopyFrom sets the elements from src, which has them in row-major order. The length of src must be Size, or it is a
// LengthError.
func (v MutView[T]) CopyFrom(src []T) error {
	if err := v.access(); err != nil {
		return err
	}
	if size := int(ffi.Numel(v.shape())); len(src) != size {
		return &LengthError{What: "the slice to copy from", Got: len(src), Want: size, Fix: "make it as long as Size says"}
	}
	scatter(v.data, src, v.shape(), v.strides())
	runtime.KeepAlive(v.meta)
	return nil
}

// gather copies elements to dst in row-major order and returns the rest of dst.
func gather[T Element](dst []T, src unsafe.Pointer, shape, strides []int64) []T {
	if len(dst) == 0 {
		return dst
	}
	if len(shape) == 0 {
		dst[0] = *(*T)(src)
		return dst[1:]
	}
	step := strides[0] * int64(unsafe.Sizeof(*new(T)))
	if len(shape) > 1 {
		for i := range shape[0] {
			dst = gather(dst, unsafe.Add(src, i*step), shape[1:], strides[1:])
		}
		return dst
	}
	row, rest := dst[:shape[0]], dst[shape[0]:]
	if strides[0] == 1 {
		copy(row, unsafe.Slice((*T)(src), len(row)))
		return rest
	}
	for i := range row {
		row[i] = *(*T)(unsafe.Add(src, int64(i)*step))
	}
	return rest
}

// scatter is gather in the other direction; it returns the rest of src.
func scatter[T Element](dst unsafe.Pointer, src []T, shape, strides []int64) []T {
	if len(src) == 0 {
		return src
	}
	if len(shape) == 0 {
		*(*T)(dst) = src[0]
		return src[1:]
	}
	step := strides[0] * int64(unsafe.Sizeof(*new(T)))
	if len(shape) > 1 {
		for i := range shape[0] {
			src = scatter(unsafe.Add(dst, i*step), src, shape[1:], strides[1:])
		}
		return src
	}
	row, rest := src[:shape[0]], src[shape[0]:]
	if strides[0] == 1 {
		copy(unsafe.Slice((*T)(dst), len(row)), row)
		return rest
	}
	for i, value := range row {
		*(*T)(unsafe.Add(dst, int64(i)*step)) = value
	}
	return rest
}

// Elements returns an iterator over the elements in row-major order, whatever the strides are. It ends when the view has
// outlived its memory, in the middle of a loop, too.
func (v View[T]) Elements() (iter.Seq[T], error) {
	if err := v.access(); err != nil {
		return nil, err
	}
	return func(yield func(T) bool) {
		switch {
		case v.stale() || ffi.Numel(v.shape()) == 0:
		case v.holdsBools():
			visit(v.anyView, v.shape(), v.strides(), func(b uint8) bool { return yield(truth[T](unsafe.Pointer(&b))) })
		default:
			visit(v.anyView, v.shape(), v.strides(), yield)
		}
		runtime.KeepAlive(v.meta)
	}, nil
}

// visit hands the elements from v.data on to yield until it returns false, or has taken the memory away from v, and reports
// whether neither happened.
func visit[T Element](v AnyView, shape, strides []int64, yield func(T) bool) bool {
	if len(shape) == 0 {
		return yield(*(*T)(v.data)) && !v.stale()
	}
	first, step := v.data, strides[0]*int64(unsafe.Sizeof(*new(T)))
	if len(shape) == 1 {
		for i := range shape[0] {
			if !yield(*(*T)(unsafe.Add(first, i*step))) || v.stale() {
				return false
			}
		}
		return true
	}
	for i := range shape[0] {
		v.data = unsafe.Add(first, i*step)
		if !visit(v, shape[1:], strides[1:], yield) {
			return false
		}
	}
	return true
}

// Rows returns an iterator over the parts of v along its first axis, in order, with their index. The rows are views: ask
// one for Data to loop over its elements. It ends when v has outlived its memory. A view without axes is a RankError.
func (v View[T]) Rows() (iter.Seq2[int, View[T]], error) {
	if err := v.rows(); err != nil {
		return nil, err
	}
	return func(yield func(int, View[T]) bool) {
		if v.stale() {
			return
		}
		row, step := v.row(int64(unsafe.Sizeof(*new(T))))
		count := int(v.shape()[0])
		for i := range count {
			if !yield(i, View[T]{row}) || v.stale() {
				return
			}
			if i+1 < count {
				row.data = unsafe.Add(row.data, step)
			}
		}
		runtime.KeepAlive(v.meta)
	}, nil
}

// Rows returns an iterator over the parts of v along its first axis, in order, with their index. The rows are views: ask
// one for Data to loop over its elements. It ends when v has outlived its memory. A view without axes is a RankError.
func (v MutView[T]) Rows() (iter.Seq2[int, MutView[T]], error) {
	rows, err := v.view.Rows()
	if err != nil {
		return nil, err
	}
	return func(yield func(int, MutView[T]) bool) {
		for i, row := range rows {
			if !yield(i, MutView[T]{row}) {
				return
			}
		}
	}, nil
}

// rows returns nil when v can be taken apart along its first axis.
func (v AnyView) rows() error {
	if err := v.access(); err != nil {
		return err
	}
	if len(v.shape()) == 0 {
		return &RankError{Got: 0, Want: 1, AtLeast: true}
	}
	return nil
}

// row returns the first part of v along its first axis, and the bytes from one to the next. Parts without elements all
// lie in one place.
func (v AnyView) row(size int64) (AnyView, int64) {
	row, step := v, v.strides()[0]*size
	row.axis++
	if ffi.Numel(row.shape()) == 0 {
		step = 0
	}
	return row, step
}

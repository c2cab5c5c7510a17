package safe

import (
	"slices"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Sub returns the part of v at index i of its first axis. It has one axis less and allocates nothing.
func (v AnyView) Sub(i int) (AnyView, error) {
	if err := v.divisible(); err != nil {
		return AnyView{}, err
	}
	if len(v.shape) == 0 {
		return AnyView{}, &RankError{Got: 0, Want: 1, AtLeast: true}
	}
	if uint64(i) >= uint64(v.shape[0]) {
		return AnyView{}, &IndexError{Axis: 0, Got: i, Extent: int(v.shape[0])}
	}
	offset := int64(i) * v.strides[0]
	v.shape, v.strides = v.shape[1:], v.strides[1:]
	v.advance(offset)
	return v, nil
}

// Slice returns the part of v whose index along axis is start, start+step, ... as far as it comes before stop. A
// negative step walks down: start is below the extent then, and stop is -1 or more.
func (v AnyView) Slice(axis, start, stop, step int) (AnyView, error) {
	if err := v.divisible(); err != nil {
		return AnyView{}, err
	}
	if uint(axis) >= uint(len(v.shape)) {
		return AnyView{}, &IndexError{Axis: -1, Got: axis, Extent: len(v.shape)}
	}
	extent := int(v.shape[axis])
	reach, stride := stop-start, step
	if step < 0 {
		reach, stride = start-stop, -step
	}
	up := step > 0 && 0 <= start && stop <= extent
	down := step < 0 && -1 <= stop && start < extent
	if reach < 0 || !up && !down {
		return AnyView{}, &SliceError{Axis: axis, Start: start, Stop: stop, Step: step, Extent: extent}
	}
	count := 0
	if reach > 0 {
		count = 1 + (reach-1)/stride
	}
	offset := int64(start) * v.strides[axis]
	v.shape, v.strides = slices.Clone(v.shape), slices.Clone(v.strides)
	v.shape[axis] = int64(count)
	// With one element or none the stride means nothing, and step could make it overflow.
	if count > 1 {
		v.strides[axis] *= int64(step)
	}
	if count > 0 {
		v.advance(offset)
	}
	return v, nil
}

// Transpose returns v with its axes in another order: axis i of the result is axis axes[i] of v. Without arguments the
// order is reversed.
func (v AnyView) Transpose(axes ...int) (AnyView, error) {
	if err := v.divisible(); err != nil {
		return AnyView{}, err
	}
	ndim := len(v.shape)
	if len(axes) != 0 && len(axes) != ndim {
		return AnyView{}, &RankError{Got: ndim, Want: len(axes)}
	}
	shape, strides := make([]int64, ndim), make([]int64, ndim)
	seen := uint64(0)
	for i := range ndim {
		axis := ndim - 1 - i
		if len(axes) != 0 {
			axis = axes[i]
		}
		if uint(axis) >= uint(ndim) || seen>>axis&1 != 0 {
			return AnyView{}, &IndexError{Axis: -1, Got: axis, Extent: ndim}
		}
		seen |= 1 << axis
		shape[i], strides[i] = v.shape[axis], v.strides[axis]
	}
	v.shape, v.strides = shape, strides
	return v, nil
}

// Reshape returns v with other extents and the same elements in the same order. Where that needs a copy it is a
// LayoutError.
func (v AnyView) Reshape(shape ...int) (AnyView, error) {
	if v.stale() {
		return AnyView{}, v.gone()
	}
	extents, err := extentsOf(shape, v.dtype)
	if err != nil {
		return AnyView{}, err
	}
	if got, want := ffi.Numel(extents), ffi.Numel(v.shape); got != want {
		return AnyView{}, &LengthError{What: "the new shape", Got: int(got), Want: int(want), Fix: "the product of its extents must be Size"}
	}
	strides, err := v.reshapedStrides(extents)
	if err != nil {
		return AnyView{}, err
	}
	v.shape, v.strides = extents, strides
	return v, nil
}

// reshapedStrides finds the strides that make v look like shape, which has as many elements. Runs of axes of v and of
// shape that count the same elements are matched from the left; each run of v must be one block that can be cut anew.
func (v *AnyView) reshapedStrides(shape []int64) ([]int64, error) {
	strides := ffi.RowMajorStrides(shape)
	if ffi.Numel(shape) == 0 || ffi.IsContiguous(v.shape, v.strides) {
		return strides, nil
	}
	oldAxes := make([]int, 0, len(v.shape))
	for axis, extent := range v.shape {
		if extent != 1 {
			oldAxes = append(oldAxes, axis)
		}
	}
	first, next := 0, 0
	for first < len(oldAxes) {
		last := first
		oldCount, newCount, end := v.shape[oldAxes[first]], int64(1), next
		for oldCount != newCount || end == next {
			if newCount < oldCount {
				newCount *= shape[end]
				end++
			} else {
				last++
				oldCount *= v.shape[oldAxes[last]]
			}
		}
		for i := first; i < last; i++ {
			axis, inner := oldAxes[i], oldAxes[i+1]
			if want := v.shape[inner] * v.strides[inner]; v.strides[axis] != want {
				return nil, &LayoutError{Axis: axis, Got: v.strides[axis], Want: want}
			}
		}
		stride := v.strides[oldAxes[last]]
		for i := end - 1; i >= next; i-- {
			strides[i] = stride
			stride *= shape[i]
		}
		first, next = last+1, end
	}
	return strides, nil
}

// divisible returns nil when parts of v can be addressed.
func (v *AnyView) divisible() error {
	if v.stale() {
		return v.gone()
	}
	if v.dtype.IsPacked(v.Flags()) {
		return ErrPacked
	}
	return nil
}

// advance moves the first element of v by some elements, unless there are none: an empty view stays where it is.
func (v *AnyView) advance(elements int64) {
	if ffi.Numel(v.shape) == 0 {
		return
	}
	bytes := elements * ffi.ItemSize(v.dtype)
	if v.device.DeviceType.Addressable() {
		v.data = unsafe.Add(v.data, bytes)
	} else {
		v.byteOffset += uint64(bytes)
	}
}

// Sub returns the part of v at index i of its first axis. It has one axis less and allocates nothing.
func (v View[T]) Sub(i int) (View[T], error) {
	part, err := v.anyView.Sub(i)
	return View[T]{part}, err
}

// Sub returns the part of v at index i of its first axis. It has one axis less and allocates nothing.
func (v MutView[T]) Sub(i int) (MutView[T], error) {
	part, err := v.view.Sub(i)
	return MutView[T]{part}, err
}

// Slice returns the part of v whose index along axis is start, start+step, ... as far as it comes before stop; see
// AnyView.Slice.
func (v View[T]) Slice(axis, start, stop, step int) (View[T], error) {
	part, err := v.anyView.Slice(axis, start, stop, step)
	return View[T]{part}, err
}

// Slice returns the part of v whose index along axis is start, start+step, ... as far as it comes before stop; see
// AnyView.Slice.
func (v MutView[T]) Slice(axis, start, stop, step int) (MutView[T], error) {
	part, err := v.view.Slice(axis, start, stop, step)
	return MutView[T]{part}, err
}

// Transpose returns v with its axes in another order: axis i of the result is axis axes[i] of v. Without arguments the
// order is reversed.
func (v View[T]) Transpose(axes ...int) (View[T], error) {
	turned, err := v.anyView.Transpose(axes...)
	return View[T]{turned}, err
}

// Transpose returns v with its axes in another order: axis i of the result is axis axes[i] of v. Without arguments the
// order is reversed.
func (v MutView[T]) Transpose(axes ...int) (MutView[T], error) {
	turned, err := v.view.Transpose(axes...)
	return MutView[T]{turned}, err
}

// Reshape returns v with other extents and the same elements in the same order. Where that needs a copy it is a
// LayoutError.
func (v View[T]) Reshape(shape ...int) (View[T], error) {
	reshaped, err := v.anyView.Reshape(shape...)
	return View[T]{reshaped}, err
}

// Reshape returns v with other extents and the same elements in the same order. Where that needs a copy it is a
// LayoutError.
func (v MutView[T]) Reshape(shape ...int) (MutView[T], error) {
	reshaped, err := v.view.Reshape(shape...)
	return MutView[T]{reshaped}, err
}

// extentsOf returns shape as extents, which may not be negative and must count few enough elements.
func extentsOf(shape []int, dtype ffi.DLDataType) ([]int64, error) {
	extents := make([]int64, len(shape))
	for axis, extent := range shape {
		extents[axis] = int64(extent)
	}
	_, _, err := ffi.CheckedSize(dtype, 0, extents)
	return extents, err
}

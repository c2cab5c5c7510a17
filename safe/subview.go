package safe

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Sub returns the part of v at index i of its first axis. It has one axis less. On devices whose memory has
// addresses it allocates nothing. An index outside the axis is an IndexError, a view without axes a RankError.
func (v AnyView) Sub(i int) (AnyView, error) {
	if err := v.divisible(); err != nil {
		return AnyView{}, err
	}
	shape := v.shape()
	if len(shape) == 0 {
		return AnyView{}, &RankError{Got: 0, Want: 1, AtLeast: true}
	}
	if uint64(i) >= uint64(shape[0]) {
		return AnyView{}, &IndexError{Axis: 0, Got: i, Extent: int(shape[0])}
	}
	offset := int64(i) * v.strides()[0]
	v.axis++
	return v.advance(offset)
}

// Slice returns the part of v whose index along axis is start, start+step, ... as far as it comes before stop. A
// negative step walks down: start is below the extent then, and stop is -1 or more. Other bounds are a SliceError: none are
// counted from the end, and none are cut to size.
func (v AnyView) Slice(axis, start, stop, step int) (AnyView, error) {
	if err := v.divisible(); err != nil {
		return AnyView{}, err
	}
	shape := v.shape()
	if uint(axis) >= uint(len(shape)) {
		return AnyView{}, &IndexError{Axis: -1, Got: axis, Extent: len(shape)}
	}
	extent := int(shape[axis])
	up := step > 0 && 0 <= start && start <= stop && stop <= extent
	down := step < 0 && -1 <= stop && stop <= start && start < extent
	if !up && !down {
		return AnyView{}, &SliceError{Axis: axis, Start: start, Stop: stop, Step: step, Extent: extent}
	}
	reach, stride := stop-start, step
	if down {
		reach, stride = start-stop, -step
	}
	count := 0
	if reach > 0 {
		count = 1 + (reach-1)/stride
	}
	offset := int64(start) * v.strides()[axis]
	part := v.like(shape, v.strides())
	part.meta.shape[axis] = int64(count)
	// With one element or none the stride means nothing, and step could make it overflow.
	if count > 1 {
		part.meta.strides[axis] *= int64(step)
	}
	if count == 0 {
		return part, nil
	}
	return part.advance(offset)
}

// Transpose returns v with its axes in another order: axis i of the result is axis axes[i] of v. Without arguments the
// order is reversed. Another number of axes is a RankError; one that does not exist, or is named twice, an IndexError.
func (v AnyView) Transpose(axes ...int) (AnyView, error) {
	if err := v.divisible(); err != nil {
		return AnyView{}, err
	}
	shape, strides := v.shape(), v.strides()
	ndim := len(shape)
	if len(axes) != 0 && len(axes) != ndim {
		return AnyView{}, &RankError{Got: ndim, Want: len(axes), Fix: "name each axis once, or none to reverse their order"}
	}
	turned := v.like(shape, strides)
	seen := uint64(0)
	for i := range ndim {
		axis := ndim - 1 - i
		if len(axes) != 0 {
			axis = axes[i]
		}
		if outside := uint(axis) >= uint(ndim); outside || seen>>axis&1 != 0 {
			return AnyView{}, &IndexError{Axis: -1, Got: axis, Extent: ndim, Twice: !outside}
		}
		seen |= 1 << axis
		turned.meta.shape[i], turned.meta.strides[i] = shape[axis], strides[axis]
	}
	return turned, nil
}

// Reshape returns v with other extents and the same elements in the same order. Where that needs a copy it is a
// LayoutError, and extents that count other than Size elements are a LengthError. No extent is worked out: -1 is refused.
func (v AnyView) Reshape(shape ...int) (AnyView, error) {
	if v.stale() {
		return AnyView{}, v.gone()
	}
	extents, err := extentsOf(shape, v.meta.dtype)
	if err != nil {
		return AnyView{}, err
	}
	if got, want := ffi.Numel(extents), ffi.Numel(v.shape()); got != want {
		return AnyView{}, &LengthError{What: "the new shape", Got: int(got), Want: int(want), Fix: "the product of its extents must be Size"}
	}
	strides, err := v.reshapedStrides(extents)
	if err != nil {
		return AnyView{}, err
	}
	return v.like(extents, strides), nil
}

// like returns a view of the elements of v with a shape and strides of its own, copied from these.
func (v AnyView) like(shape, strides []int64) AnyView {
	m := newMetadata(len(shape))
	extents, steps := m.shape, m.strides
	*m = *v.meta
	m.shape, m.strides = extents, steps
	copy(extents, shape)
	copy(steps, strides)
	return AnyView{data: v.data, meta: m}
}

// reshapedStrides finds the strides that make v look like shape, which has as many elements. Runs of axes of v and of
// shape that count the same elements are matched from the left; each run of v must be one block that can be cut anew.
func (v AnyView) reshapedStrides(shape []int64) ([]int64, error) {
	strides, oldShape, oldStrides := ffi.RowMajorStrides(shape), v.shape(), v.strides()
	if ffi.Numel(shape) == 0 || ffi.IsContiguous(oldShape, oldStrides) {
		return strides, nil
	}
	oldAxes := make([]int, 0, len(oldShape))
	for axis, extent := range oldShape {
		if extent != 1 {
			oldAxes = append(oldAxes, axis)
		}
	}
	first, next := 0, 0
	for first < len(oldAxes) {
		last := first
		oldCount, newCount, end := oldShape[oldAxes[first]], int64(1), next
		for oldCount != newCount || end == next {
			if newCount < oldCount {
				newCount *= shape[end]
				end++
			} else {
				last++
				oldCount *= oldShape[oldAxes[last]]
			}
		}
		for i := first; i < last; i++ {
			axis, inner := oldAxes[i], oldAxes[i+1]
			if want := oldShape[inner] * oldStrides[inner]; oldStrides[axis] != want {
				return nil, &LayoutError{Axis: axis, Got: oldStrides[axis], Want: want}
			}
		}
		stride := oldStrides[oldAxes[last]]
		for i := end - 1; i >= next; i-- {
			strides[i] = stride
			stride *= shape[i]
		}
		first, next = last+1, end
	}
	return strides, nil
}

// divisible returns nil when parts of v can be addressed.
func (v AnyView) divisible() error {
	if v.stale() {
		return v.gone()
	}
	if v.meta.dtype.IsPacked(v.Flags()) {
		return ErrPacked
	}
	return nil
}

// advance returns v with its first element some elements further on, unless there are none: an empty view stays where it
// is. ErrHandle where there is no memory.
func (v AnyView) advance(elements int64) (AnyView, error) {
	bytes := elements * ffi.ItemSize(v.meta.dtype)
	switch {
	case ffi.Numel(v.shape()) == 0:
	case v.meta.device.DeviceType.Addressable():
		v.data = unsafe.Add(v.data, bytes)
	case bytes < 0 && v.meta.byteOffset < -uint64(bytes):
		return AnyView{}, ErrHandle
	default:
		v = v.like(v.shape(), v.strides())
		v.meta.byteOffset += uint64(bytes)
	}
	return v, nil
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

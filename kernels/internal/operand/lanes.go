package operand

import (
	"runtime"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Lanes is a view seen as many one-dimensional lanes: the axes that a function reduces or transforms are flattened,
// the others count the lanes in row-major order.
type Lanes[T safe.Element] struct {
	view   safe.View[T] // kept axes first
	Kept   []int        // their extents
	Length int          // elements of one lane
}

// LanesOf splits v. Without axes all of v is one lane. Errors speak of function's argument.
func LanesOf[T safe.Element](function, argument string, v safe.View[T], axes ...int) (Lanes[T], error) {
	ndim := v.NDim()
	reduced := make([]bool, ndim)
	for _, axis := range axes {
		at := axis
		if at < 0 {
			at += ndim
		}
		if at < 0 || at >= ndim {
			return Lanes[T]{}, &kernels.AxisError{Function: function, Argument: argument, Got: axis, NDim: ndim}
		}
		if reduced[at] {
			return Lanes[T]{}, &kernels.AxisError{Function: function, Argument: argument, Got: axis, NDim: ndim, Repeated: true}
		}
		reduced[at] = true
	}
	lanes := Lanes[T]{view: v, Kept: []int{}, Length: 1}
	order := make([]int, 0, ndim)
	if len(axes) > 0 {
		for axis := range ndim {
			if !reduced[axis] {
				order = append(order, axis)
				lanes.Kept = append(lanes.Kept, v.Dim(axis))
			}
		}
	}
	for axis := range ndim {
		if reduced[axis] || len(axes) == 0 {
			order = append(order, axis)
			lanes.Length *= v.Dim(axis)
		}
	}
	if ndim > 1 {
		var err error
		if lanes.view, err = v.Transpose(order...); err != nil {
			return lanes, &kernels.ArgumentError{Function: function, Argument: argument, Err: err}
		}
	}
	return lanes, nil
}

// Count returns the number of lanes.
func (l Lanes[T]) Count() int {
	count := 1
	for _, extent := range l.Kept {
		count *= extent
	}
	return count
}

// Each hands every lane to visit, with its number: over the tensor's own memory where the lane is contiguous, in a
// buffer that the next lane overwrites where it is not. Lanes are only to be read.
func (l Lanes[T]) Each(visit func(i int, lane []T) error) error {
	walk := laneWalk[T]{visit: visit, length: l.Length}
	err := walk.descend(l.view, len(l.Kept))
	runtime.KeepAlive(l.view) // the last lane is a slice, which does not keep the tensor
	return err
}

type laneWalk[T safe.Element] struct {
	visit  func(i int, lane []T) error
	length int
	next   int
	buffer []T
}

func (w *laneWalk[T]) descend(v safe.View[T], kept int) error {
	if kept > 0 {
		for i := range v.Dim(0) {
			part, err := v.Sub(i)
			if err != nil {
				return err
			}
			if err := w.descend(part, kept-1); err != nil {
				return err
			}
		}
		return nil
	}
	lane := w.buffer
	var err error
	switch {
	case v.IsContiguous():
		lane, err = v.Data()
	case lane == nil:
		w.buffer = make([]T, w.length)
		lane = w.buffer
		fallthrough
	default:
		err = v.CopyTo(lane)
	}
	if err != nil {
		return err
	}
	w.next++
	return w.visit(w.next-1, lane)
}

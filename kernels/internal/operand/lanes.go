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

// LanesOf splits v, which it refuses when it is gone. Without axes all of v is one lane. Errors speak of function's argument.
func LanesOf[T safe.Element](function, argument string, v safe.View[T], axes ...int) (Lanes[T], error) {
	if err := CheckLive(function, argument, v); err != nil {
		return Lanes[T]{}, err
	}
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
// buffer that later lanes overwrite where it is not. Lanes are only to be read.
func (l Lanes[T]) Each(visit func(i int, lane []T) error) error {
	var scratch Scratch
	defer scratch.Free()
	err := l.each(&scratch, visit)
	runtime.KeepAlive(l.view) // lanes are slices, which do not keep the tensor
	return err
}

// each finds the lanes as rows or columns of a matrix where the strides allow that, which is nearly always.
func (l Lanes[T]) each(scratch *Scratch, visit func(i int, lane []T) error) error {
	rows, cols := l.Count(), l.Length
	matrix, err := l.view.Reshape(rows, cols)
	if err != nil || matrix.Size() == 0 {
		return walkLanes(scratch, l.view, len(l.Kept), cols, visit)
	}
	data, stride, err := rowMajor(matrix)
	if err != nil {
		return err
	}
	if stride > 0 {
		for i := range rows {
			if err := visit(i, data[i*stride:i*stride+cols]); err != nil {
				return err
			}
		}
		return nil
	}
	turned, err := matrix.Transpose()
	if err != nil {
		return err
	}
	if data, stride, err = rowMajor(turned); err != nil {
		return err
	}
	if stride > 0 {
		return eachColumn(scratch, data, cols, rows, stride, visit)
	}
	return walkLanes(scratch, matrix, 1, cols, visit)
}

// Columns are copied some at a time, so that each row is read in pieces that fill cache lines, as long as the copies stay
// in the cache.
const (
	leastColumns, mostColumns = 8, 32
	copiedElements            = 1 << 15
)

// eachColumn visits the columns of a row-major matrix.
func eachColumn[T safe.Element](scratch *Scratch, data []T, rows, cols, stride int, visit func(i int, lane []T) error) error {
	width := min(max(copiedElements/rows, leastColumns), mostColumns, cols)
	buffer, err := Allocate[T](scratch, width*rows)
	if err != nil {
		return err
	}
	for first := 0; first < cols; first += width {
		width := min(width, cols-first)
		for i := range rows {
			for j, value := range data[i*stride+first : i*stride+first+width] {
				buffer[j*rows+i] = value
			}
		}
		for j := range width {
			if err := visit(first+j, buffer[j*rows:(j+1)*rows]); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkLanes visits lanes of any strides, one after the other: those below the first kept axes of v.
func walkLanes[T safe.Element](scratch *Scratch, v safe.View[T], kept, length int, visit func(i int, lane []T) error) error {
	buffer, err := Allocate[T](scratch, length)
	if err != nil {
		return err
	}
	walk := laneWalk[T]{visit: visit, buffer: buffer}
	return walk.descend(v, kept)
}

// laneWalk is the state of walkLanes.
type laneWalk[T safe.Element] struct {
	visit  func(i int, lane []T) error
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
	lane, err := w.buffer, error(nil)
	if v.IsContiguous() {
		lane, err = v.Data()
	} else {
		err = v.CopyTo(lane)
	}
	if err != nil {
		return err
	}
	w.next++
	return w.visit(w.next-1, lane)
}

// Package tensortest is what the tests of the kernels share: one content in many layouts, and comparisons of results.
package tensortest

import (
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/safe"
)

// Must returns its first argument, and fails the test on an error.
func Must[R any](t testing.TB) func(result R, err error) R {
	return func(result R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

// View returns a row-major, read-only view of elements.
func View[T safe.Element](t testing.TB, elements []T, shape ...int) safe.View[T] {
	t.Helper()
	return Must[safe.View[T]](t)(safe.SliceView(elements, shape...))
}

// Layout is a way to lay the same elements out in memory.
type Layout[T safe.Element] struct {
	Name string
	View safe.View[T]
}

// Layouts returns views that all have the given elements, in row-major order, and shape.
func Layouts[T safe.Element](t testing.TB, elements []T, shape ...int) []Layout[T] {
	t.Helper()
	must := Must[safe.View[T]](t)
	layouts := []Layout[T]{
		{"row-major", View(t, elements, shape...)},
		{"in C memory", must(safe.ViewOf[T](tensorOf(t, elements, shape)))},
	}
	if len(shape) == 0 {
		return layouts
	}
	last := len(shape) - 1
	for _, spread := range []struct {
		name      string
		axis, gap int
	}{{"gaps along the first axis", 0, 3}, {"gaps along the last axis", last, 3}, {"a wider row", last, 0}} {
		layouts = append(layouts, Layout[T]{spread.name, spreadOut(t, elements, shape, spread.axis, spread.gap)})
	}
	backwards := slices.Clone(elements)
	slices.Reverse(backwards)
	reversed := View(t, backwards, shape...)
	for axis, extent := range shape {
		reversed = must(reversed.Slice(axis, extent-1, -1, -1))
	}
	layouts = append(layouts, Layout[T]{"negative strides", reversed})
	if len(shape) > 1 {
		turned := must(View(t, elements, shape...).Transpose())
		flat := must(View(t, Must[[]T](t)(turned.Contiguous()), reversedShape(shape)...).Transpose())
		layouts = append(layouts, Layout[T]{"column-major", flat})
	}
	return layouts
}

// spreadOut returns a view of elements with a stride of gap along an axis, or, without a gap, the left part of an array
// that is three longer.
func spreadOut[T safe.Element](t testing.TB, elements []T, shape []int, axis, gap int) safe.View[T] {
	t.Helper()
	wide := slices.Clone(shape)
	step := max(1, gap)
	if gap > 0 {
		wide[axis] *= gap
	} else {
		wide[axis] += 3
	}
	size := 1
	for _, extent := range wide {
		size *= extent
	}
	mutable := Must[safe.MutView[T]](t)
	all := mutable(safe.SliceMutView(make([]T, size), wide...))
	part := mutable(all.Slice(axis, 0, step*shape[axis], step))
	if err := part.CopyFrom(elements); err != nil {
		t.Fatal(err)
	}
	return part.View()
}

func tensorOf[T safe.Element](t testing.TB, elements []T, shape []int) *safe.Tensor {
	t.Helper()
	tensor := Must[*safe.Tensor](t)(safe.New[T](shape...))
	t.Cleanup(func() {
		if err := tensor.Close(); err != nil {
			t.Error(err)
		}
	})
	copy(Must[[]T](t)(safe.Data[T](tensor)), elements)
	return tensor
}

func reversedShape(shape []int) []int {
	reversed := slices.Clone(shape)
	slices.Reverse(reversed)
	return reversed
}

package safe_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/descriptor"
	"github.com/dlpackgo/dlpackgo/safe"
)

// listed is a view as the oracle has it: its extents, and its elements one after the other. They are the numbers that
// count returns, so that an element is also where it lies.
type listed struct {
	shape    []int
	elements []float32
}

// at returns the element at index.
func (l listed) at(index []int) float32 {
	position := 0
	for axis, i := range index {
		position = position*l.shape[axis] + i
	}
	return l.elements[position]
}

// rearranged returns what has another shape, and at each index the element that l has at from(index).
func (l listed) rearranged(shape []int, from func(index []int) []int) listed {
	var elements []float32
	eachIndex(shape, func(index []int) { elements = append(elements, l.at(from(index))) })
	return listed{shape, elements}
}

// eachIndex calls visit for every index into shape, in row-major order.
func eachIndex(shape []int, visit func(index []int)) {
	index := make([]int, len(shape))
	var walk func(axis int)
	walk = func(axis int) {
		if axis == len(shape) {
			visit(index)
			return
		}
		for index[axis] = range shape[axis] {
			walk(axis + 1)
		}
	}
	walk(0)
}

// evenlySpaced reports whether there are strides for a tensor of this shape with these elements, in row-major order.
func (l listed) evenlySpaced(shape []int) bool {
	reshaped, even := listed{shape, l.elements}, true
	steps := make([]float32, len(shape))
	for axis, extent := range shape {
		if extent > 1 && len(l.elements) > 0 {
			unit := make([]int, len(shape))
			unit[axis] = 1
			steps[axis] = reshaped.at(unit) - l.elements[0]
		}
	}
	eachIndex(shape, func(index []int) {
		offset := l.elements[0]
		for axis, i := range index {
			offset += float32(i) * steps[axis]
		}
		even = even && offset == reshaped.at(index)
	})
	return even
}

// subview takes one random part, order or shape of both, and fails unless they go on saying the same.
func subview(t *testing.T, v safe.View[float32], l listed, random *rand.Rand) (safe.View[float32], listed) {
	t.Helper()
	axis := random.IntN(len(l.shape))
	switch random.IntN(4) {
	case 0:
		if l.shape[0] == 0 {
			break
		}
		i := random.IntN(l.shape[0])
		return must(v.Sub(i)), l.rearranged(l.shape[1:], func(index []int) []int { return append([]int{i}, index...) })
	case 1:
		start, stop, step := randomSlice(l.shape[axis], random)
		var kept []int
		for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
			kept = append(kept, i)
		}
		shape := slices.Clone(l.shape)
		shape[axis] = len(kept)
		return must(v.Slice(axis, start, stop, step)), l.rearranged(shape, func(index []int) []int {
			from := slices.Clone(index)
			from[axis] = kept[index[axis]]
			return from
		})
	case 2:
		order := random.Perm(len(l.shape))
		shape := make([]int, len(order))
		for i, axis := range order {
			shape[i] = l.shape[axis]
		}
		return must(v.Transpose(order...)), l.rearranged(shape, func(index []int) []int {
			from := make([]int, len(order))
			for i, axis := range order {
				from[axis] = index[i]
			}
			return from
		})
	}
	shape := randomShapeOf(len(l.elements), random)
	reshaped, err := v.Reshape(shape...)
	if works := l.evenlySpaced(shape); (err == nil) != works || err != nil && !errors.Is(err, safe.ErrLayout) {
		t.Fatalf("reshaping %v, strides %v, to %v: error is %v, and that it needs no copy is %v", l.shape, v.Strides(), shape, err, works)
	}
	if err != nil {
		return v, l
	}
	return reshaped, listed{shape, l.elements}
}

// randomSlice returns what selects some of extent indices, upwards or downwards.
func randomSlice(extent int, random *rand.Rand) (start, stop, step int) {
	start, stop, step = random.IntN(extent+1), random.IntN(extent+1), 1+random.IntN(3)
	start, stop = min(start, stop), max(start, stop)
	if random.IntN(3) == 0 && extent > 0 {
		return max(stop-1, 0), min(start-1, max(stop-1, 0)), -step
	}
	return start, stop, step
}

// randomShapeOf returns extents of which the product is size.
func randomShapeOf(size int, random *rand.Rand) []int {
	shape := []int{size}
	for size > 0 && random.IntN(4) != 0 {
		last := &shape[len(shape)-1]
		for divisor := 1 + random.IntN(4); divisor > 0; divisor-- {
			if *last%divisor == 0 {
				*last /= divisor
				shape = append(shape, divisor)
				break
			}
		}
	}
	random.Shuffle(len(shape), func(i, j int) { shape[i], shape[j] = shape[j], shape[i] })
	return shape
}

func TestPartsOfPartsHaveTheElementsThatMovingThemOneByOneGives(t *testing.T) {
	n, random := descriptor.Drive(t, 5_000)
	memory := count(120)
	for range n {
		shape := randomShapeOf([]int{0, 1, 24, 60, 120}[random.IntN(5)], random)
		l := listed{shape: shape, elements: memory[:product(shape)]}
		v := must(safe.SliceView(l.elements, shape...))
		for range 1 + random.IntN(4) {
			if len(l.shape) == 0 {
				break
			}
			v, l = subview(t, v, l, random)
			if got := elements(t, v); !slices.Equal(got, l.elements) || !slices.Equal(asInts(v.Shape()), l.shape) {
				t.Fatalf("shape %v, strides %v: elements are %v, want %v in shape %v", v.Shape(), v.Strides(), got, l.elements, l.shape)
			}
		}
	}
}

func product(shape []int) int {
	product := 1
	for _, extent := range shape {
		product *= extent
	}
	return product
}

func asInts(extents []int64) []int {
	shape := make([]int, len(extents))
	for axis, extent := range extents {
		shape[axis] = int(extent)
	}
	return shape
}

package descriptor

import (
	"math/rand/v2"
	"slices"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// mostElements is how many elements Layouts lets a tensor have: few enough to look at each of them.
const mostElements = 64

// Layout is extents and strides that somebody might come up with.
type Layout struct {
	Shape, Strides []int64
	// Derived says that slicing, transposing, reversing and broadcasting a compact tensor leads there.
	Derived bool
}

// Layouts hands n layouts of few elements to try. Every other one is derived, the strides of the rest are any small
// numbers, or any number at all where nothing ever steps along them.
func Layouts(n int, random *rand.Rand, try func(Layout)) {
	for i := range n {
		shape := smallShape(random)
		if i%2 == 0 {
			try(derived(shape, random))
		} else {
			try(Layout{Shape: shape, Strides: smallStrides(shape, random)})
		}
	}
}

// smallShape returns up to five extents, of which 0 is the rarest.
func smallShape(random *rand.Rand) []int64 {
	extents := [...]int64{0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7}
	shape, elements := []int64{}, int64(1)
	for range random.IntN(6) {
		extent := extents[random.IntN(len(extents))]
		if elements *= max(extent, 1); elements > mostElements {
			break
		}
		shape = append(shape, extent)
	}
	return shape
}

func smallStrides(shape []int64, random *rand.Rand) []int64 {
	strides := make([]int64, len(shape))
	for axis, extent := range shape {
		strides[axis] = random.Int64N(19) - 9
		if (extent == 1 || slices.Contains(shape, 0)) && random.IntN(2) == 0 {
			strides[axis] = int64(random.Uint64())
		}
	}
	return strides
}

// derived begins with the compact tensor of which shape can be sliced, at a step per axis.
func derived(shape []int64, random *rand.Rand) Layout {
	whole, steps := make([]int64, len(shape)), make([]int64, len(shape))
	for axis, extent := range shape {
		steps[axis] = 1 + random.Int64N(3)
		whole[axis] = extent*steps[axis] + random.Int64N(2)
	}
	strides := ffi.RowMajorStrides(whole)
	for axis, step := range steps {
		switch random.IntN(12) {
		case 0:
			step = 0 // broadcast
		case 1, 2, 3:
			step = -step // reversed
		}
		strides[axis] *= step
	}
	random.Shuffle(len(shape), func(i, j int) {
		shape[i], shape[j] = shape[j], shape[i]
		strides[i], strides[j] = strides[j], strides[i]
	})
	return Layout{shape, strides, true}
}

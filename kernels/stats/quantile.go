package stats

import (
	"math"
	"runtime"
	"slices"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Quantile returns the q-th quantile of x over the axes, q in 0 to 1, with linear interpolation between the two nearest
// elements: NumPy's default, type 7 of Hyndman and Fan ("Sample quantiles in statistical packages", 1996). gonum's
// interpolation is another type. A lane without elements has no quantile and is a *kernels.ShapeError.
func Quantile[T kernels.Real](x safe.View[T], q float64, axes ...int) (*safe.Tensor, error) {
	return quantiles(x, []float64{q}, nil, axes)
}

// Quantiles is Quantile for every element of q, which has shape (k,): the result has k as its first extent, followed by
// the axes of x that remain.
func Quantiles[T kernels.Real](x safe.View[T], q safe.View[float64], axes ...int) (*safe.Tensor, error) {
	if err := operand.CheckLive("quantile", "q", q); err != nil {
		return nil, err
	}
	if q.NDim() != 1 {
		return nil, &kernels.ShapeError{Function: "quantile", Argument: "q", Got: q.Shape(),
			Want: "it must be one number, or have 1 axis; flatten it"}
	}
	var scratch operand.Scratch
	defer scratch.Free()
	points, err := operand.Contiguous(&scratch, q)
	if err != nil {
		return nil, &kernels.ArgumentError{Function: "quantile", Argument: "q", Err: err}
	}
	tensor, err := quantiles(x, points, []int{len(points)}, axes)
	runtime.KeepAlive(q) // points may be a slice over its memory
	return tensor, err
}

// quantiles makes a tensor of shape leading plus the kept axes.
func quantiles[T kernels.Real](x safe.View[T], points []float64, leading, axes []int) (*safe.Tensor, error) {
	const function = "quantile"
	for _, q := range points {
		if !(q >= 0 && q <= 1) {
			return nil, &kernels.ValueError{Function: function, Argument: "q", Got: q, Want: "0 to 1 is accepted; divide percentages by 100"}
		}
	}
	lanes, err := operand.LanesOf(function, "x", x, axes...)
	if err != nil {
		return nil, err
	}
	if lanes.Length == 0 {
		return nil, &kernels.ShapeError{Function: function, Argument: "x", Got: x.Shape(),
			Want: "there must be an element along the axes that are reduced"}
	}
	var results operand.Results
	tensor, out := operand.New[T](&results, slices.Concat(leading, lanes.Kept)...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	var scratch operand.Scratch
	defer scratch.Free()
	values, err := operand.Allocate[T](&scratch, lanes.Length)
	if err != nil {
		return nil, results.Discard(err)
	}
	count := lanes.Count()
	ascending := ascendingOrder(points)
	err = lanes.Each(func(i int, lane []T) error {
		copy(values, lane)
		nan := slices.ContainsFunc(values, func(v T) bool { return v != v })
		done := 0
		for _, at := range ascending {
			if nan {
				out[at*count+i] = T(math.NaN())
				continue
			}
			out[at*count+i], done = quantileFrom(values, points[at], done)
		}
		return nil
	})
	if err != nil {
		return nil, results.Discard(&kernels.ArgumentError{Function: function, Argument: "x", Err: err})
	}
	return tensor, nil
}

// ascendingOrder returns the indices of points from the least point to the greatest.
func ascendingOrder(points []float64) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case points[a] < points[b]:
			return -1
		case points[a] > points[b]:
			return 1
		}
		return 0
	})
	return order
}

// quantileFrom returns the q-th quantile of values. What lies before done is in its sorted place, and the quantile is not
// below it; the second result is done for the next, larger q.
func quantileFrom[T kernels.Real](values []T, q float64, done int) (quantile T, nowDone int) {
	position := q * float64(len(values)-1)
	below := int(position)
	selectNth(values[done:], below-done)
	low := values[below]
	fraction := position - float64(below)
	if fraction == 0 {
		return low, below
	}
	high := slices.Min(values[below+1:])
	return interpolate(low, high, fraction), below
}

// interpolate is exact at both ends, and monotonic, as NumPy does it.
func interpolate[T kernels.Real](low, high T, fraction float64) T {
	if low == high {
		return low
	}
	from, to := float64(low), float64(high)
	if math.IsInf(to-from, 0) { // the ends are further apart than any number, or infinite
		return T(from*(1-fraction) + to*fraction)
	}
	if fraction < 0.5 {
		return T(from + (to-from)*fraction)
	}
	return T(to - (to-from)*(1-fraction))
}

// selectNth rearranges values so that the one at index n is where sorting would put it, with nothing greater before it
// and nothing less after it: Hoare's quickselect, in linear time on average. There must be no NaN.
func selectNth[T kernels.Real](values []T, n int) {
	first, last := 0, len(values)-1
	for last-first > 16 {
		pivot := medianOfThree(values[first], values[(first+last)/2], values[last])
		i, j := first, last
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			last = j
		case n >= i:
			first = i
		default:
			return
		}
	}
	slices.Sort(values[first : last+1])
}

func medianOfThree[T kernels.Real](a, b, c T) T {
	return max(min(a, b), min(max(a, b), c))
}

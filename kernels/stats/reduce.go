package stats

import (
	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// reduce makes a tensor with one number for every lane of x over the axes. A lane may only be read, and not kept.
func reduce[T kernels.Real](function string, x safe.View[T], axes []int, statistic func(lane []float64) float64) (*safe.Tensor, error) {
	lanes, err := operand.LanesOf(function, "x", x, axes...)
	if err != nil {
		return nil, err
	}
	var results operand.Results
	tensor, out := operand.New[T](&results, lanes.Kept...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	var widened operand.Widener
	err = lanes.Each(func(i int, lane []T) error {
		out[i] = T(statistic(operand.Widen(&widened, lane)))
		return nil
	})
	if err != nil {
		return nil, results.Discard(&kernels.ArgumentError{Function: function, Argument: "x", Err: err})
	}
	return tensor, nil
}

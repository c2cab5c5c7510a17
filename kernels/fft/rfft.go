package fft

import (
	"slices"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// RFFT returns the Fourier transform of real sequences, which lie along the last axis of x: the non-negative
// frequencies, so that a last extent of n becomes n/2 + 1. The transform is not scaled. length is how much of each
// sequence is transformed, cut or padded with zeros as needed; Natural is all of it.
func RFFT(x safe.View[float64], length int) (*safe.Tensor, error) {
	const function = "rfft"
	lanes, err := lastAxis(function, x)
	if err != nil {
		return nil, err
	}
	if length, err = lengthOr(function, length, lanes.Length, x.Shape()); err != nil {
		return nil, err
	}
	var results operand.Results
	tensor, out := operand.New[complex128](&results, append(slices.Clone(lanes.Kept), length/2+1)...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	if tensor.Size() == 0 {
		return tensor, nil
	}
	plan, err := takePlan(length)
	if err != nil {
		return nil, results.Discard(err)
	}
	defer givePlanBack(plan)
	padded := make([]float64, length)
	err = lanes.Each(func(i int, lane []float64) error {
		if len(lane) < length {
			copy(padded, lane)
			lane = padded
		}
		plan.forward(out[i*(length/2+1):(i+1)*(length/2+1)], lane[:length])
		return nil
	})
	if err != nil {
		return nil, results.Discard(&kernels.ArgumentError{Function: function, Argument: "x", Err: err})
	}
	return tensor, nil
}

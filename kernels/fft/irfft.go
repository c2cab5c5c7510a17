package fft

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// IRFFT returns the real sequences whose transforms, as RFFT gives them, lie along the last axis of x. length is that of
// a sequence; Natural is the even one, 2 (m - 1) for a last extent of m. An odd one must be given. Frequencies are cut or padded
// with zeros as it needs. The imaginary part of the first frequency, and at an even length that of the last, is ignored.
// The result is scaled by 1/length, so that IRFFT undoes RFFT.
func IRFFT(x safe.View[complex128], length int) (*safe.Tensor, error) {
	const function = "irfft"
	lanes, err := lastAxis(function, x)
	if err != nil {
		return nil, err
	}
	if length, err = lengthOr(function, length, 2*(lanes.Length-1), x.Shape()); err != nil {
		return nil, err
	}
	var results operand.Results
	tensor, out := operand.New[float64](&results, append(slices.Clone(lanes.Kept), length)...)
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
	frequencies := length/2 + 1
	padded := make([]complex128, frequencies)
	err = lanes.Each(func(i int, lane []complex128) error {
		if len(lane) < frequencies {
			copy(padded, lane)
			lane = padded
		}
		sequence := out[i*length : (i+1)*length]
		plan.backward(sequence, lane[:frequencies])
		floats.Scale(1/float64(length), sequence)
		return nil
	})
	if err != nil {
		return nil, results.Discard(&kernels.ArgumentError{Function: function, Argument: "x", Err: err})
	}
	return tensor, nil
}

package linalg

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Norm returns the Euclidean norm of x over the given axes, over all of them (the Frobenius norm of a matrix) without
// any. The result has the axes of x that remain. The norm of nothing is 0. It is VectorNorm of order 2.
func Norm[T kernels.Real](x safe.View[T], axes ...int) (*safe.Tensor, error) {
	return norms("norm", x, 2, axes)
}

// VectorNorm returns the norm of the given order of x over the given axes, over all of them without any: of a matrix,
// too, it takes the elements as one vector, as numpy.linalg.vector_norm does. Orders are 1 or more, up to infinity: the
// largest magnitude.
func VectorNorm[T kernels.Real](x safe.View[T], order float64, axes ...int) (*safe.Tensor, error) {
	return norms("vector_norm", x, order, axes)
}

func norms[T kernels.Real](function string, x safe.View[T], order float64, axes []int) (*safe.Tensor, error) {
	if !(order >= 1) {
		return nil, &kernels.ValueError{Function: function, Argument: "ord", Got: order,
			Want: "1 or more is accepted, infinity included; below 1 there is no norm"}
	}
	lanes, err := operand.LanesOf(function, "x", x, axes...)
	if err != nil {
		return nil, err
	}
	var results operand.Results
	tensor, out := operand.New[T](&results, lanes.Kept...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	current := backend.Current()
	var widened operand.Widener
	err = lanes.Each(func(i int, lane []T) error {
		if order == 2 {
			out[i] = norm2(current, lane)
		} else {
			out[i] = T(floats.Norm(operand.Widen(&widened, lane), order))
		}
		return nil
	})
	if err != nil {
		return nil, results.Discard(&kernels.ArgumentError{Function: function, Argument: "x", Err: err})
	}
	return tensor, nil
}

package fft

import (
	"math"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// lastAxis returns x as lanes along its last axis.
func lastAxis[T safe.Element](function string, x safe.View[T]) (operand.Lanes[T], error) {
	if err := operand.CheckLive(function, "x", x); err != nil {
		return operand.Lanes[T]{}, err
	}
	if x.NDim() == 0 {
		return operand.Lanes[T]{}, &kernels.ShapeError{Function: function, Argument: "x", Got: x.Shape(),
			Want: "it must have at least 1 axis, the last of which is transformed"}
	}
	return operand.LanesOf(function, "x", x, -1)
}

// Natural, as the length of a transform, stands for the one that the argument suggests.
const Natural = math.MinInt

// longest bounds the length of a transform, so that sizes computed from it do not overflow.
const longest = 1 << 40

// lengthOr returns length, or natural for Natural. A sequence of nothing has no transform.
func lengthOr(function string, length, natural int, shape []int64) (int, error) {
	switch {
	case length == Natural && natural < 1:
		return 0, &kernels.ShapeError{Function: function, Argument: "x", Got: shape,
			Want: "its last extent is too small for a transform; give n, the length, to pad with zeros"}
	case length == Natural:
		return natural, nil
	case length < 1 || length > longest:
		return 0, &kernels.ValueError{Function: function, Argument: "n", Got: length, Want: "a length of 1 to 2^40 is accepted"}
	}
	return length, nil
}

package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Var returns the variance of x over the axes: the sum of squared deviations from the mean, over n - ddof for n
// elements. It is NaN where n is not above ddof. It is computed in two passes with a correction for rounding (Chan,
// Golub and LeVeque, "Algorithms for computing the sample variance", 1983). No step of that overflows: the variance of finite
// elements is infinite where it is too large for a number, and never NaN.
func Var[T kernels.Real](x safe.View[T], ddof int, axes ...int) (*safe.Tensor, error) {
	if err := wantDegrees("var", ddof); err != nil {
		return nil, err
	}
	return reduce("var", x, axes, func(lane []float64) float64 {
		fraction, scale := variance(lane, ddof)
		return fraction * scale * scale
	})
}

// Std returns the standard deviation of x over the axes, the square root of Var.
func Std[T kernels.Real](x safe.View[T], ddof int, axes ...int) (*safe.Tensor, error) {
	if err := wantDegrees("std", ddof); err != nil {
		return nil, err
	}
	return reduce("std", x, axes, func(lane []float64) float64 {
		fraction, scale := variance(lane, ddof)
		return math.Sqrt(fraction) * scale
	})
}

// variance returns a fraction and a scale: the variance of lane is the fraction times the square of the scale.
func variance(lane []float64, ddof int) (fraction, scale float64) {
	n := float64(len(lane))
	if len(lane) <= ddof {
		return math.NaN(), 1
	}
	fraction, scale = stat.PopVariance(lane, nil), 1
	if fraction-fraction != 0 {
		fraction, scale = hugeVariance(lane), 1/scaleOfHuge
	}
	return fraction * (n / (n - float64(ddof))), scale
}

// scaleOfHuge makes the squares of the largest numbers small enough to add up any number of them.
const scaleOfHuge = 0x1p-560

// hugeVariance returns the variance of lane when its elements are multiplied by scaleOfHuge.
func hugeVariance(lane []float64) float64 {
	centre := mean(lane) * scaleOfHuge
	squares, rest := 0.0, 0.0
	for _, v := range lane {
		d := v*scaleOfHuge - centre
		squares += d * d
		rest += d
	}
	n := float64(len(lane))
	return (squares - rest*rest/n) / n
}

func wantDegrees(function string, ddof int) error {
	if ddof < 0 {
		return &kernels.ValueError{Function: function, Argument: "ddof", Got: ddof,
			Want: "0 or more is accepted: 0 divides by the number of elements, 1 by one less"}
	}
	return nil
}

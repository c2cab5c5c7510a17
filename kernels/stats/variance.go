package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Var returns the variance of x over the axes: the sum of squared deviations from the mean, over n - ddof for n
// elements. It is NaN where n is not above ddof. It is computed in two passes with a correction for rounding (Chan,
// Golub and LeVeque, "Algorithms for computing the sample variance", 1983).
func Var[T kernels.Real](x safe.View[T], ddof int, axes ...int) (*safe.Tensor, error) {
	if err := wantDegrees("var", ddof); err != nil {
		return nil, err
	}
	return reduce("var", x, axes, func(lane []float64) float64 { return variance(lane, ddof) })
}

// Std returns the standard deviation of x over the axes, the square root of Var.
func Std[T kernels.Real](x safe.View[T], ddof int, axes ...int) (*safe.Tensor, error) {
	if err := wantDegrees("std", ddof); err != nil {
		return nil, err
	}
	return reduce("std", x, axes, func(lane []float64) float64 { return math.Sqrt(variance(lane, ddof)) })
}

func variance(lane []float64, ddof int) float64 {
	n := float64(len(lane))
	if len(lane) <= ddof {
		return math.NaN()
	}
	return stat.PopVariance(lane, nil) * (n / (n - float64(ddof)))
}

func wantDegrees(function string, ddof int) error {
	if ddof < 0 {
		return &kernels.ValueError{Function: function, Argument: "ddof", Got: ddof,
			Want: "0 or more is accepted: 0 divides by the number of elements, 1 by one less"}
	}
	return nil
}

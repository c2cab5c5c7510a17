package stats

import (
	"gonum.org/v1/gonum/stat"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Mean returns the arithmetic mean of x over the axes. The mean of nothing is NaN.
func Mean[T kernels.Real](x safe.View[T], axes ...int) (*safe.Tensor, error) {
	return reduce("mean", x, axes, func(lane []float64) float64 { return stat.Mean(lane, nil) })
}

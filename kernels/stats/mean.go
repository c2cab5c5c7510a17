package stats

import (
	"gonum.org/v1/gonum/stat"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Mean returns the arithmetic mean of x over the axes. The mean of nothing is NaN. That of finite elements is finite, also where
// their sum is not.
func Mean[T kernels.Real](x safe.View[T], axes ...int) (*safe.Tensor, error) {
	return reduce("mean", x, axes, mean)
}

// tiny is a scale by which no sum of elements overflows, however many there are. What it takes from small elements does not
// matter beside those that would.
const tiny = 0x1p-64

func mean(lane []float64) float64 {
	direct := stat.Mean(lane, nil)
	if direct-direct == 0 || len(lane) == 0 {
		return direct
	}
	sum := 0.0
	for _, v := range lane {
		sum += v * tiny
	}
	return sum / float64(len(lane)) / tiny
}

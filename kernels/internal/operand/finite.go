package operand

import (
	"github.com/dlpackgo/dlpackgo/kernels"
)

// CheckFinite returns a *kernels.NotFiniteError for the first element of data, in row-major order of shape, that is NaN
// or infinite.
func CheckFinite(function, argument string, data []float64, shape []int64) error {
	for at, value := range data {
		if value-value == 0 {
			continue
		}
		index := make([]int64, len(shape))
		rest := int64(at)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			index[axis], rest = rest%shape[axis], rest/shape[axis]
		}
		return &kernels.NotFiniteError{Function: function, Argument: argument, Index: index, Got: value}
	}
	return nil
}

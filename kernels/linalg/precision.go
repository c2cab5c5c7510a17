package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
)

// BLAS names its functions by precision; these choose by type.

// dot returns the dot product of x and y, of which single precision is summed in double.
func dot[T kernels.Real](b backend.Backend, x, y operand.Vector[T]) T {
	if data, ok := any(x.Data).([]float64); ok {
		return T(b.Ddot(x.N, data, x.Inc, any(y.Data).([]float64), y.Inc))
	}
	return T(b.Dsdot(x.N, any(x.Data).([]float32), x.Inc, any(y.Data).([]float32), y.Inc))
}

// Squares between these neither overflow nor lose digits to underflow when they are summed.
const leastSquares, mostSquares = 0x1p-900, 0x1p1000

// norm2 returns the Euclidean norm of x. BLAS scales on the way, so that no square overflows, at a half to a fifth of the
// speed of a dot product; in double precision that is needed for extreme values only, and the sum of squares tells. The
// squares of single precision are summed in double, where none is extreme: in single, gonum's sum of a million stands still
// when it has grown to 2^24 times the next.
func norm2[T kernels.Real](b backend.Backend, x []T) T {
	data, ok := any(x).([]float64)
	if !ok {
		single := any(x).([]float32)
		return T(math.Sqrt(b.Dsdot(len(single), single, 1, single, 1)))
	}
	if squares := b.Ddot(len(data), data, 1, data, 1); leastSquares < squares && squares < mostSquares {
		return T(math.Sqrt(squares))
	}
	return T(b.Dnrm2(len(data), data, 1))
}

// multiplyVector sets y to the product of x with a as it lies in memory, or with its transpose, as trans says.
func multiplyVector[T kernels.Real](b backend.Backend, trans blas.Transpose, a operand.Matrix[T], x operand.Vector[T], y []T) {
	rows, cols := a.Stored()
	if data, ok := any(a.Data).([]float64); ok {
		b.Dgemv(trans, rows, cols, 1, data, a.Stride, any(x.Data).([]float64), x.Inc, 0, any(y).([]float64), 1)
		return
	}
	b.Sgemv(trans, rows, cols, 1, any(a.Data).([]float32), a.Stride, any(x.Data).([]float32), x.Inc, 0, any(y).([]float32), 1)
}

// multiply sets out, which is row-major, to x y.
func multiply[T kernels.Real](b backend.Backend, x, y operand.Matrix[T], out []T) {
	if data, ok := any(x.Data).([]float64); ok {
		b.Dgemm(x.Trans, y.Trans, x.Rows, y.Cols, x.Cols, 1, data, x.Stride, any(y.Data).([]float64), y.Stride,
			0, any(out).([]float64), y.Cols)
		return
	}
	b.Sgemm(x.Trans, y.Trans, x.Rows, y.Cols, x.Cols, 1, any(x.Data).([]float32), x.Stride, any(y.Data).([]float32), y.Stride,
		0, any(out).([]float32), y.Cols)
}

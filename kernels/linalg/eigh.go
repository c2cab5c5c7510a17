package linalg

import (
	"math"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// asymmetry is how far a matrix may be from symmetric, in parts of its largest element. What products of matrices leave
// behind is far below, a mistake far above.
const asymmetry = 1e-8

// Eigh returns the eigenvalues of a symmetric matrix of shape (n, n), ascending, with shape (n,), and its orthonormal
// eigenvectors as the columns of a matrix of shape (n, n). Signs are LAPACK's and may differ between backends.
//
// Other than numpy.linalg.eigh, which looks at one triangle only, it refuses a matrix that is not symmetric: elements
// that differ from their mirror image by more than 1e-8 of the largest are a *kernels.AsymmetricError.
func Eigh(a safe.View[float64]) (values, vectors *safe.Tensor, err error) {
	const function = "eigh"
	if err := wantSquare(function, "a", a.AnyView()); err != nil {
		return nil, nil, err
	}
	n := a.Dim(0)
	var results operand.Results
	values, w := operand.New[float64](&results, n)
	vectors, v := operand.New[float64](&results, n, n)
	if err := results.Err(); err != nil {
		return nil, nil, err
	}
	if err := finiteCopy(function, "a", a, v); err != nil {
		return nil, nil, results.Discard(err)
	}
	if err := wantSymmetric(function, "a", n, v); err != nil {
		return nil, nil, results.Discard(err)
	}
	if n > 0 && !backend.Current().Eigh(n, v, w) {
		return nil, nil, results.Discard(&kernels.ConvergenceError{Function: function, Argument: "a"})
	}
	return values, vectors, nil
}

func wantSymmetric(function, argument string, n int, a []float64) error {
	largest := 0.0
	for _, v := range a {
		largest = max(largest, math.Abs(v))
	}
	for i := range n {
		for j := range i {
			below, above := a[i*n+j], a[j*n+i]
			if math.Abs(below-above) > asymmetry*largest {
				return &kernels.AsymmetricError{Function: function, Argument: argument, Row: j, Column: i, Got: above, Mirrored: below}
			}
		}
	}
	return nil
}

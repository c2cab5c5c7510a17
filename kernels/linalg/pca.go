package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// AllComponents, as the number of components of PCA, stands for the smaller extent of its argument.
const AllComponents = math.MinInt

// PCA returns the first principal components of x, of shape (n, p) with one observation per row, by the singular value
// decomposition of the centred data:
//
//   - scores, of shape (n, components): the observations in the coordinates of the components
//   - components, of shape (components, p): orthonormal directions, one per row, most variance first
//   - variance, of shape (components,): the sample variance (divisor n - 1) along each
//
// A component's sign is chosen so that its element of largest magnitude is positive (the first of those that are equal but for
// rounding), so that results do not depend on the backend where variances differ. It is scikit-learn's convention too.
// components is 1 to min(n, p), or AllComponents.
func PCA(x safe.View[float64], components int) (scores, directions, variance *safe.Tensor, err error) {
	const function = "pca"
	if err := wantAxes(function, "x", x.AnyView(), 2, 2); err != nil {
		return nil, nil, nil, err
	}
	n, p := x.Dim(0), x.Dim(1)
	if n < 2 || p < 1 {
		return nil, nil, nil, &kernels.ShapeError{Function: function, Argument: "x", Got: x.Shape(),
			Want: "it must have at least 2 rows, the observations, and 1 column"}
	}
	k := min(n, p)
	if components == AllComponents {
		components = k
	}
	if components < 1 || components > k {
		return nil, nil, nil, &kernels.ValueError{Function: function, Argument: "components", Got: components,
			Want: fmt.Sprintf("1 to %d is accepted, the smaller extent of x, which has shape %s", k, kernels.FormatShape(x.Shape()))}
	}
	var scratch operand.Scratch
	defer scratch.Free()
	left, values, right, scale, err := centredSVD(&scratch, x, n, p, k)
	if err != nil {
		return nil, nil, nil, err
	}
	var results operand.Results
	scores, outScores := operand.New[float64](&results, n, components)
	directions, outDirections := operand.New[float64](&results, components, p)
	variance, outVariance := operand.New[float64](&results, components)
	if err := results.Err(); err != nil {
		return nil, nil, nil, err
	}
	for c := range components {
		direction := right[c*p : (c+1)*p]
		sign := signOf(direction)
		floats.ScaleTo(outDirections[c*p:(c+1)*p], sign, direction)
		for i := range n {
			outScores[i*components+c] = left[i*k+c] * values[c] * sign * scale
		}
		outVariance[c] = values[c] * values[c] / float64(n-1) * scale * scale
	}
	return scores, directions, variance, nil
}

// Elements above mostCentred are made smaller by leastScale before anything is added to them: the sum of a column could
// overflow, or the difference of two.
const mostCentred, leastScale = 0x1p900, 0x1p-128

// centredSVD returns the thin decomposition of x (n by p) without the means of its columns, the values divided by scale.
func centredSVD(scratch *operand.Scratch, x safe.View[float64], n, p, k int) (left, values, right []float64, scale float64, err error) {
	const function = "pca"
	centred, err := scratchCopy(scratch, function, "x", x)
	if err != nil {
		return nil, nil, nil, 0, err
	}
	scale = 1
	if floats.Norm(centred, math.Inf(1)) > mostCentred {
		floats.Scale(leastScale, centred)
		scale = 1 / leastScale
	}
	if err := centreColumns(scratch, n, p, centred); err != nil {
		return nil, nil, nil, 0, err
	}
	if left, err = operand.Allocate[float64](scratch, n*k); err != nil {
		return nil, nil, nil, 0, err
	}
	if values, err = operand.Allocate[float64](scratch, k); err != nil {
		return nil, nil, nil, 0, err
	}
	if right, err = operand.Allocate[float64](scratch, k*p); err != nil {
		return nil, nil, nil, 0, err
	}
	if !backend.Current().SVD(n, p, centred, left, values, right) {
		return nil, nil, nil, 0, &kernels.ConvergenceError{Function: function, Argument: "x"}
	}
	return left, values, right, scale, nil
}

// centreColumns takes from each column its mean.
func centreColumns(scratch *operand.Scratch, n, p int, x []float64) error {
	means, err := operand.Allocate[float64](scratch, p)
	if err != nil {
		return err
	}
	for i := range n {
		floats.Add(means, x[i*p:(i+1)*p])
	}
	floats.Scale(1/float64(n), means)
	for i := range n {
		floats.Sub(x[i*p:(i+1)*p], means)
	}
	return nil
}

// rounding is by how much of the largest magnitude another one may be below it and still count as equal.
const rounding = 0x1p-26

// signOf returns the sign of the element of largest magnitude, of the first of those that are equal but for rounding.
func signOf(direction []float64) float64 {
	largest := floats.Norm(direction, math.Inf(1))
	for _, v := range direction {
		if math.Abs(v) >= largest*(1-rounding) {
			return math.Copysign(1, v)
		}
	}
	return 1
}

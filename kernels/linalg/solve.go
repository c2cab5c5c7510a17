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

// Solve returns x with a x = b, by LU factorisation with partial pivoting (LAPACK's dgetrf and dgetrs). a has shape
// (n, n); b has shape (n,), or (n, k) for k right-hand sides; x has the shape of b.
//
// Other than numpy.linalg.solve, which returns digits that mean nothing, it also refuses a matrix that is singular to
// working precision: an estimated condition number of kernels.MaxCondition or more is a *kernels.SingularError.
func Solve(a, b safe.View[float64]) (*safe.Tensor, error) {
	const function = "solve"
	if err := wantSquare(function, "a", a.AnyView()); err != nil {
		return nil, err
	}
	if err := wantAxes(function, "b", b.AnyView(), 1, 2); err != nil {
		return nil, err
	}
	n, sides := a.Dim(0), 1
	if b.Dim(0) != n {
		return nil, &kernels.ShapeError{Function: function, Argument: "b", Got: b.Shape(),
			Want: fmt.Sprintf("its first extent must be %d, the rows of a; transpose it if each row is one right-hand side", n)}
	}
	shape := []int{n}
	if b.NDim() == 2 {
		sides = b.Dim(1)
		shape = append(shape, sides)
	}
	var scratch operand.Scratch
	defer scratch.Free()
	factors, err := scratchCopy(&scratch, function, "a", a)
	if err != nil {
		return nil, err
	}
	var results operand.Results
	solution, x := operand.New[float64](&results, shape...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	if err := finiteCopy(function, "b", b, x); err != nil {
		return nil, results.Discard(err)
	}
	if len(x) == 0 {
		return solution, nil
	}
	exponent := moderate(x) - moderate(factors)
	if reciprocal := backend.Current().Solve(n, sides, factors, x); !(reciprocal > 1/kernels.MaxCondition) {
		return nil, results.Discard(&kernels.SingularError{Function: function, Argument: "a", Condition: 1 / reciprocal})
	}
	if exponent != 0 {
		for i, v := range x {
			x[i] = math.Ldexp(v, exponent)
		}
	}
	return solution, nil
}

// moderate divides elements by 2 to the exponent that it returns, so that neither norms nor their reciprocals overflow, nor
// what comes of the elements on the way. It does nothing, and returns 0, where they do not anyway.
func moderate(a []float64) (exponent int) {
	largest := floats.Norm(a, math.Inf(1))
	if largest == 0 || 0x1p-500 < largest && largest < 0x1p500 {
		return 0
	}
	_, exponent = math.Frexp(largest)
	for i, v := range a {
		a[i] = math.Ldexp(v, -exponent)
	}
	return exponent
}

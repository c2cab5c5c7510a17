package stats

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Cov returns the covariance matrix of the columns of x: x has shape (n, p), with one observation per row, and the
// result (p, p), with divisor n - ddof. An x with one axis is one variable, and the result its variance, without axes.
//
// Observations are rows, as everywhere in this package and in scikit-learn; numpy.cov takes them as columns unless it is
// given rowvar=False.
func Cov[T kernels.Real](x safe.View[T], ddof int) (*safe.Tensor, error) {
	const function = "cov"
	if err := wantDegrees(function, ddof); err != nil {
		return nil, err
	}
	if err := operand.CheckLive(function, "x", x); err != nil {
		return nil, err
	}
	if ndim := x.NDim(); ndim != 1 && ndim != 2 {
		return nil, &kernels.ShapeError{Function: function, Argument: "x", Got: x.Shape(),
			Want: "it must have 2 axes, observations and variables, or 1; reshape it"}
	}
	n := x.Dim(0)
	if n <= ddof {
		return nil, &kernels.ShapeError{Function: function, Argument: "x", Got: x.Shape(),
			Want: fmt.Sprintf("its first extent, the number of observations, must be above ddof, which is %d", ddof)}
	}
	variables, err := operand.LanesOf(function, "x", x, 0)
	if err != nil {
		return nil, err
	}
	p := variables.Count()
	var scratch operand.Scratch
	defer scratch.Free()
	centred, err := operand.Allocate[float64](&scratch, p*n)
	if err != nil {
		return nil, err
	}
	var widened operand.Widener
	err = variables.Each(func(i int, lane []T) error {
		values := centred[i*n : (i+1)*n]
		copy(values, operand.Widen(&widened, lane))
		floats.AddConst(-mean(values), values)
		return nil
	})
	if err != nil {
		return nil, &kernels.ArgumentError{Function: function, Argument: "x", Err: err}
	}
	shape := []int{}
	if x.NDim() == 2 {
		shape = []int{p, p}
	}
	var results operand.Results
	tensor, out := operand.New[T](&results, shape...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	if p > 0 {
		err = secondMoments(&scratch, p, n, 1/float64(n-ddof), centred, out)
	}
	if err != nil {
		return nil, results.Discard(err)
	}
	return tensor, nil
}

// secondMoments sets out to scale times rows (p by n) times their transpose.
func secondMoments[T kernels.Real](scratch *operand.Scratch, p, n int, scale float64, rows []float64, out []T) error {
	product, direct := any(out).([]float64)
	if !direct {
		var err error
		if product, err = operand.Allocate[float64](scratch, p*p); err != nil {
			return err
		}
	}
	backend.Current().Dsyrk(blas.Lower, blas.NoTrans, p, n, scale, rows, n, 0, product, p)
	for i := range p {
		for j := range i + 1 {
			out[i*p+j] = T(product[i*p+j])
			out[j*p+i] = T(product[i*p+j])
		}
	}
	return nil
}

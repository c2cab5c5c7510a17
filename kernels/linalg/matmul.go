package linalg

import (
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/blas"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// MatMul returns the product of a and b, as numpy.matmul does for one and two axes:
//
//	(m, k) times (k, n) is (m, n)
//	(m, k) times (k,)   is (m,)
//	(k,)   times (k, n) is (n,)
//	(k,)   times (k,)   is (), the dot product
//
// A product over no elements (k = 0) is 0. Row-major and column-major operands are read where they are. In float32, sums are
// rounded to float32 as they grow, but for the dot product; gonum's long ones lose more digits than those of OpenBLAS.
func MatMul[T kernels.Real](a, b safe.View[T]) (*safe.Tensor, error) {
	const function = "matmul"
	if err := wantAxes(function, "a", a.AnyView(), 1, 2); err != nil {
		return nil, err
	}
	if err := wantAxes(function, "b", b.AnyView(), 1, 2); err != nil {
		return nil, err
	}
	inner := a.Dim(a.NDim() - 1)
	if b.Dim(0) != inner {
		return nil, &kernels.ShapeError{Function: function, Argument: "b", Got: b.Shape(),
			Want: fmt.Sprintf("its first extent must be %d, the last of a, which has shape %s; transpose or reshape one of them",
				inner, kernels.FormatShape(a.Shape()))}
	}
	shape := make([]int, 0, 2)
	if a.NDim() == 2 {
		shape = append(shape, a.Dim(0))
	}
	if b.NDim() == 2 {
		shape = append(shape, b.Dim(1))
	}
	var results operand.Results
	product, out := operand.New[T](&results, shape...)
	if err := results.Err(); err != nil {
		return nil, err
	}
	if err := multiplyInto(function, a, b, out); err != nil {
		return nil, results.Discard(err)
	}
	return product, nil
}

// multiplyInto sets out, all zeros so far, to the product of operands whose shapes agree.
func multiplyInto[T kernels.Real](function string, a, b safe.View[T], out []T) error {
	var scratch operand.Scratch
	defer scratch.Free()
	x, err := factorOf(&scratch, function, "a", a)
	if err != nil {
		return err
	}
	y, err := factorOf(&scratch, function, "b", b)
	if err != nil {
		return err
	}
	if len(out) == 0 || a.Size() == 0 {
		return nil
	}
	current := backend.Current()
	switch {
	case a.NDim() == 1 && b.NDim() == 1:
		out[0] = dot(current, x.vector, y.vector)
	case b.NDim() == 1:
		multiplyVector(current, x.matrix.Trans, x.matrix, y.vector, out)
	case a.NDim() == 1:
		multiplyVector(current, opposite(y.matrix.Trans), y.matrix, x.vector, out)
	default:
		multiply(current, x.matrix, y.matrix, out)
	}
	// The operands are slices over the tensors' memory, which do not keep it; the views do.
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return nil
}

// factor is an operand of a product: a vector or a matrix.
type factor[T kernels.Real] struct {
	vector operand.Vector[T]
	matrix operand.Matrix[T]
}

func factorOf[T kernels.Real](scratch *operand.Scratch, function, argument string, v safe.View[T]) (f factor[T], err error) {
	if v.NDim() == 1 {
		f.vector, err = operand.VectorOf(scratch, v)
	} else {
		f.matrix, err = operand.MatrixOf(scratch, v)
	}
	if err != nil {
		err = &kernels.ArgumentError{Function: function, Argument: argument, Err: err}
	}
	return f, err
}

func opposite(t blas.Transpose) blas.Transpose {
	if t == blas.NoTrans {
		return blas.Trans
	}
	return blas.NoTrans
}

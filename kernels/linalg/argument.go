package linalg

import (
	"fmt"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// wantAxes refuses an argument that is gone, and one with fewer axes than least or more than most.
func wantAxes(function, argument string, v safe.AnyView, least, most int) error {
	if err := operand.CheckLive(function, argument, v); err != nil {
		return err
	}
	if ndim := v.NDim(); least <= ndim && ndim <= most {
		return nil
	}
	want := fmt.Sprintf("%d axes", most)
	if least < most {
		want = fmt.Sprintf("%d or %d axes", least, most)
	}
	return &kernels.ShapeError{Function: function, Argument: argument, Got: v.Shape(),
		Want: "it must have " + want + "; reshape it, or index the one that is meant"}
}

// wantSquare refuses an argument that is not a square matrix.
func wantSquare(function, argument string, v safe.AnyView) error {
	if err := wantAxes(function, argument, v, 2, 2); err != nil {
		return err
	}
	if v.Dim(0) != v.Dim(1) {
		return &kernels.ShapeError{Function: function, Argument: argument, Got: v.Shape(),
			Want: "it must be square, with as many rows as columns"}
	}
	return nil
}

// scratchCopy is finiteCopy to scratch memory.
func scratchCopy(scratch *operand.Scratch, function, argument string, v safe.View[float64]) ([]float64, error) {
	elements, err := operand.Allocate[float64](scratch, v.Size())
	if err != nil {
		return nil, err
	}
	return elements, finiteCopy(function, argument, v, elements)
}

// finiteCopy copies an argument of a decomposition, row-major, to memory that may be overwritten.
func finiteCopy(function, argument string, v safe.View[float64], to []float64) error {
	if err := v.CopyTo(to); err != nil {
		return &kernels.ArgumentError{Function: function, Argument: argument, Err: err}
	}
	return operand.CheckFinite(function, argument, to, v.Shape())
}

package linalg

import (
	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/kernels/internal/operand"
	"github.com/dlpackgo/dlpackgo/safe"
)

// SVD returns the thin singular value decomposition a = u diag(s) vt of a matrix of shape (m, n): u has shape (m, k), s
// (k,) and vt (k, n), with k = min(m, n). The columns of u and the rows of vt are orthonormal; s is descending. Signs
// are LAPACK's and may differ between backends; PCA has a rule for them. It is numpy.linalg.svd with
// full_matrices=False.
func SVD(a safe.View[float64]) (u, s, vt *safe.Tensor, err error) {
	const function = "svd"
	if err := wantAxes(function, "a", a.AnyView(), 2, 2); err != nil {
		return nil, nil, nil, err
	}
	m, n := a.Dim(0), a.Dim(1)
	k := min(m, n)
	var scratch operand.Scratch
	defer scratch.Free()
	work, err := scratchCopy(&scratch, function, "a", a)
	if err != nil {
		return nil, nil, nil, err
	}
	var results operand.Results
	u, left := operand.New[float64](&results, m, k)
	s, values := operand.New[float64](&results, k)
	vt, right := operand.New[float64](&results, k, n)
	if err := results.Err(); err != nil {
		return nil, nil, nil, err
	}
	if k > 0 && !backend.Current().SVD(m, n, work, left, values, right) {
		return nil, nil, nil, results.Discard(&kernels.ConvergenceError{Function: function, Argument: "a"})
	}
	return u, s, vt, nil
}

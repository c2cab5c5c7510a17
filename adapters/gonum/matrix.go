package gonum

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dlpackgo/dlpackgo/safe"
)

// FromDense returns a view of m, of shape (rows, columns).
func FromDense(m *mat.Dense) (safe.MutView[float64], error) {
	if m == nil {
		return safe.MutView[float64]{}, fmt.Errorf("gonum: the matrix is nil; pass one: %w", safe.ErrEmpty)
	}
	return FromGeneral64(m.RawMatrix())
}

// FromGeneral64 returns a view of g, of shape (rows, columns).
func FromGeneral64(g blas64.General) (safe.MutView[float64], error) {
	return matrixView(g.Data, g.Rows, g.Cols, g.Stride)
}

// FromGeneral32 returns a view of g, of shape (rows, columns).
func FromGeneral32(g blas32.General) (safe.MutView[float32], error) {
	return matrixView(g.Data, g.Rows, g.Cols, g.Stride)
}

// ToDense returns a matrix over the memory of v, which has two axes.
func ToDense(v safe.MutView[float64]) (*mat.Dense, error) {
	g, err := ToGeneral64(v)
	if err != nil {
		return nil, err
	}
	m := new(mat.Dense)
	if g.Rows > 0 && g.Cols > 0 { // an empty mat.Dense has no shape
		m.SetRawMatrix(g)
	}
	return m, nil
}

// ToGeneral64 returns a matrix over the memory of v, which has two axes.
func ToGeneral64(v safe.MutView[float64]) (blas64.General, error) {
	data, stride, err := rows(v)
	if err != nil {
		return blas64.General{}, err
	}
	return blas64.General{Rows: v.Dim(0), Cols: v.Dim(1), Stride: stride, Data: data}, nil
}

// ToGeneral32 returns a matrix over the memory of v, which has two axes.
func ToGeneral32(v safe.MutView[float32]) (blas32.General, error) {
	data, stride, err := rows(v)
	if err != nil {
		return blas32.General{}, err
	}
	return blas32.General{Rows: v.Dim(0), Cols: v.Dim(1), Stride: stride, Data: data}, nil
}

func matrixView[T float32 | float64](data []T, rows, columns, stride int) (safe.MutView[T], error) {
	return safe.StridedMutView(data, []int64{int64(rows), int64(columns)}, []int64{int64(stride), 1})
}

// rows returns the memory of a matrix as gonum wants it, and how far its rows are apart.
func rows[T float32 | float64](v safe.MutView[T]) ([]T, int, error) {
	memory, _, err := v.Span()
	if err != nil {
		return nil, 0, err
	}
	if v.NDim() != 2 {
		return nil, 0, &safe.RankError{Got: v.NDim(), Want: 2}
	}
	columns, strides := v.Dim(1), v.Strides()
	if columns > 1 && strides[1] != 1 && v.Size() > 0 {
		return nil, 0, &safe.LayoutError{Axis: 1, Got: strides[1], Want: 1}
	}
	if v.Dim(0) < 2 || v.Size() == 0 { // strides lead nowhere
		return memory, max(columns, 1), nil
	}
	if strides[0] < int64(columns) { // negative, as other overlaps are no MutView
		return nil, 0, &safe.LayoutError{Axis: 0, Got: strides[0], Want: int64(columns)}
	}
	return memory, int(strides[0]), nil
}

package gonum

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dlpackgo/dlpackgo/safe"
)

// FromVecDense returns a view of v with one axis.
func FromVecDense(v *mat.VecDense) (safe.MutView[float64], error) {
	if v == nil {
		return safe.MutView[float64]{}, fmt.Errorf("gonum: the vector is nil; pass one: %w", safe.ErrEmpty)
	}
	return FromVector64(v.RawVector())
}

// FromVector64 returns a view of v with one axis.
func FromVector64(v blas64.Vector) (safe.MutView[float64], error) {
	return vectorView(v.Data, v.N, v.Inc)
}

// FromVector32 returns a view of v with one axis.
func FromVector32(v blas32.Vector) (safe.MutView[float32], error) {
	return vectorView(v.Data, v.N, v.Inc)
}

// ToVecDense returns a vector over the memory of v, which has one axis.
func ToVecDense(v safe.MutView[float64]) (*mat.VecDense, error) {
	raw, err := ToVector64(v)
	if err != nil {
		return nil, err
	}
	vector := new(mat.VecDense)
	if raw.N > 0 { // an empty mat.VecDense has no length
		vector.SetRawVector(raw)
	}
	return vector, nil
}

// ToVector64 returns a vector over the memory of v, which has one axis.
func ToVector64(v safe.MutView[float64]) (blas64.Vector, error) {
	data, increment, err := steps(v)
	if err != nil {
		return blas64.Vector{}, err
	}
	return blas64.Vector{N: v.Dim(0), Inc: increment, Data: data}, nil
}

// ToVector32 returns a vector over the memory of v, which has one axis.
func ToVector32(v safe.MutView[float32]) (blas32.Vector, error) {
	data, increment, err := steps(v)
	if err != nil {
		return blas32.Vector{}, err
	}
	return blas32.Vector{N: v.Dim(0), Inc: increment, Data: data}, nil
}

func vectorView[T float32 | float64](data []T, n, increment int) (safe.MutView[T], error) {
	return safe.StridedMutView(data, []int64{int64(n)}, []int64{int64(increment)})
}

// steps returns the memory of a vector as gonum wants it, and how far its elements are apart.
func steps[T float32 | float64](v safe.MutView[T]) ([]T, int, error) {
	memory, _, err := v.Span()
	if err != nil {
		return nil, 0, err
	}
	if v.NDim() != 1 {
		return nil, 0, &safe.RankError{Got: v.NDim(), Want: 1}
	}
	stride := v.Strides()[0]
	switch {
	case v.Dim(0) < 2:
		return memory, 1, nil
	case stride < 0:
		return nil, 0, &safe.LayoutError{Axis: 0, Got: stride, Want: -stride, Fix: "turn the view around with Slice, or take a copy with Contiguous"}
	}
	return memory, int(stride), nil
}

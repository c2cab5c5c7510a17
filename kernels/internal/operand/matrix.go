// Package operand turns views into what BLAS, LAPACK and gonum's one-dimensional functions take, and makes the tensors
// that they write to.
package operand

import (
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Matrix is an operand with two axes in a layout of BLAS. Rows and Cols are those of the operand; when Trans is
// blas.Trans, memory holds its transpose.
type Matrix[T kernels.Real] struct {
	Data       []T
	Rows, Cols int
	Stride     int // elements from one row in memory to the next
	Trans      blas.Transpose
}

// Stored returns the rows and columns of the matrix in memory.
func (m Matrix[T]) Stored() (rows, cols int) {
	if m.Trans == blas.NoTrans {
		return m.Rows, m.Cols
	}
	return m.Cols, m.Rows
}

// MatrixOf returns v, which must have two axes, as a matrix: over its own memory when rows or columns lie next to each
// other, even with gaps between them, packed to scratch otherwise.
func MatrixOf[T kernels.Real](scratch *Scratch, v safe.View[T]) (Matrix[T], error) {
	m := Matrix[T]{Rows: v.Dim(0), Cols: v.Dim(1), Trans: blas.NoTrans}
	var err error
	if m.Data, m.Stride, err = rowMajor(v); err != nil || m.Stride > 0 {
		return m, err
	}
	turned, err := v.Transpose()
	if err != nil {
		return m, err
	}
	m.Trans = blas.Trans
	if m.Data, m.Stride, err = rowMajor(turned); err != nil || m.Stride > 0 {
		return m, err
	}
	m.Trans = blas.NoTrans
	m.Data, err = Contiguous(scratch, v)
	m.Stride = max(1, m.Cols)
	return m, err
}

// rowMajor returns the memory of v, from its first element to its last, and the distance between rows; that is 0 when
// rows are not contiguous, share memory, or run backwards.
func rowMajor[T safe.Element](v safe.View[T]) (data []T, stride int, err error) {
	rows, cols, strides := v.Dim(0), v.Dim(1), v.Strides()
	if v.Size() == 0 {
		_, err = v.Data() // nothing to read, but a device to refuse
		return nil, max(1, cols), err
	}
	if rows > 1 && strides[0] < int64(cols) || cols > 1 && strides[1] != 1 {
		return nil, 0, nil
	}
	stride = cols
	if rows > 1 {
		stride = int(strides[0])
	}
	data, err = from(v, (rows-1)*stride+cols)
	return data, stride, err
}

// from returns length elements of v's memory from its first on. The caller has seen from the strides that they are v's.
func from[T safe.Element](v safe.View[T], length int) ([]T, error) {
	for v.NDim() > 0 {
		part, err := v.Sub(0)
		if err != nil {
			return nil, err
		}
		v = part
	}
	first, err := v.Data()
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(unsafe.SliceData(first), length), nil
}

// Vector is an operand with one axis in a layout of BLAS.
type Vector[T kernels.Real] struct {
	Data []T
	N    int
	Inc  int // elements from one to the next; positive
}

// VectorOf returns v, which must have one axis, as a vector: over its own memory when its stride is positive, packed to
// scratch otherwise.
func VectorOf[T kernels.Real](scratch *Scratch, v safe.View[T]) (Vector[T], error) {
	x := Vector[T]{N: v.Dim(0), Inc: 1}
	var err error
	if x.N > 1 && v.Strides()[0] > 1 {
		x.Inc = int(v.Strides()[0])
		x.Data, err = from(v, (x.N-1)*x.Inc+1)
		return x, err
	}
	x.Data, err = Contiguous(scratch, v)
	return x, err
}

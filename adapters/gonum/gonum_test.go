package gonum_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dlpackgo/dlpackgo/adapters/gonum"
	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func ExampleToDense() {
	tensor, err := safe.New[float64](2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tensor.Close()
	v, _ := safe.MutViewOf[float64](tensor)
	m, err := gonum.ToDense(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Mul(mat.NewDense(2, 1, []float64{1, 2}), mat.NewDense(1, 2, []float64{3, 4})) // into the tensor's memory
	last, _ := v.At(1, 1)
	fmt.Println(last)
	// Output: 8
}

func ExampleFromDense() {
	m := mat.NewDense(3, 4, nil)
	corner, err := gonum.FromDense(m.Slice(1, 3, 1, 3).(*mat.Dense))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = corner.CopyFrom([]float64{1, 2, 3, 4})
	fmt.Println(mat.Formatted(m))
	// Output:
	// ⎡0  0  0  0⎤
	// ⎢0  1  2  0⎥
	// ⎣0  3  4  0⎦
}

func TestMatricesShareMemoryBothWays(t *testing.T) {
	flat := make([]float64, 20)
	big := must(safe.SliceMutView(flat, 4, 5))
	for name, v := range map[string]safe.MutView[float64]{
		"whole":       big,
		"corner":      must(must(big.Slice(0, 1, 3, 1)).Slice(1, 2, 5, 1)),
		"every other": must(big.Slice(0, 0, 4, 2)),
		"one row":     must(big.Slice(0, 3, 4, 1)),
		"one column":  must(big.Slice(1, 3, 4, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			clear(flat)
			m := must(gonum.ToDense(v))
			if rows, columns := m.Dims(); rows != v.Dim(0) || columns != v.Dim(1) {
				t.Fatalf("matrix is %d by %d, view is %v", rows, columns, v.Shape())
			}
			m.Set(v.Dim(0)-1, v.Dim(1)-1, 7)
			if got := must(v.At(v.Dim(0)-1, v.Dim(1)-1)); got != 7 {
				t.Errorf("the view has %v", got)
			}
			back := must(gonum.FromDense(m))
			if back.DataPtr() != v.DataPtr() || !slices.Equal(back.Shape(), v.Shape()) {
				t.Errorf("came back as %v", back)
			}
		})
	}
}

func TestSinglePrecisionAndVectorsShareMemory(t *testing.T) {
	flat := make([]float32, 12)
	v := must(safe.SliceMutView(flat, 3, 4))
	g := must(gonum.ToGeneral32(v))
	g.Data[g.Stride+2] = 5
	if got := must(must(gonum.FromGeneral32(g)).At(1, 2)); got != 5 {
		t.Errorf("got %v", got)
	}
	column := must(must(must(v.Transpose()).Sub(2)).Slice(0, 0, 3, 1))
	vector := must(gonum.ToVector32(column))
	if vector.Inc != 4 || vector.N != 3 || vector.Data[vector.Inc] != 5 {
		t.Errorf("vector is %+v", vector)
	}
	if back := must(gonum.FromVector32(vector)); back.DataPtr() != column.DataPtr() || back.Strides()[0] != 4 {
		t.Errorf("came back as %v", back)
	}

	diagonal := must(safe.StridedMutView(make([]float64, 9), []int64{3}, []int64{4}))
	dense := must(gonum.ToVecDense(diagonal))
	dense.SetVec(2, 3)
	if got := must(must(gonum.FromVecDense(dense)).At(2)); got != 3 || must(diagonal.At(2)) != 3 {
		t.Errorf("got %v", got)
	}
}

func TestEmptyMatricesStayEmpty(t *testing.T) {
	for _, shape := range [][]int{{0, 3}, {3, 0}} {
		v := must(safe.SliceMutView([]float64{}, shape...))
		m := must(gonum.ToDense(v))
		if !m.IsEmpty() {
			t.Errorf("%v became %v", shape, m)
		}
		if g := must(gonum.ToGeneral64(v)); g.Rows != shape[0] || g.Cols != shape[1] {
			t.Errorf("%v became %+v", shape, g)
		}
	}
	if !must(gonum.ToVecDense(must(safe.SliceMutView([]float64{})))).IsEmpty() {
		t.Error("an empty vector is not empty")
	}
	if v := must(gonum.FromDense(new(mat.Dense))); v.Size() != 0 {
		t.Errorf("an empty matrix became %v", v)
	}
}

func TestStridesOfWhatHasNoElementsMeanNothing(t *testing.T) {
	for _, shape := range [][]int64{{0, 3}, {3, 0}, {0, 0}} {
		for _, strides := range [][]int64{{1, 2}, {-3, 1}, {0, 0}, {math.MaxInt64, math.MinInt64}} {
			v := must(safe.StridedMutView([]float64{}, shape, strides))
			g := must(gonum.ToGeneral64(v))
			if g.Rows != int(shape[0]) || g.Cols != int(shape[1]) || g.Stride < max(1, g.Cols) {
				t.Errorf("%v with strides %v became %+v", shape, strides, g)
			}
			if m := must(gonum.ToDense(v)); !m.IsEmpty() {
				t.Errorf("%v with strides %v became %v", shape, strides, m)
			}
			g.Stride = int(strides[0])
			must(gonum.FromGeneral64(g))
		}
	}
	for _, stride := range []int64{-1, 0, math.MinInt64} {
		if vector := must(gonum.ToVector32(must(safe.StridedMutView([]float32{}, []int64{0}, []int64{stride})))); vector.N != 0 || vector.Inc != 1 {
			t.Errorf("stride %d became %+v", stride, vector)
		}
		must(gonum.FromVector64(blas64.Vector{Inc: int(stride)}))
	}
}

func TestWhatGonumCannotExpressIsRefused(t *testing.T) {
	v := must(safe.SliceMutView(make([]float64, 6), 2, 3))
	_, transposed := gonum.ToDense(must(v.Transpose()))
	_, upsideDown := gonum.ToDense(must(v.Slice(0, 1, -1, -1)))
	_, backwards := gonum.ToVector64(must(must(v.Sub(0)).Slice(0, 2, -1, -1)))
	for _, err := range []error{transposed, upsideDown, backwards} {
		var layout *safe.LayoutError
		if !errors.As(err, &layout) {
			t.Errorf("got %v", err)
		}
	}
	_, flat := gonum.ToDense(must(v.Reshape(6)))
	_, deep := gonum.ToVecDense(v)
	for _, err := range []error{flat, deep} {
		if !errors.Is(err, safe.ErrRank) {
			t.Errorf("got %v", err)
		}
	}
	_, short := gonum.FromGeneral64(blas64.General{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 5)})
	_, crossed := gonum.FromGeneral64(blas64.General{Rows: 2, Cols: 3, Stride: 2, Data: make([]float64, 6)})
	_, negative := gonum.FromVector32(blas32.Vector{N: 2, Inc: -1, Data: make([]float32, 2)})
	if !errors.Is(short, safe.ErrLength) || !errors.Is(crossed, safe.ErrOverlap) || !errors.Is(negative, safe.ErrLayout) {
		t.Errorf("got %v, %v, %v", short, crossed, negative)
	}
}

func TestAMissingMatrixIsAnError(t *testing.T) {
	if _, err := gonum.FromDense(nil); !errors.Is(err, safe.ErrEmpty) {
		t.Errorf("got %v", err)
	}
	if _, err := gonum.FromVecDense(nil); !errors.Is(err, safe.ErrEmpty) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoMatrixIsRefused(t *testing.T) {
	data := make([]float64, 6)
	general := func(rows, columns, stride int) blas64.General {
		return blas64.General{Rows: rows, Cols: columns, Stride: stride, Data: data}
	}
	vector := func(n, increment int) blas64.Vector { return blas64.Vector{N: n, Inc: increment, Data: data} }
	for _, row := range []struct {
		name string
		view func() (safe.MutView[float64], error)
		want error
	}{
		{"nil", func() (safe.MutView[float64], error) { return gonum.FromDense(nil) }, safe.ErrEmpty},
		{"a nil vector", func() (safe.MutView[float64], error) { return gonum.FromVecDense(nil) }, safe.ErrEmpty},
		{"negative rows", func() (safe.MutView[float64], error) { return gonum.FromGeneral64(general(-1, 2, 2)) }, ffi.ErrExtent},
		{"rows in each other", func() (safe.MutView[float64], error) { return gonum.FromGeneral64(general(2, 3, 2)) }, safe.ErrOverlap},
		{"a negative stride", func() (safe.MutView[float64], error) { return gonum.FromGeneral64(general(2, 2, -2)) }, safe.ErrLayout},
		{"too little data", func() (safe.MutView[float64], error) { return gonum.FromGeneral64(general(3, 3, 3)) }, safe.ErrLength},
		{"no data", func() (safe.MutView[float64], error) {
			return gonum.FromGeneral64(blas64.General{Rows: 1, Cols: 1, Stride: 1})
		}, safe.ErrLength},
		{"rows beyond an int", func() (safe.MutView[float64], error) { return gonum.FromGeneral64(general(math.MaxInt, 3, 3)) }, ffi.ErrSize},
		{"a negative number", func() (safe.MutView[float64], error) { return gonum.FromVector64(vector(-1, 1)) }, ffi.ErrExtent},
		{"a vector backwards", func() (safe.MutView[float64], error) { return gonum.FromVector64(vector(2, -1)) }, safe.ErrLayout},
		{"a vector that stays", func() (safe.MutView[float64], error) { return gonum.FromVector64(vector(2, 0)) }, safe.ErrOverlap},
		{"the empty matrix", func() (safe.MutView[float64], error) { return gonum.FromDense(new(mat.Dense)) }, nil},
		{"the empty vector", func() (safe.MutView[float64], error) { return gonum.FromVecDense(new(mat.VecDense)) }, nil},
	} {
		if _, err := row.view(); !errors.Is(err, row.want) || err != nil && strings.Contains(err.Error(), "producer") {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	var nothing safe.MutView[float64]
	for name, to := range map[string]func() error{
		"ToDense":    func() error { _, err := gonum.ToDense(nothing); return err },
		"ToVecDense": func() error { _, err := gonum.ToVecDense(nothing); return err },
	} {
		if err := to(); !errors.Is(err, safe.ErrEmpty) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

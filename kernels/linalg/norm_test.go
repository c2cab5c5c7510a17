package linalg_test

import (
	"errors"
	"math"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
)

func TestNormOverAllAndAlongAxes(t *testing.T) {
	leftovers.WantNone(t)
	x := []float64{3, 4, 0, 0, 5, 12}
	for _, c := range []struct {
		axes  []int
		shape []int64
		want  []float64
	}{
		{nil, nil, []float64{math.Sqrt(194)}},
		{[]int{1}, []int64{2}, []float64{5, 13}},
		{[]int{-2}, []int64{3}, []float64{3, math.Sqrt(41), 12}},
		{[]int{0, 1}, nil, []float64{math.Sqrt(194)}},
	} {
		for _, layout := range test.Layouts(t, x, 2, 3) {
			result, err := linalg.Norm(layout.View, c.axes...)
			if err != nil {
				t.Fatal(err)
			}
			test.WantShape(t, result, c.shape...)
			test.WantClose[float64](t, result, c.want, 1e-14)
		}
		for _, layout := range test.Layouts(t, singles(x), 2, 3) {
			result, err := linalg.Norm(layout.View, c.axes...)
			if err != nil {
				t.Fatal(err)
			}
			test.WantClose[float32](t, result, c.want, 1e-5)
		}
	}
}

func TestNormNeitherOverflowsNorUnderflowsOnTheWay(t *testing.T) {
	for _, scale := range []float64{1e200, 1e-200, 1e-315, 0, math.Inf(1), math.NaN()} {
		result, err := linalg.Norm(test.View(t, []float64{3 * scale, 4 * scale}, 2))
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float64](t, result, []float64{5 * scale}, 1e-7*scale)
	}
}

func TestVectorNormOfOtherOrders(t *testing.T) {
	x := test.View(t, []float64{-1, 2, -2}, 3)
	for order, want := range map[float64]float64{1: 5, 2: 3, 3: math.Cbrt(17), math.Inf(1): 2} {
		result, err := linalg.VectorNorm(x, order)
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float64](t, result, []float64{want}, 1e-14)
		result, err = linalg.VectorNorm(test.View(t, []float32{-1, 2, -2}, 3), order)
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float32](t, result, []float64{want}, 1e-6)
	}
	for _, order := range []float64{0.5, 0, -1, math.NaN()} {
		if _, err := linalg.VectorNorm(x, order); !errors.Is(err, kernels.ErrValue) {
			t.Errorf("order %v: error is %v", order, err)
		}
	}
}

func TestNormOfNothingIsZero(t *testing.T) {
	result, err := linalg.Norm(test.View(t, []float64{}, 2, 0), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{0, 0}, 0)
}

func TestNormRefusesAxesThatAreNotThere(t *testing.T) {
	x := test.View(t, random(6, 17), 2, 3)
	for _, axes := range [][]int{{2}, {-3}, {0, 0}, {1, -1}} {
		_, err := linalg.Norm(x, axes...)
		var axis *kernels.AxisError
		if !errors.As(err, &axis) || !errors.Is(err, kernels.ErrAxis) {
			t.Errorf("axes %v: error is %v", axes, err)
		}
	}
}

// What is added to a sum in single precision that is 2^24 times as large is lost.
func TestLongSumsOfSinglePrecisionLoseNothing(t *testing.T) {
	const size = 1 << 20
	x := make([]float32, size)
	for i := range x {
		x[i] = 1
	}
	x[0] = 4100
	want := math.Sqrt(4100*4100 + size - 1)
	norm, err := linalg.Norm(test.View(t, x, size))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float32](t, norm, []float64{want}, 1e-3)
	dot, err := linalg.MatMul(test.View(t, x, size), test.View(t, x, size))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float32](t, dot, []float64{want * want}, 2)
}

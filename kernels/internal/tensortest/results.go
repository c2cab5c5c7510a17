package tensortest

import (
	"math"
	"runtime"
	"testing"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Elements returns a copy of the elements of a result, and closes it.
func Elements[T safe.Element](t testing.TB, result *safe.Tensor) []T {
	t.Helper()
	data := Must[[]T](t)(safe.Data[T](result))
	elements := append([]T{}, data...)
	runtime.KeepAlive(result)
	if err := result.Close(); err != nil {
		t.Fatal(err)
	}
	return elements
}

// WantShape fails the test when result has another shape.
func WantShape(t testing.TB, result *safe.Tensor, shape ...int64) {
	t.Helper()
	if got, want := kernels.FormatShape(result.Shape()), kernels.FormatShape(shape); got != want {
		t.Fatalf("shape is %s, want %s", got, want)
	}
}

// WantClose compares a result with what it should be, closes it, and fails the test where they differ by more than
// tolerance. NaN equals NaN.
func WantClose[T kernels.Real](t testing.TB, result *safe.Tensor, want []float64, tolerance float64) {
	t.Helper()
	WantNear(t, Elements[T](t, result), want, tolerance)
}

// WantNear is WantClose for elements.
func WantNear[T kernels.Real](t testing.TB, got []T, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("there are %d elements, want %d", len(got), len(want))
	}
	for i := range got {
		a, b := float64(got[i]), want[i]
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			continue
		}
		if !(math.Abs(a-b) <= tolerance) {
			t.Fatalf("element %d is %v, want %v (all: %v)", i, a, b, got[:min(len(got), 12)])
		}
	}
}

package linalg_test

import (
	"errors"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
	"strings"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/safe"
)

// viewOf returns a view of as many elements as shape counts.
func viewOf(t testing.TB, elements []float64, shape []int) safe.View[float64] {
	t.Helper()
	size := 1
	for _, extent := range shape {
		size *= extent
	}
	if len(shape) == 0 {
		scalar, err := test.View(t, elements[:1], 1).Sub(0)
		if err != nil {
			t.Fatal(err)
		}
		return scalar
	}
	return test.View(t, elements[:size], shape...)
}

// broadcastRows returns a view whose rows all are row, in the same memory.
func broadcastRows(t testing.TB, row []float64, count int64) safe.View[float64] {
	t.Helper()
	view, err := safe.FromRawParts[float64](unsafe.Pointer(unsafe.SliceData(row)), ffi.DLDevice{DeviceType: ffi.CPU},
		[]int64{count, int64(len(row))}, []int64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	return view
}

var notReadable [64]float64

// deviceMemory returns an address that stands for one of a device.
func deviceMemory() unsafe.Pointer { return unsafe.Pointer(&notReadable) }

func wantShapeError(t *testing.T, err error, argument string, parts ...string) {
	t.Helper()
	var shape *kernels.ShapeError
	if !errors.As(err, &shape) || !errors.Is(err, kernels.ErrShape) || shape.Argument != argument {
		t.Fatalf("error is %v, want a *ShapeError for %s", err, argument)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q lacks %q", err, part)
		}
	}
}

func TestViewsThatAreGoneAreRefusedAsThat(t *testing.T) {
	square := test.View(t, identity(3), 3, 3)
	test.WantGone(t, map[string]func(x safe.View[float64]) error{
		"matmul: a":      func(x safe.View[float64]) error { _, err := linalg.MatMul(x, square); return err },
		"matmul: b":      func(x safe.View[float64]) error { _, err := linalg.MatMul(square, x); return err },
		"solve: a":       func(x safe.View[float64]) error { _, err := linalg.Solve(x, square); return err },
		"solve: b":       func(x safe.View[float64]) error { _, err := linalg.Solve(square, x); return err },
		"svd: a":         func(x safe.View[float64]) error { _, _, _, err := linalg.SVD(x); return err },
		"eigh: a":        func(x safe.View[float64]) error { _, _, err := linalg.Eigh(x); return err },
		"pca: x":         func(x safe.View[float64]) error { _, _, _, err := linalg.PCA(x, 1); return err },
		"norm: x":        func(x safe.View[float64]) error { _, err := linalg.Norm(x, 0); return err },
		"vector_norm: x": func(x safe.View[float64]) error { _, err := linalg.VectorNorm(x, 1); return err },
	})
}

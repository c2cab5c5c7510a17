//go:build !asan

// AddressSanitizer ends the process at an allocation that fails, unless it is told otherwise.

package linalg_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
	"github.com/dlpackgo/dlpackgo/safe"
)

func TestOneElementRepeatedBeyondAllMemoryIsAnError(t *testing.T) {
	leftovers.WantNone(t)
	const extent = 1 << 22 // squared, 128 TiB
	huge, err := safe.FromRawParts[float64](unsafe.Pointer(&[]float64{1}[0]), ffi.DLDevice{DeviceType: ffi.CPU},
		[]int64{extent, extent}, []int64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	row, err := huge.Sub(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"matmul": func() error { _, err := linalg.MatMul(huge, row); return err },
		"solve":  func() error { _, err := linalg.Solve(huge, row); return err },
		"svd":    func() error { _, _, _, err := linalg.SVD(huge); return err },
		"eigh":   func() error { _, _, err := linalg.Eigh(huge); return err },
		"pca":    func() error { _, _, _, err := linalg.PCA(huge, 1); return err },
		"norm":   func() error { _, err := linalg.Norm(huge); return err },
	} {
		if err := call(); !errors.Is(err, safe.ErrMemory) {
			t.Errorf("%s: error is %v, want safe.ErrMemory", name, err)
		}
	}
}

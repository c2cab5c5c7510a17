//go:build !asan

// AddressSanitizer ends the process at an allocation that fails, unless it is told otherwise.

package fft_test

import (
	"errors"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels/fft"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/safe"
)

func TestALengthBeyondAllMemoryIsAnError(t *testing.T) {
	leftovers.WantNone(t)
	for _, length := range []int{1 << 40, 1<<40 - 87} { // the second one is a prime
		_, err := fft.RFFT(test.View(t, []float64{1, 2, 3}, 3), length)
		if !errors.Is(err, safe.ErrMemory) {
			t.Errorf("rfft of %d: error is %v, want safe.ErrMemory", length, err)
		}
		_, err = fft.IRFFT(test.View(t, []complex128{1, 2, 3}, 3), length)
		if !errors.Is(err, safe.ErrMemory) {
			t.Errorf("irfft of %d: error is %v, want safe.ErrMemory", length, err)
		}
	}
}

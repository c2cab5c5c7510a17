//go:build !asan

// AddressSanitizer ends the process at an allocation that fails, unless it is told otherwise.

package safe_test

import (
	"testing"

	"github.com/dlpackgo/dlpackgo/safe"
)

func TestACopyThatNoMemoryHasIsAnError(t *testing.T) {
	for _, extent := range []int64{1 << 62, 1 << 44} {
		v := must(safe.StridedView([]byte{1}, []int64{extent}, []int64{0}))
		_, err := v.Contiguous()
		requireError(t, err, safe.ErrMemory)
	}
}

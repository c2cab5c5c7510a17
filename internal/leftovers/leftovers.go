// Package leftovers is for tests that say that nothing is left over from them: no owner, and no byte of memory, in C.
package leftovers

import (
	"runtime"
	"testing"
	"time"

	"github.com/dlpackgo/dlpackgo/safe"
)

// WantNone fails the test, at its end, if something is left over from it. Tests that use it do not run in parallel.
func WantNone(t *testing.T) {
	t.Helper()
	Settle(t)
	t.Cleanup(func() {
		safe.Collect()
		if owners, bytes := safe.Live(); owners != 0 || bytes != 0 {
			t.Errorf("%d owners and %d bytes are left over", owners, bytes)
		}
	})
}

// Settle waits until nothing is left over from earlier tests of the process. What they forgot is released by the garbage
// collector whenever it comes round, and would be missing from a count that includes it.
func Settle(t testing.TB) {
	t.Helper()
	CollectUntil(t, func() bool {
		owners, bytes := safe.Live()
		return owners == 0 && bytes == 0
	})
}

// CollectUntil collects garbage until done, for a while.
func CollectUntil(t testing.TB, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			owners, bytes := safe.Live()
			t.Fatalf("the garbage collector never got there: %d owners and %d bytes live", owners, bytes)
		}
		runtime.GC()
		safe.Collect()
	}
}

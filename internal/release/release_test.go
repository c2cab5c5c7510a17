package release_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/release"
)

func TestByteClearsOneByteAndNoOther(t *testing.T) {
	for place, want := range map[uint]uint64{0: 0x0123456789abcd00, 1: 0x0123456789ab00ef, 7: 0x0023456789abcdef} {
		word := uint64(0x0123456789abcdef)
		if release.Byte(&word, place); word != want {
			t.Errorf("place %d left %#x, want %#x", place, word, want)
		}
	}
}

// The byte is a lock here, which guards a plain counter, while the rest of the word is counted up and down.
func TestByteUnlocksWhatACompareAndSwapLocked(t *testing.T) {
	const rounds, above = 100_000, uint64(1) << 8
	var word uint64
	locked := 0
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range rounds {
				for {
					old := atomic.LoadUint64(&word)
					if old&0xff == 0 && atomic.CompareAndSwapUint64(&word, old, old|1) {
						break
					}
					runtime.Gosched()
				}
				locked++
				release.Byte(&word, 0)
				atomic.AddUint64(&word, above)
			}
		})
	}
	all.Wait()
	if locked != 4*rounds || word != 4*rounds*above {
		t.Errorf("%d times locked, and the word is %#x; want %d and %#x", locked, word, 4*rounds, 4*rounds*above)
	}
}

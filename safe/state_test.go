package safe_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func TestClosingAtOnceIsHarmlessAndReleasesOnce(t *testing.T) {
	leftovers.WantNone(t)
	const rounds = 200
	requireDeleted(t, rounds)
	for range rounds {
		tensor := must(safe.Adopt(ctest.Produce(2)))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := tensor.Close(); err != nil {
					t.Errorf("one of several at once: %v", err)
				}
			})
		}
		all.Wait()
	}
}

// A tensor that is packed is not lent, not even while it is packed.
func TestPackingNeverKeepsATensorFromBeingClosed(t *testing.T) {
	leftovers.WantNone(t)
	const rounds = 60
	requireDeleted(t, rounds)
	for range rounds {
		tensor := must(safe.AdoptVersioned(ctest.ProduceVersioned(0, 3)))
		var all sync.WaitGroup
		var packed atomic.Int64
		for range 3 {
			all.Go(func() {
				for {
					m, err := safe.Pack(tensor)
					if err != nil {
						if !errors.Is(err, safe.ErrReleased) {
							t.Errorf("got %v", err)
						}
						return
					}
					if packed.Add(1); ctest.Sum(&m.DLTensor) != 3 {
						t.Error("packed other elements")
					}
					ctest.Delete(m)
				}
			})
		}
		for packed.Load() < 50 {
			runtime.Gosched()
		}
		requireEqual(t, tensor.Close(), nil)
		all.Wait()
	}
}

func TestLendersAndCloseAgreeOnWhoCameFirst(t *testing.T) {
	leftovers.WantNone(t)
	const rounds = 50
	requireDeleted(t, rounds)
	for range rounds {
		tensor := must(safe.AdoptVersioned(ctest.ProduceVersioned(0, 3)))
		var all sync.WaitGroup
		var inside, loans atomic.Int64
		for range 3 {
			all.Go(func() {
				for {
					err := safe.Lend(tensor, func(m *ffi.DLManagedTensor) error {
						inside.Add(1)
						loans.Add(1)
						defer inside.Add(-1)
						if ctest.Sum(&m.DLTensor) != 3 {
							return errors.New("lent other elements")
						}
						return nil
					})
					if errors.Is(err, safe.ErrReleased) {
						return
					} else if err != nil {
						t.Error(err)
					}
					runtime.Gosched()
				}
			})
		}
		for loans.Load() < 20 {
			runtime.Gosched()
		}
		for {
			err := tensor.Close()
			if err == nil {
				requireEqual(t, inside.Load(), 0)
				break
			}
			requireError(t, err, safe.ErrLent)
			// That nothing was changed, views must not even for a moment think otherwise.
			if tensor.Size() != 3 {
				t.Fatal("a tensor that was not closed was away")
			}
			runtime.Gosched()
		}
		all.Wait()
	}
}

// countsOf returns how many references and exports of what was moved are counted.
func countsOf(m safe.Moved) (references, exports uint64) {
	counts := atomic.LoadUint64((*uint64)(m.Owner))
	return counts & (1<<32 - 1), counts >> 32
}

func TestWhatIsMovedCountsNoExportThatWasNotMade(t *testing.T) {
	leftovers.WantNone(t)
	for packed := range 100 {
		tensor := must(safe.New[float32](2))
		var exports []*ffi.DLManagedTensor
		for range packed {
			exports = append(exports, must(safe.Pack(tensor)))
		}
		moved := must(tensor.Move())
		references, out := countsOf(moved)
		requireEqual(t, references, uint64(packed)+1)
		requireEqual(t, out, uint64(packed))
		again := must(safe.Receive(moved))
		for _, m := range exports {
			ctest.Delete(m)
		}
		one := must(safe.Pack(again)) // others may look at the owner now, and wonder about more
		references, out = countsOf(moved)
		requireEqual(t, references, 2)
		requireEqual(t, out, 1)
		ctest.Delete(one)
		requireEqual(t, again.Close(), nil)
	}
}

func TestAForgottenTensorThatWasPackedIsReleased(t *testing.T) {
	leftovers.WantNone(t)
	func() {
		ctest.Delete(must(safe.Pack(must(safe.New[float32](2)))))
	}()
	leftovers.Settle(t)
}

func TestAForgottenTensorLivesOnInItsExport(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 1)
	var export *ffi.DLManagedTensor
	func() {
		tensor := must(safe.AdoptVersioned(ctest.ProduceVersioned(0, 3)))
		ctest.Delete(must(safe.Pack(tensor)))
		export = must(safe.Pack(tensor))
	}()
	for range 5 {
		runtime.GC()
		requireEqual(t, ctest.Sum(&export.DLTensor), 3)
	}
	ctest.Delete(export)
}

// Tensors come and go, and what is behind them in C is used again, while exports of earlier ones are still out.
func TestExportsOfEarlierTensorsStayWhatTheyWere(t *testing.T) {
	leftovers.WantNone(t)
	const rounds = 100
	requireDeleted(t, rounds)
	sums := map[*ffi.DLManagedTensor]float64{}
	for n := range int64(rounds) {
		tensor := must(safe.AdoptVersioned(ctest.ProduceVersioned(0, n)))
		for range n % 4 {
			ctest.Delete(must(safe.Pack(tensor)))
		}
		for range n % 3 {
			sums[must(safe.Pack(tensor))] = float64(n*(n-1)) / 2
		}
		requireEqual(t, tensor.Close(), nil)
		if n%10 == 9 {
			for m, sum := range sums {
				requireEqual(t, ctest.Sum(&m.DLTensor), sum)
				ctest.Delete(m)
				delete(sums, m)
			}
		}
	}
	for m, sum := range sums {
		requireEqual(t, ctest.Sum(&m.DLTensor), sum)
		ctest.Delete(m)
	}
}

// Views of closed tensors are packed while others are made, whose guards were theirs. They come through a type that does not
// say so itself, so that all hangs on who takes what is held ready first.
func TestAStaleViewIsNeverPackedWhoeverHasItsGuardNow(t *testing.T) {
	leftovers.WantNone(t)
	const rounds = 5000
	requireDeleted(t, rounds)
	var latest atomic.Pointer[safe.AnyView]
	var over atomic.Bool
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			var earlier [4]safe.AnyView
			for i := 0; !over.Load(); i++ {
				if v := latest.Load(); v != nil {
					earlier[i%len(earlier)] = *v
				}
				for _, v := range earlier {
					n := float64(v.Size())
					m, err := safe.Pack(answer{view: v})
					if err != nil {
						if !errors.Is(err, safe.ErrReleased) && !errors.Is(err, safe.ErrEmpty) {
							t.Errorf("got %v", err)
						}
						continue
					}
					if sum := ctest.Sum(&m.DLTensor); sum != n*(n-1)/2 {
						t.Errorf("packed other elements: %v for %v elements", sum, n)
					}
					ctest.DeleteElsewhere(m)
				}
			}
		})
	}
	for n := range int64(rounds) {
		tensor := must(safe.AdoptVersioned(ctest.ProduceVersioned(0, n%50+2)))
		ctest.Delete(must(safe.Pack(tensor)))
		v := tensor.AnyView()
		latest.Store(&v)
		runtime.Gosched()
		m := must(safe.Pack(tensor))
		requireEqual(t, tensor.Close(), nil)
		ctest.Delete(m)
	}
	over.Store(true)
	all.Wait()
}

func TestTensorsThatAreRefusedOrGoneCountNoExport(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.Own(must(safe.SliceView(count(3))), nil))
	for range 100 {
		_, err := safe.Pack(tensor)
		requireError(t, err, safe.ErrReadOnly)
	}
	moved := must(tensor.Move())
	references, out := countsOf(moved)
	requireEqual(t, references, 1)
	requireEqual(t, out, 0)
	_, err := safe.PackVersioned(tensor)
	requireError(t, err, safe.ErrReleased)
	requireEqual(t, must(safe.Receive(moved)).Close(), nil)
}

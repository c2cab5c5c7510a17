package safe

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/internal/release"
)

// state says in one word which generation the memory of a tensor is in, and what is done with it: so whoever lends, exports or
// takes away does it by one change, which fails if any other came first. From the highest bit down it counts generations,
// and further loans: those besides the one that a guard holds ready, at the same time or nested. Then comes a bit that is set
// once an export is counted for the envelope at hand. Of the two lowest bytes one is 1 while a goroutine makes an export, the
// other while the loan held ready is out. Whoever set them is alone with them, and clears them by a store, which takes a third
// of the time of an atomic operation on the word.
type state struct{ atomic.Uint64 }

const (
	loanOut       = uint64(1) << 0
	exporting     = uint64(1) << 8
	atHand        = uint64(1) << 16
	furtherLoan   = uint64(1) << 17
	oneGeneration = uint64(1) << 36

	furtherLoans   = oneGeneration - furtherLoan
	generations    = ^(oneGeneration - 1)
	lastGeneration = generations
)

// outcome is what came of an attempt to end a generation.
type outcome int

const (
	done  outcome = iota
	stale         // it is over already
	lent          // a loan is out
	wait          // for another goroutine, which is done in a moment
)

// lend counts a loan of the memory of generation: the one held ready, if it is there and to be had, else a further one. It
// returns loanOut or furtherLoan, which end takes back, or 0 when the generation is over.
func (s *state) lend(generation uint64, ready bool) (loan uint64) {
	for {
		old := s.Load()
		switch {
		case old&generations != generation:
			return 0
		case ready && old&loanOut == 0:
			loan = loanOut
		case old&furtherLoans == furtherLoans:
			runtime.Gosched() // half a million are out
			continue
		default:
			loan = furtherLoan
		}
		if s.CompareAndSwap(old, old+loan) {
			return loan
		}
	}
}

// lendAtOnce is lend for the usual case, in which nothing else is done with the memory, and reports whether it was that. It is
// small enough to be inlined.
func (s *state) lendAtOnce(generation uint64) bool {
	old := s.Load()
	return old&^atHand == generation && s.CompareAndSwap(old, old|loanOut)
}

// end ends the loan that a guard holds ready.
func (s *state) end() { s.clear(0) }

func (s *state) clear(place uint) { release.Byte((*uint64)(unsafe.Pointer(s)), place) }

// endFurther ends one of the other loans.
func (s *state) endFurther() { s.Add(^(furtherLoan - 1)) }

// inUse reports whether a loan is out, or a goroutine makes an export.
func (s *state) inUse() bool { return s.Load()&(loanOut|furtherLoans|exporting) != 0 }

// beginExport keeps the memory of generation from being taken away until endExport. It reports false when the generation is over.
func (s *state) beginExport(generation uint64) bool {
	for {
		old := s.Load()
		switch {
		case old&generations != generation:
			return false
		case old&exporting != 0:
			runtime.Gosched()
		case s.CompareAndSwap(old, old|exporting):
			return true
		}
	}
}

// endExport ends what beginExport began. When an export was counted for the envelope at hand, it says so from now on.
func (s *state) endExport(counted bool) {
	if counted {
		s.Add(atHand - exporting)
	} else {
		s.clear(1)
	}
}

// hasAtHand reports whether the generation is not over, and has an export counted for the envelope at hand.
func (s *state) hasAtHand(generation uint64) bool {
	return s.Load()&(generations|atHand) == generation|atHand
}

// retire ends a generation, unless a loan is out, and returns the state that it was in.
func (s *state) retire(generation uint64) (old uint64, o outcome) {
	for {
		old := s.Load()
		switch {
		case old&generations != generation:
			return 0, stale
		case old&(loanOut|furtherLoans) != 0:
			return 0, lent
		case old&exporting != 0:
			return 0, wait
		case s.CompareAndSwap(old, generation+oneGeneration):
			return old, done
		}
	}
}

// advance ends the generation whatever is out, and returns the next.
func (s *state) advance() uint64 { return s.Add(oneGeneration) & generations }

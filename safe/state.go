package safe

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/internal/release"
)

// state says in one word which generation the memory of a tensor is in, and what is done with it: so whoever lends, exports or
// takes away does it by one change, which fails if any other came first. From the highest bit down it counts generations,
// further loans (those besides the one that a guard holds ready, at the same time or nested), and exports that are counted by
// the owner but not made yet; then comes a bit that is set while one goroutine has more of them counted. The lowest byte is 1
// while the loan held ready is out, and has nothing else in it: so the borrower, to whom it belongs meanwhile, ends the loan
// by a store, which takes a third of the time of an atomic operation on the word.
type state struct{ atomic.Uint64 }

const (
	loanOut       = uint64(1) << 0
	counting      = uint64(1) << 8
	exportAtHand  = uint64(1) << 9
	furtherLoan   = uint64(1) << 16
	oneGeneration = uint64(1) << 36

	exportsAtHand  = furtherLoan - exportAtHand
	furtherLoans   = oneGeneration - furtherLoan
	generations    = ^(oneGeneration - 1)
	lastGeneration = generations
)

// outcome is what came of an attempt to change a state.
type outcome int

const (
	done  outcome = iota
	stale         // the generation is over
	lent          // a loan is out
	wait          // for another goroutine, which is done in a moment
	none          // no export is at hand; the caller is to have some counted
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
			runtime.Gosched() // a million are out
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
	return old&^exportsAtHand == generation && s.CompareAndSwap(old, old|loanOut)
}

// end ends the loan that a guard holds ready.
func (s *state) end() { release.Byte((*uint64)(unsafe.Pointer(s))) }

// endFurther ends one of the other loans.
func (s *state) endFurther() { s.Add(^(furtherLoan - 1)) }

// lent reports whether a loan is out.
func (s *state) lent() bool { return s.Load()&(loanOut|furtherLoans) != 0 }

// putExports ends what an outcome of none began: so many exports more are at hand.
func (s *state) putExports(count uint64) { s.Add(count*exportAtHand - counting) }

// exportsAtHand returns how many exports are at hand.
func (s *state) exportsAtHand() uint64 { return s.Load() & exportsAtHand / exportAtHand }

// retire ends a generation, unless a loan is out. The exports that were at hand are the caller's.
func (s *state) retire(generation uint64) (atHand uint64, o outcome) {
	for {
		old := s.Load()
		switch {
		case old&generations != generation:
			return 0, stale
		case old&(loanOut|furtherLoans) != 0:
			return 0, lent
		case old&counting != 0:
			return 0, wait
		case s.CompareAndSwap(old, generation+oneGeneration):
			return old & exportsAtHand / exportAtHand, done
		}
	}
}

// advance ends the generation whatever is out, and returns the next.
func (s *state) advance() uint64 { return s.Add(oneGeneration) & generations }

package safe

// #include "loan.h"
// #include "owner.h"
import "C"

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// guard says whether the memory behind views is still there. A view holds the generation that it was made in; whoever takes
// the memory away moves the guard on. Guards are used again, generations are not: so a view that is too old finds out, whatever
// its guard does by then.
//
// Making a guard is dear, because it brings a cleanup. That is why they are pooled.
type guard struct {
	// generation is that of held, a moment later: what elements are read by, and nothing that keeps memory relies on.
	generation atomic.Uint64
	// described is the view of generation that the loan in held was made to look like last, or the zero value.
	described AnyView
	held      *held

	// A guard can stand in for that of a view, to lend it. Then it pins what is lent, if it has to,
	standIn bool
	pinner  runtime.Pinner
	lender  *guard     // tells the view's own guard, if it has one,
	kept    *KeptError // and has a loan that is watched, when debugging.
}

// held is what goes back to C with a guard. It lies apart from the guard, because a cleanup must not reach what it waits
// for.
type held struct {
	state state
	loan  *C.dlpackgo_loan
	owner atomic.Pointer[C.dlpackgo_owner] // one reference
	// What was adopted, as long as there is no owner for it.
	managed   unsafe.Pointer
	versioned bool
	batch     uint64     // how many exports of owner are counted at a time
	leak      *LeakError // what to report when all this was forgotten; nil unless debugging
}

// usualRank is the rank up to which metadata lies in place: in a tensor, and in a loan.
const usualRank = 4

var guards sync.Pool

// takeGuard returns a guard that nothing else uses.
func takeGuard() (*guard, error) {
	if g, ok := guards.Get().(*guard); ok {
		return g, nil
	}
	return newGuard(2*usualRank, false)
}

func newGuard(capacity int, watched bool) (*guard, error) {
	loan := C.dlpackgo_loan_new(C.int32_t(capacity), C.bool(watched))
	if loan == nil {
		return nil, &MemoryError{Bytes: C.sizeof_dlpackgo_loan}
	}
	g := &guard{held: &held{loan: loan}}
	runtime.AddCleanup(g, (*held).giveUp, g.held)
	return g, nil
}

// advance makes the views of the current generation stale. Loans that are out stay counted.
func (g *guard) advance() { g.generation.Store(g.held.state.advance()) }

// putGuard makes views of g stale, and g free for another use unless it is lent.
func putGuard(g *guard) {
	g.advance()
	if !g.held.state.lent() {
		g.pool()
	}
}

// pool leaves g, which nothing uses, for another use, as long as it has generations left.
func (g *guard) pool() {
	if g.generation.Load() < lastGeneration {
		guards.Put(g)
	}
}

// giveUp releases what is left when a guard is garbage: the pool let go of it, or somebody forgot to close a tensor.
func (h *held) giveUp() {
	C.dlpackgo_loan_free(h.loan)
	h.takePossession(h.state.exportsAtHand()).release()
	h.leak.report()
}

// export returns the owner of what h holds, of which an export more is counted; nil when it holds nothing. It reports false
// when the memory was taken away from views of generation.
func (h *held) export(generation uint64) (owner *C.dlpackgo_owner, current bool, err error) {
	for {
		owner, outcome := h.takeExport(generation)
		switch outcome {
		case stale:
			return nil, false, nil
		case done:
			return owner, true, nil
		case wait:
			runtime.Gosched()
			continue
		}
		// None is at hand, and it is for us to have some counted. Close waits meanwhile.
		owner, err = h.share()
		if owner == nil {
			h.state.putExports(0)
			return nil, true, err
		}
		atomic.AddUint64(counts(owner), h.batch*countedExport)
		h.state.putExports(h.batch)
	}
}

// takeExport takes one of the exports at hand, and returns the owner that has it counted.
func (h *held) takeExport(generation uint64) (*C.dlpackgo_owner, outcome) {
	for {
		old := h.state.Load()
		switch {
		case old&generations != generation:
			return nil, stale
		case old&exportsAtHand != 0:
			// Whoever put exports there had set the owner, and whoever takes it away changes the state: so this is the one.
			owner := h.owner.Load()
			if h.state.CompareAndSwap(old, old-exportAtHand) {
				return owner, done
			}
		case old&counting != 0:
			return nil, wait
		case h.state.CompareAndSwap(old, old|counting):
			return nil, none
		}
	}
}

// usualBatch is how many exports are counted at a time: one atomic operation less for nearly all of them.
const usualBatch = 32

// countedExport is an export in the counts of an owner.
const countedExport = C.DLPACKGO_EXPORT | C.DLPACKGO_REFERENCE

func counts(owner *C.dlpackgo_owner) *uint64 { return (*uint64)(unsafe.Pointer(owner)) }

// share returns the owner of what h holds, which it makes when there is none so far; nil when h holds nothing. One goroutine at
// a time may call it.
func (h *held) share() (*C.dlpackgo_owner, error) {
	if owner := h.owner.Load(); owner != nil || h.managed == nil {
		return owner, nil
	}
	p, err := possession{managed: h.managed, versioned: h.versioned}.owned()
	h.owner.Store(p.owner)
	return p.owner, err
}

// takePossession returns what h holds, and leaves it empty. Exports that were at hand are uncounted.
func (h *held) takePossession(exportsAtHand uint64) possession {
	p := possession{owner: h.owner.Load(), managed: h.managed, versioned: h.versioned}
	h.managed = nil
	if p.owner != nil {
		h.owner.Store(nil)
	}
	if exportsAtHand != 0 {
		atomic.AddUint64(counts(p.owner), -exportsAtHand*countedExport) // not the last: h had a reference besides
	}
	return p
}

// retire takes the memory away from all views of generation, and returns it: it is the caller's now. It returns nothing
// when that has been done before, and ErrLent, with nothing changed, while a loan is out.
func (g *guard) retire(generation uint64) (possession, error) {
	for {
		exportsAtHand, outcome := g.held.state.retire(generation)
		switch outcome {
		case stale:
			return possession{}, nil
		case lent:
			return possession{}, ErrLent
		case wait:
			runtime.Gosched()
			continue
		}
		g.generation.Store(generation + oneGeneration)
		g.held.leak, g.described = nil, AnyView{}
		return g.held.takePossession(exportsAtHand), nil
	}
}

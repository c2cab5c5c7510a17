package safe

// #include "envelope.h"
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
	atHand    *C.dlpackgo_envelope_at_hand // nil when memory was short

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
	shared    bool       // others ask owner how many exports are out: none may be counted that was not made
	leak      *LeakError // what to report when all this was forgotten; nil unless debugging

	atHand *C.dlpackgo_envelope_at_hand // as in the guard
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
	atHand := C.dlpackgo_envelope_at_hand_new()
	g := &guard{held: &held{loan: loan, atHand: atHand}, atHand: atHand}
	runtime.AddCleanup(g, (*held).giveUp, g.held)
	return g, nil
}

// advance makes the views of the current generation stale. Loans and exports that have begun go on.
func (g *guard) advance() { g.generation.Store(g.held.state.advance()) }

// putGuard makes views of g stale, and g free for another use unless one of them is lent, or being exported: whoever does that
// would find what the next use brings.
func putGuard(g *guard) {
	g.advance()
	if !g.held.state.inUse() {
		g.pool()
	}
}

// pool leaves g, which nothing uses, for another use, as long as it has generations left.
func (g *guard) pool() {
	if !g.spent() {
		guards.Put(g)
	}
}

// spent reports whether g is in its last generation. The one that would come next has been there.
func (g *guard) spent() bool { return g.generation.Load() == lastGeneration }

// giveUp releases what is left when a guard is garbage: the pool let go of it, or somebody forgot to close a tensor.
func (h *held) giveUp() {
	C.dlpackgo_loan_free(h.loan)
	h.takePossession(h.state.Load()).release()
	C.dlpackgo_envelope_abandon(h.atHand)
	h.leak.report()
}

// export returns the owner of what h holds, of which an export more is counted; nil when it holds nothing. It reports false
// when the memory was taken away from views of generation.
func (h *held) export(generation uint64) (owner *C.dlpackgo_owner, current bool, err error) {
	if !h.state.beginExport(generation) {
		return nil, false, nil
	}
	defer h.state.endExport(false)
	owner, err = h.share()
	if owner != nil {
		atomic.AddUint64(counts(owner), countedExport)
	}
	return owner, true, err
}

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

// takePossession returns what h held in a generation that ended in this state, and leaves it empty.
func (h *held) takePossession(ended uint64) possession {
	p := possession{owner: h.owner.Load(), managed: h.managed, versioned: h.versioned}
	h.managed = nil
	if p.owner != nil {
		h.owner.Store(nil)
	}
	if ended&atHand != 0 && h.leaveAtHand() {
		atomic.AddUint64(counts(p.owner), ^uint64(countedExport-1)) // not the last: h had a reference besides
	}
	return p
}

// retire takes the memory away from all views of generation, and returns it: it is the caller's now. It returns nothing
// when that has been done before, and ErrLent, with nothing changed, while a loan is out.
func (g *guard) retire(generation uint64) (possession, error) {
	for {
		ended, outcome := g.held.state.retire(generation)
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
		return g.held.takePossession(ended), nil
	}
}

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

// guard says whether the memory behind views is still there, and keeps it there while they are lent. A view holds the
// generation that it was made in; whoever takes the memory away moves the guard on. Guards are used again, generations
// are not: so a view that is too old finds out, whatever its guard does by then.
//
// Making a guard is dear, because it brings a cleanup. That is why they are pooled.
type guard struct {
	generation atomic.Uint64
	lent       atomic.Bool // the loan in held is out
	// others counts loans besides that in held: nested ones, and ones at the same time.
	others atomic.Int64
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
	loan  *C.dlpackgo_loan
	owner atomic.Pointer[C.dlpackgo_owner] // one reference
	// What was adopted, as long as there is no owner for it.
	managed   unsafe.Pointer
	versioned bool
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

// putGuard makes views of g stale, and g free for another use. The caller has g to itself.
func putGuard(g *guard) {
	g.generation.Add(1)
	guards.Put(g)
}

// giveUp releases what is left when a guard is garbage: the pool let go of it, or somebody forgot to close a tensor.
func (h *held) giveUp() {
	C.dlpackgo_loan_free(h.loan)
	h.takePossession().release()
	h.leak.report()
}

// share returns the owner of what h holds, for another reference to it; nil when it holds nothing. Several goroutines may
// call it at once.
func (h *held) share() (*C.dlpackgo_owner, error) {
	if owner := h.owner.Load(); owner != nil || h.managed == nil {
		return owner, nil
	}
	p, err := possession{managed: h.managed, versioned: h.versioned}.owned()
	if err == nil && !h.owner.CompareAndSwap(nil, p.owner) {
		C.dlpackgo_owner_free(p.owner) // another goroutine was faster
	}
	return h.owner.Load(), err
}

// takePossession returns what h holds, and leaves it empty.
func (h *held) takePossession() possession {
	p := possession{owner: h.owner.Load(), managed: h.managed, versioned: h.versioned}
	h.managed = nil
	if p.owner != nil {
		h.owner.Store(nil)
	}
	return p
}

// retire takes the memory away from all views of generation, and returns it: it is the caller's now. It returns nothing
// when that has been done before, and ErrLent, with nothing changed, while a loan is out.
func (g *guard) retire(generation uint64) (possession, error) {
	if g.generation.Load() != generation {
		return possession{}, nil
	}
	if !g.take() {
		return possession{}, ErrLent
	}
	defer g.putBack()
	if !g.generation.CompareAndSwap(generation, generation+1) {
		return possession{}, nil
	}
	// A further loan counts itself first and looks at the generation then. We do it the other way round: so at least one of
	// both notices.
	if g.others.Load() != 0 {
		g.generation.Store(generation)
		return possession{}, ErrLent
	}
	g.held.leak, g.described = nil, AnyView{}
	return g.held.takePossession(), nil
}

// take takes the loan out, and reports whether it was there. Whoever has taken it out has the guard to itself, which is
// how Close knows that nothing is lent.
func (g *guard) take() bool { return !g.lent.Swap(true) }

// putBack ends what take began.
func (g *guard) putBack() { g.lent.Store(false) }

package safe

// #include "envelope.h"
import "C"

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// envelope is a dlpackgo_envelope, an export in the making. It is written to as if it held no pointers: what is in there
// from the last time is nothing that a write barrier should look at.
type envelope struct {
	start  unsafe.Pointer
	owner  *C.dlpackgo_owner // of which an export is counted for it
	atHand bool              // start is a dlpackgo_envelope_at_hand
}

// envelopeRank is the rank up to which there is room in the envelopes that lie ready, and in those at hand.
const envelopeRank = C.DLPACKGO_ENVELOPE_RANK

// rack holds the envelopes that lie ready for all tensors.
var rack = C.dlpackgo_envelopes()

// newExport returns an envelope with room for so many axes, other than the one at hand unless that is still to be counted,
// and with an export of the owner of what h holds; one without an owner when it holds nothing. It reports false when the
// memory was taken away from views of generation.
func (h *held) newExport(generation uint64, ndim int, usual bool) (e envelope, current bool, err error) {
	if !h.state.beginExport(generation) {
		return envelope{}, false, nil
	}
	e.owner, err = h.share()
	if e.owner == nil {
		h.state.endExport(false)
		return envelope{}, true, err
	}
	if usual && !h.shared && !h.state.hasAtHand(generation) {
		e.start, e.atHand = h.fetchAtHand(e.owner)
	}
	if !e.atHand {
		e.start, err = takeEnvelope(ndim, usual)
	}
	if err == nil {
		atomic.AddUint64(counts(e.owner), countedExport)
	} else {
		e = envelope{}
	}
	h.state.endExport(e.atHand)
	return e, true, err
}

// takeAtHand takes the envelope that g has at hand, with the export that was counted for it in generation. The zero envelope
// is returned when it is out, or none was.
func (g *guard) takeAtHand(generation uint64) envelope {
	c := g.atHand
	if c == nil || !g.held.state.hasAtHand(generation) || !fetch(c) {
		return envelope{}
	}
	e := envelope{unsafe.Pointer(c), c.owner, true}
	if !g.held.state.hasAtHand(generation) { // asked again: whoever ends the generation looks for the envelope after that
		e.discard()
		runtime.KeepAlive(g) // or the envelope would be taken for one that a consumer has
		return envelope{}
	}
	return e
}

// fetchAtHand takes the envelope that h has at hand for an export of owner that is still to be counted. It reports false when
// it is out, with what an earlier tensor left.
func (h *held) fetchAtHand(owner *C.dlpackgo_owner) (unsafe.Pointer, bool) {
	if h.atHand == nil || !fetch(h.atHand) {
		return nil, false
	}
	putAddress((*unsafe.Pointer)(unsafe.Pointer(&h.atHand.owner)), unsafe.Pointer(owner))
	return unsafe.Pointer(h.atHand), true
}

func fetch(c *C.dlpackgo_envelope_at_hand) bool {
	return atomic.CompareAndSwapUint32((*uint32)(&c.place), C.DLPACKGO_AT_HAND, C.DLPACKGO_OUT)
}

// leaveAtHand reports whether the envelope is at hand. When a consumer has it, it gives the export back that is counted for it.
func (h *held) leaveAtHand() bool {
	place := (*uint32)(&h.atHand.place)
	for atomic.LoadUint32(place) == C.DLPACKGO_OUT {
		if atomic.CompareAndSwapUint32(place, C.DLPACKGO_OUT, C.DLPACKGO_LEFT) {
			return false
		}
	}
	return true
}

// takeEnvelope returns the memory of an envelope with room for so many axes: of the usual ones one of those that lie ready,
// so that no call to C is needed, else a new one.
func takeEnvelope(ndim int, usual bool) (unsafe.Pointer, error) {
	if usual && rack != nil {
		if start := rackedEnvelope(); start != nil {
			return start, nil
		}
	}
	start := unsafe.Pointer(C.dlpackgo_envelope_new(C.int32_t(ndim)))
	if start == nil {
		return nil, &MemoryError{Bytes: C.sizeof_dlpackgo_envelope}
	}
	return start, nil
}

// rackedEnvelope takes one of the envelopes that lie ready; nil when all are in use.
func rackedEnvelope() unsafe.Pointer {
	const oneOfEach = 0x0101010101010101 // the lowest bit of each byte
	words := (*[C.DLPACKGO_ENVELOPES / 8]uint64)(unsafe.Pointer(&rack.used))
	for i := range words {
		for {
			set := atomic.LoadUint64(&words[i])
			unset := ^set & oneOfEach
			if unset == 0 {
				break
			}
			lowest := bits.TrailingZeros64(unset)
			if atomic.CompareAndSwapUint64(&words[i], set, set|1<<lowest) {
				return unsafe.Pointer(&rack.envelopes[i*8+lowest/8])
			}
		}
	}
	return nil
}

// discard gives an envelope back that was not used, and the export that was counted for it.
func (e envelope) discard() {
	if e.atHand {
		C.dlpackgo_envelope_come_back((*C.dlpackgo_envelope_at_hand)(e.start))
		Collect() // it may have left something behind
		return
	}
	C.dlpackgo_envelope_free(e.start)
	giveBack(e.owner, countedExport)
}

// extents returns where the shape of the export lies; its strides come after it.
func (e envelope) extents() unsafe.Pointer {
	return unsafe.Add(e.start, unsafe.Offsetof(C.dlpackgo_envelope{}.extents))
}

// managed makes the envelope an export that looks like v.
func (e envelope) managed(v AnyView) *ffi.DLManagedTensor {
	m := (*ffi.DLManagedTensor)(e.start)
	putAddress(&m.ManagerCtx, unsafe.Pointer(e.owner))
	if e.atHand {
		putAddress(&m.Deleter, C.dlpackgo_envelope_back)
	} else {
		putAddress(&m.Deleter, C.dlpackgo_envelope_return)
	}
	describe(&m.DLTensor, e.extents(), v)
	return m
}

// versioned is managed for the struct with a version.
func (e envelope) versioned(v AnyView) *ffi.DLManagedTensorVersioned {
	m := (*ffi.DLManagedTensorVersioned)(e.start)
	m.Version = ffi.DLPackVersion{Major: ffi.Major, Minor: ffi.Minor}
	m.Flags = ffi.Flags(v.meta.traits & sharedTraits)
	putAddress(&m.ManagerCtx, unsafe.Pointer(e.owner))
	if e.atHand {
		putAddress(&m.Deleter, C.dlpackgo_envelope_back_versioned)
	} else {
		putAddress(&m.Deleter, C.dlpackgo_envelope_return_versioned)
	}
	describe(&m.DLTensor, e.extents(), v)
	return m
}

package safe

// #include "envelope.h"
import "C"

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// envelope is a dlpackgo_envelope, an export in the making. It is written to as if it held no pointers: what is in there
// from the last time is nothing that a write barrier should look at.
type envelope struct{ start unsafe.Pointer }

// rack holds the envelopes that lie ready.
var rack = C.dlpackgo_envelopes()

// takeEnvelope returns an envelope with room for so many axes: one of those that lie ready, so that no call to C is needed,
// else a new one. While debugging it is always a new one, whose memory is freed with the export.
func takeEnvelope(ndim int) (envelope, error) {
	if ndim <= C.DLPACKGO_ENVELOPE_RANK && rack != nil && !debugging() {
		if start := rackedEnvelope(); start != nil {
			return envelope{start}, nil
		}
	}
	start := C.dlpackgo_envelope_new(C.int32_t(ndim))
	if start == nil {
		return envelope{}, &MemoryError{Bytes: C.sizeof_dlpackgo_envelope}
	}
	return envelope{unsafe.Pointer(start)}, nil
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

// discard gives an envelope back that was not used.
func (e envelope) discard() { C.dlpackgo_envelope_free(e.start) }

// extents returns where the shape of the export lies; its strides come after it.
func (e envelope) extents() unsafe.Pointer {
	return unsafe.Add(e.start, unsafe.Offsetof(C.dlpackgo_envelope{}.extents))
}

// managed makes the envelope an export of owner that looks like v.
func (e envelope) managed(owner *C.dlpackgo_owner, v AnyView) *ffi.DLManagedTensor {
	m := (*ffi.DLManagedTensor)(e.start)
	putAddress(&m.ManagerCtx, unsafe.Pointer(owner))
	putAddress(&m.Deleter, C.dlpackgo_envelope_return)
	e.describe(&m.DLTensor, v)
	return m
}

// versioned is managed for the struct with a version.
func (e envelope) versioned(owner *C.dlpackgo_owner, v AnyView) *ffi.DLManagedTensorVersioned {
	m := (*ffi.DLManagedTensorVersioned)(e.start)
	m.Version = ffi.DLPackVersion{Major: ffi.Major, Minor: ffi.Minor}
	m.Flags = ffi.Flags(v.meta.traits & sharedTraits)
	putAddress(&m.ManagerCtx, unsafe.Pointer(owner))
	putAddress(&m.Deleter, C.dlpackgo_envelope_return_versioned)
	e.describe(&m.DLTensor, v)
	return m
}

func (e envelope) describe(t *ffi.DLTensor, v AnyView) {
	extents := e.extents()
	putAddress(&t.Shape, extents)
	putAddress(&t.Strides, unsafe.Add(extents, uintptr(len(v.shape()))*unsafe.Sizeof(int64(0))))
	describe(t, v)
}

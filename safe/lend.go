package safe

// #include "loan.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Lend hands a C library a managed tensor that is good until call returns. The library may read the elements and must
// keep nothing: its deleter does nothing. Lending takes no heap memory, works on every device, and pins Go memory for as
// long as the call. While a tensor is lent it cannot be closed.
func Lend[S AsDLTensor](src S, call func(*ffi.DLManagedTensor) error) error {
	v, err := src.AsDLTensor()
	if err != nil {
		return err
	}
	l, err := v.lend(true)
	if err != nil {
		return err
	}
	defer l.end()
	return call(l.managed(&v))
}

// LendMut is Lend for a library that writes the elements. It refuses what MutViewOf refuses.
func LendMut[S AsDLTensorMut](src S, call func(*ffi.DLManagedTensor) error) error {
	v, err := src.AsDLTensorMut()
	if err != nil {
		return err
	}
	if err := v.writable(); err != nil {
		return err
	}
	return Lend(v, call)
}

// LendVersioned is Lend for the struct with a version, which says that the elements are read-only.
func LendVersioned[S AsDLTensor](src S, call func(*ffi.DLManagedTensorVersioned) error) error {
	v, err := src.AsDLTensor()
	if err != nil {
		return err
	}
	v.traits |= readOnly
	return v.lendVersioned(call)
}

// LendVersionedMut is LendMut for the struct with a version, which says that the elements are writable.
func LendVersionedMut[S AsDLTensorMut](src S, call func(*ffi.DLManagedTensorVersioned) error) error {
	v, err := src.AsDLTensorMut()
	if err != nil {
		return err
	}
	if err := v.writable(); err != nil {
		return err
	}
	return v.lendVersioned(call)
}

func (v *AnyView) lendVersioned(call func(*ffi.DLManagedTensorVersioned) error) error {
	l, err := v.lend(true)
	if err != nil {
		return err
	}
	defer l.end()
	return call(l.versioned(v))
}

// loan is one lent tensor: the block that C sees, and where it goes back to.
type loan struct {
	block  *C.dlpackgo_loan
	guard  *guard // whose block it is
	origin origin
	lender *guard     // the guard of the view, when the block is another's
	kept   *KeptError // what to report when the callee keeps a watched loan
}

// origin says how a loan came about, and so how it ends.
type origin uint8

const (
	fromGuard origin = iota // the block is the spare one of the view's guard
	fromPool                // the view has no guard, or its guard's block is out
	watched                 // a block of its own, for debugging
)

// lend takes out a loan of v. toCallee says that somebody else will see it.
func (v *AnyView) lend(toCallee bool) (loan, error) {
	if toCallee && reporter.Load() != nil {
		return v.lendWatched()
	}
	g := v.guard
	if g == nil {
		return v.lendFromPool()
	}
	block := g.spare.Swap(nil)
	if block == nil {
		return v.lendFromPool()
	}
	l := loan{block: block, guard: g}
	if v.stale() {
		l.end()
		return loan{}, v.gone()
	}
	return l, l.prepare(v)
}

// lendFromPool lends v through a guard that is not its own. Its own one, if any, has to know all the same.
func (v *AnyView) lendFromPool() (loan, error) {
	g, err := takeGuard()
	if err != nil {
		return loan{}, err
	}
	l := loan{block: g.spare.Swap(nil), guard: g, origin: fromPool, lender: v.guard}
	if v.guard != nil {
		v.guard.others.Add(1)
	}
	if v.stale() {
		l.end()
		return loan{}, v.gone()
	}
	return l, l.prepare(v)
}

// prepare makes the block large enough for v, and the memory of v fit for C to see.
func (l *loan) prepare(v *AnyView) error {
	if len(v.shape) > int(l.block.capacity) {
		return l.grow(v)
	}
	if v.traits&goMemory != 0 {
		l.guard.pinner.Pin(v.data)
	}
	return nil
}

func (l *loan) grow(v *AnyView) error {
	block := C.dlpackgo_loan_new(ffi.MaxNDim, false)
	if block == nil {
		l.end()
		return &MemoryError{Bytes: C.sizeof_dlpackgo_loan}
	}
	C.dlpackgo_loan_free(l.block)
	l.block, l.guard.held.loan = block, block
	return l.prepare(v)
}

// end takes back what was lent.
func (l *loan) end() {
	switch l.origin {
	case fromGuard:
		l.guard.spare.Store(l.block)
		return
	case fromPool:
		l.guard.pinner.Unpin()
		l.guard.spare.Store(l.block)
	case watched:
		l.guard.pinner.Unpin()
		l.retire()
	}
	if l.lender != nil {
		l.lender.others.Add(-1)
	}
	guards.Put(l.guard)
}

// managed returns the block's managed tensor, made to look like v.
func (l *loan) managed(v *AnyView) *ffi.DLManagedTensor {
	m := (*ffi.DLManagedTensor)(unsafe.Pointer(&l.block.managed))
	l.describe(&l.block.managed.dl_tensor, v)
	return m
}

// versioned returns the block's versioned managed tensor, made to look like v.
func (l *loan) versioned(v *AnyView) *ffi.DLManagedTensorVersioned {
	m := (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(&l.block.versioned))
	m.Flags = ffi.Flags(v.traits & sharedTraits)
	l.describe(&l.block.versioned.dl_tensor, v)
	return m
}

// describe makes one of the block's tensors look like v, and returns it.
func (l *loan) describe(tensor *C.DLTensor, v *AnyView) *C.DLTensor {
	t := (*ffi.DLTensor)(unsafe.Pointer(tensor))
	ndim := len(v.shape)
	extents := unsafe.Slice((*int64)(unsafe.Add(unsafe.Pointer(l.block), C.sizeof_dlpackgo_loan)), 2*ndim)
	address := uintptr(v.data)
	for axis, extent := range v.shape {
		extents[axis] = extent
		if extent == 0 {
			address = 0 // an empty tensor has no data
		}
	}
	copy(extents[ndim:], v.strides)
	// As a number, because this may be a pointer to Go: it is pinned, and no business of the write barrier.
	*(*uintptr)(unsafe.Pointer(&t.Data)) = address
	t.Device = v.device
	t.NDim = int32(ndim)
	t.DType = v.dtype
	t.Shape = unsafe.SliceData(extents)
	t.Strides = unsafe.SliceData(extents[ndim:])
	t.ByteOffset = v.byteOffset
	return tensor
}

package safe

// #include "loan.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Lend hands a C library a managed tensor that is good until call returns. The library may read the elements. It must keep
// nothing, and leave the description as it is; the deleter does nothing. Lending takes no heap memory, works on every device,
// and pins Go memory for as long as the call. While a tensor is lent it cannot be closed.
func Lend[S AsDLTensor](src S, call func(*ffi.DLManagedTensor) error) error {
	// Through a pointer, because putting src itself into an interface would take heap memory.
	if t, ok := any(&src).(**Tensor); ok {
		g, err := (*t).lend()
		if err != nil {
			return err
		}
		defer g.end()
		return call(g.managed())
	}
	v := asView(&src)
	if v == nil {
		theirs, err := viewOf(src)
		if err != nil {
			return err
		}
		return Lend(theirs, call)
	}
	g, err := v.lend()
	if err != nil {
		return err
	}
	defer g.end()
	return call(g.managed())
}

// LendMut is Lend for a library that writes the elements. It refuses what MutViewOf refuses.
func LendMut[S AsDLTensorMut](src S, call func(*ffi.DLManagedTensor) error) error {
	v, err := writableView(src)
	if err != nil {
		return err
	}
	return Lend(v, call)
}

// LendVersioned is Lend for the struct with a version, which says that the elements are read-only.
func LendVersioned[S AsDLTensor](src S, call func(*ffi.DLManagedTensorVersioned) error) error {
	v := asView(&src)
	if v == nil {
		theirs, err := viewOf(src)
		if err != nil {
			return err
		}
		return LendVersioned(theirs, call)
	}
	return v.lendVersioned(v.traits|readOnly, call)
}

// LendVersionedMut is LendMut for the struct with a version, which says that the elements are writable.
func LendVersionedMut[S AsDLTensorMut](src S, call func(*ffi.DLManagedTensorVersioned) error) error {
	v, err := writableView(src)
	if err != nil {
		return err
	}
	return v.lendVersioned(v.traits, call)
}

// LendAll lends several tensors to one call: inputs as Lend does, outputs as LendMut does.
func LendAll(inputs []AsDLTensor, outputs []AsDLTensorMut, call func(in, out []*ffi.DLManagedTensor) error) error {
	var managed []*ffi.DLManagedTensor
	for _, src := range inputs {
		v, err := viewOf(src)
		if err != nil {
			return err
		}
		g, err := v.lend()
		if err != nil {
			return err
		}
		defer g.end()
		managed = append(managed, g.managed())
	}
	for _, src := range outputs {
		v, err := writableView(src)
		if err != nil {
			return err
		}
		g, err := v.lend()
		if err != nil {
			return err
		}
		defer g.end()
		managed = append(managed, g.managed())
	}
	return call(managed[:len(inputs)], managed[len(inputs):])
}

func (v *AnyView) lendVersioned(flags traits, call func(*ffi.DLManagedTensorVersioned) error) error {
	g, err := v.lend()
	if err != nil {
		return err
	}
	defer g.end()
	return call(g.versioned(flags))
}

// lend takes out a loan of a whole tensor, and returns the guard with it. This is the fast way: the loan looks like t from
// the last time.
func (t *Tensor) lend() (*guard, error) {
	if t == nil {
		return nil, ErrEmpty
	}
	g := t.guard
	if debugging() || g == nil || !g.take() {
		return t.anyView.lendStandIn()
	}
	if t.stale() {
		g.end()
		return nil, t.gone()
	}
	if g.described == t {
		return g, nil
	}
	if err := g.describe(&t.anyView); err != nil {
		return nil, err
	}
	g.described = t
	return g, nil
}

// lend takes out a loan of v, and returns the guard with it.
func (v *AnyView) lend() (*guard, error) {
	g := v.guard
	if debugging() || g == nil || !g.take() {
		return v.lendStandIn()
	}
	if v.stale() {
		g.end()
		return nil, v.gone()
	}
	return g, g.describe(v)
}

// lendStandIn takes out a loan of v that is not that of v's guard: v has none, or its loan is out, or is not to be used
// again, for debugging.
func (v *AnyView) lendStandIn() (*guard, error) {
	if v.dtype.Lanes == 0 {
		return nil, ErrEmpty
	}
	var g *guard
	var err error
	if debugging() {
		g, err = watchedGuard(v)
	} else {
		g, err = takeGuard()
	}
	if err != nil {
		return nil, err
	}
	g.take()
	g.standIn, g.lender = true, v.guard
	if g.lender != nil {
		g.lender.others.Add(1)
	}
	if v.stale() {
		g.end()
		return nil, v.gone()
	}
	if v.traits&goMemory != 0 {
		g.pinner.Pin(v.data)
	}
	return g, g.describe(v)
}

// end ends the loan of g.
func (g *guard) end() {
	if !g.standIn {
		g.putBack()
		return
	}
	g.pinner.Unpin()
	if g.lender != nil {
		g.lender.others.Add(-1)
	}
	g.standIn, g.lender = false, nil
	if g.kept != nil {
		g.retireLoan()
		return
	}
	g.putBack()
	guards.Put(g)
}

// managed returns the loan of g as a managed tensor.
func (g *guard) managed() *ffi.DLManagedTensor {
	return (*ffi.DLManagedTensor)(unsafe.Pointer(&g.held.loan.managed))
}

// versioned returns the loan of g as a versioned managed tensor with these flags.
func (g *guard) versioned(flags traits) *ffi.DLManagedTensorVersioned {
	m := (*ffi.DLManagedTensorVersioned)(unsafe.Pointer(&g.held.loan.versioned))
	m.Flags = ffi.Flags(flags & sharedTraits)
	// As bytes, for the reason that describe gives.
	*(*descriptorBytes)(unsafe.Pointer(&m.DLTensor)) = *(*descriptorBytes)(unsafe.Pointer(&g.managed().DLTensor))
	return m
}

type descriptorBytes [unsafe.Sizeof(ffi.DLTensor{})]byte

// describe makes the loan of g look like v. When it cannot, the loan has ended.
func (g *guard) describe(v *AnyView) error {
	g.described = nil
	if len(v.shape) > int(g.held.loan.capacity) {
		if err := g.growLoan(); err != nil {
			g.end()
			return err
		}
	}
	describe(&g.managed().DLTensor, v)
	return nil
}

// describe makes t, which is memory of C with room for shape and strides, look like v, the way everything looks that goes
// out: with strides, and without data when there are no elements.
func describe(t *ffi.DLTensor, v *AnyView) {
	ndim := len(v.shape)
	data := v.data
	shape := unsafe.Slice(t.Shape, ndim)
	for axis, extent := range v.shape {
		shape[axis] = extent
		if extent == 0 {
			data = nil
		}
	}
	copy(unsafe.Slice(t.Strides, ndim), v.strides)
	putAddress(&t.Data, data)
	t.Device = v.device
	t.NDim = int32(ndim)
	t.DType = v.dtype
	t.ByteOffset = v.byteOffset
}

// putAddress writes an address into memory of C, as a number: it may be a pointer to Go, which is pinned then, and is no
// business of the write barrier. That would also look at what is replaced, which may be an address that nobody has any more.
func putAddress[P *int64 | unsafe.Pointer](field *P, address unsafe.Pointer) {
	*(*uintptr)(unsafe.Pointer(field)) = uintptr(address)
}

// growLoan replaces the loan of g by one that has room for every rank.
func (g *guard) growLoan() error {
	loan := C.dlpackgo_loan_new(ffi.MaxNDim, false)
	if loan == nil {
		return &MemoryError{Bytes: C.sizeof_dlpackgo_loan}
	}
	C.dlpackgo_loan_free(g.held.loan)
	g.held.loan = loan
	return nil
}

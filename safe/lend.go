package safe

// #include "loan.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Lend hands a C library a managed tensor that is good until call returns. The library may read the elements. It must keep
// nothing, and leave the description as it is; the deleter does nothing. Lending takes no heap memory, works on every device,
// and pins Go memory for as long as the call. While a tensor is lent it cannot be closed. What call returns Lend returns; a
// nil call is ErrFunction.
func Lend[S AsDLTensor](src S, call func(*ffi.DLManagedTensor) error) error {
	v, err := claimedView(src)
	if err != nil {
		return err
	}
	if call == nil {
		return ErrFunction
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
	v, err := viewOf(src)
	if err != nil {
		return err
	}
	return v.lendVersioned(v.traits()|readOnly, call)
}

// LendVersionedMut is LendMut for the struct with a version, which says that the elements are writable.
func LendVersionedMut[S AsDLTensorMut](src S, call func(*ffi.DLManagedTensorVersioned) error) error {
	v, err := writableView(src)
	if err != nil {
		return err
	}
	return v.lendVersioned(v.traits(), call)
}

// LendAll lends several tensors to one call: inputs as Lend does, outputs as LendMut does. Errors say of which tensor they are.
func LendAll(inputs []AsDLTensor, outputs []AsDLTensorMut, call func(in, out []*ffi.DLManagedTensor) error) error {
	managed := make([]*ffi.DLManagedTensor, 0, len(inputs)+len(outputs))
	for i, src := range inputs {
		v, err := viewOf(src)
		if err != nil {
			return fmt.Errorf("inputs[%d]: %w", i, err)
		}
		g, err := v.lend()
		if err != nil {
			return fmt.Errorf("inputs[%d]: %w", i, err)
		}
		defer g.end()
		managed = append(managed, g.managed())
	}
	for i, src := range outputs {
		v, err := writableView(src)
		if err != nil {
			return fmt.Errorf("outputs[%d]: %w", i, err)
		}
		g, err := v.lend()
		if err != nil {
			return fmt.Errorf("outputs[%d]: %w", i, err)
		}
		defer g.end()
		managed = append(managed, g.managed())
	}
	if call == nil {
		return ErrFunction
	}
	lent := len(inputs)
	return call(managed[:lent:lent], managed[lent:])
}

func (v AnyView) lendVersioned(flags traits, call func(*ffi.DLManagedTensorVersioned) error) error {
	if call == nil {
		return ErrFunction
	}
	g, err := v.lend()
	if err != nil {
		return err
	}
	defer g.end()
	return call(g.versioned(flags))
}

// lend takes out a loan of v, and returns the guard with it.
func (v AnyView) lend() (*guard, error) {
	if v.meta == nil {
		return nil, ErrEmpty
	}
	g := v.meta.guard
	if g == nil {
		return v.lendStandIn()
	}
	if debugging() || !g.held.state.lendAtOnce(v.meta.generation) {
		switch g.held.state.lend(v.meta.generation, !debugging()) {
		case 0:
			return nil, v.gone()
		case furtherLoan:
			standIn, err := v.lendStandIn()
			if err != nil {
				g.held.state.endFurther()
			}
			return standIn, err
		}
	}
	if g.described == v {
		return g, nil // the loan looks like v from the last time
	}
	if err := g.describe(v); err != nil {
		g.end()
		return nil, err
	}
	g.described = v
	return g, nil
}

// lendStandIn takes out a loan of v that is not that of v's guard: v has none, or its loan is out, or is not to be used
// again, for debugging. When v has one, a further loan of it was counted.
func (v AnyView) lendStandIn() (*guard, error) {
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
	if err := g.describe(v); err != nil {
		g.pool()
		return nil, err
	}
	g.standIn, g.lender = true, v.meta.guard
	if v.meta.traits&goMemory != 0 {
		g.pinner.Pin(v.data)
	}
	return g, nil
}

// end ends the loan of g.
func (g *guard) end() {
	if !g.standIn {
		g.held.state.end()
		return
	}
	g.pinner.Unpin()
	if g.lender != nil {
		g.lender.held.state.endFurther()
	}
	g.standIn, g.lender = false, nil
	if g.kept != nil {
		g.retireLoan()
		return
	}
	g.pool()
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

// describe makes the loan of g look like v.
func (g *guard) describe(v AnyView) error {
	g.described = AnyView{}
	if len(v.shape()) > int(g.held.loan.capacity) {
		if err := g.growLoan(); err != nil {
			return err
		}
	}
	describe(&g.managed().DLTensor, unsafe.Add(unsafe.Pointer(g.held.loan), C.sizeof_dlpackgo_loan), v)
	return nil
}

// describe makes t, which is memory of C, look like v, the way everything looks that goes out: with strides, which come after
// the shape in memory of C that has room for both, and without data when there are no elements.
func describe(t *ffi.DLTensor, room unsafe.Pointer, v AnyView) {
	extents := v.shape()
	ndim := len(extents)
	data, steps := v.data, v.strides()[:ndim]
	roomForStrides := unsafe.Add(room, uintptr(ndim)*unsafe.Sizeof(extents[0]))
	shape, strides := (*extentArray)(room)[:ndim], (*extentArray)(roomForStrides)[:ndim]
	for axis, extent := range extents { // they are few: a call of memmove for either would take longer
		shape[axis], strides[axis] = extent, steps[axis]
		if extent == 0 {
			data = nil
		}
	}
	putAddress(&t.Data, data)
	t.Device = v.meta.device
	t.NDim = int32(ndim)
	t.DType = v.meta.dtype
	putAddress(&t.Shape, room)
	putAddress(&t.Strides, roomForStrides)
	t.ByteOffset = v.meta.byteOffset
}

// extentArray is as much as there may be at a DLTensor's shape, and at its strides.
type extentArray [ffi.MaxNDim]int64

// putAddress writes an address into memory of C, as a number: it may be a pointer to Go, which is pinned then, and is no
// business of the write barrier. That would also look at what is replaced, which may be an address that nobody has any more.
func putAddress[P *int64 | *metadata | unsafe.Pointer](field *P, address unsafe.Pointer) {
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

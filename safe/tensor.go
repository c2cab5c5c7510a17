package safe

// #include "owner.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Tensor owns the memory of a tensor of any dtype on any device, together with whatever was exported from it. It has the
// methods of AnyView besides its own; views of it end when it is closed.
//
// Close a tensor when you are done with it. One that is forgotten is closed by the garbage collector, some time after
// the last use of it and its views; a slice that Data returned does not count as a use. Use runtime.AddCleanup to learn of that:
// a tensor that was lent refers to itself, so that a finalizer would never run, and keep it for good.
//
// The zero value and nil own nothing: every function that takes a tensor refuses them with ErrEmpty. They can be closed and
// printed, but what nil has from AnyView, such as Shape, panics as fields of a nil pointer do.
type Tensor struct {
	anyView
	room roomyMetadata // the metadata of anyView, unless that came from a view
}

// Moved is what a tensor was: one reference of its owner, and its description. Whoever has it has to give the reference
// back, in C with dlpackgo_owner_release or in Go with Receive.
type Moved struct {
	Owner      unsafe.Pointer // a dlpackgo_owner
	Descriptor ffi.DLTensor   // shape and strides lie in Go memory, which Moved keeps
	Flags      ffi.Flags
}

// New returns a tensor of zeros in C memory, aligned to 64 bytes. Without a shape it is a scalar. A negative extent and
// sizes beyond an int64 are errors of package ffi.
func New[T Element](shape ...int) (*Tensor, error) {
	return NewDType(DTypeOf[T](), shape...)
}

// NewDType is New for a dtype that is known only at run time, or has no Go type.
func NewDType(dtype ffi.DLDataType, shape ...int) (*Tensor, error) {
	t := newTensor(len(shape))
	for axis, extent := range shape {
		t.meta.shape[axis] = int64(extent)
	}
	_, size, err := ffi.CheckedSize(dtype, 0, t.meta.shape)
	if err != nil {
		return nil, err
	}
	ffi.FillRowMajorStrides(t.meta.strides, t.meta.shape)
	t.meta.dtype = dtype
	t.meta.device.DeviceType = ffi.CPU
	owner := C.dlpackgo_owner_allocate(C.int64_t(size), true, &t.data)
	if owner == nil {
		return nil, &MemoryError{Bytes: size}
	}
	return t.own(possession{owner: owner})
}

// FromSlice returns a tensor over the memory of s, which is pinned until the tensor and all that was exported from it
// are gone. The shape must count as many elements as s has; without a shape the tensor has one axis.
func FromSlice[T Element](s []T, shape ...int) (*Tensor, error) {
	v, err := SliceView(s, shape...)
	if err != nil {
		return nil, err
	}
	if len(s) == 0 {
		return New[T](shapeOf(v.shape())...)
	}
	pinner := new(runtime.Pinner)
	pinner.Pin(unsafe.SliceData(s))
	owner, err := keep(pinner.Unpin)
	if err != nil {
		pinner.Unpin()
		return nil, err
	}
	t := &Tensor{anyView: v.anyView}
	t.meta.traits &^= readOnly | goMemory // it is pinned for good
	return t.own(possession{owner: owner})
}

// CopyRows returns a tensor with two axes that holds a copy of rows, which must be equally long. A [][]T cannot be shared,
// because its rows may lie anywhere in memory: keep the elements in one slice to do without the copy, and see SliceView.
func CopyRows[T Element](rows [][]T) (*Tensor, error) {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	t, err := New[T](len(rows), columns)
	if err != nil {
		return nil, err
	}
	elements, err := Data[T](t)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if len(row) != columns {
			t.Close()
			return nil, &LengthError{What: fmt.Sprintf("row %d", i), Got: len(row), Want: columns, Fix: "rows must be equally long"}
		}
		copy(elements[i*columns:], row)
	}
	return t, nil
}

// Own returns a tensor over the memory of src, such as a buffer of a C library or of a GPU that FromRawParts describes. In
// every case release is called exactly once, by Go: when the tensor and all that was exported from it are gone (see
// Collect), or at once when Own fails. It is nil where there is nothing to release.
//
// Memory of the garbage collector, and that of another tensor, is kept. All other memory has to be there until release is
// called, which nobody can promise of a view that is lent for the time of a call: one of a Scope is ErrUnowned, and so is
// one that a function gets as an argument from Python.
func Own[S AsDLTensor](src S, release func()) (*Tensor, error) {
	if release == nil {
		release = func() {}
	}
	v, err := viewOf(src)
	if err != nil {
		release()
		return nil, err
	}
	share, err := v.share()
	if err != nil {
		release()
		return nil, err
	}
	pinner := new(runtime.Pinner)
	if v.traits()&goMemory != 0 {
		pinner.Pin(v.data)
	}
	free := func() {
		pinner.Unpin()
		if share != nil {
			defer giveBack(share, countedExport) // after release, and although that may panic
		}
		release()
	}
	owner, err := keep(free)
	if err != nil {
		free()
		return nil, err
	}
	t := &Tensor{anyView: v.like(v.shape(), v.strides())}
	t.meta.traits &^= goMemory // it is pinned for good
	return t.own(possession{owner: owner})
}

// share returns the owner of the memory of v, of which an export more is counted; nil when v has no guard, so that nobody
// said how long the memory lives.
func (v AnyView) share() (*C.dlpackgo_owner, error) {
	switch {
	case v.meta.traits&lentForCall != 0:
		return nil, ErrUnowned
	case v.meta.guard == nil:
		return nil, nil
	}
	owner, current, err := v.meta.guard.held.export(v.meta.generation)
	if owner == nil {
		err = v.unshared(current, err)
	}
	return owner, err
}

// shapeOf returns extents as New takes them.
func shapeOf(extents []int64) []int {
	shape := make([]int, len(extents))
	for axis, extent := range extents {
		shape[axis] = int(extent)
	}
	return shape
}

// newTensor returns a tensor with room for shape and strides, and nothing else.
func newTensor(ndim int) *Tensor {
	t := new(Tensor)
	t.meta = t.room.prepare(ndim)
	return t
}

// own gives t what it has to give back, at once when that fails.
func (t *Tensor) own(p possession) (*Tensor, error) {
	g, err := takeGuard()
	if err != nil {
		p.release()
		return nil, err
	}
	if p.owner != nil {
		g.held.owner.Store(p.owner)
	}
	g.held.managed, g.held.versioned, g.held.shared = p.managed, p.versioned, p.shared
	t.meta.guard, t.meta.generation = g, g.generation.Load()
	g.held.leak = newLeak(t)
	return t, nil
}

// Close gives the memory back, as soon as nothing that was exported needs it. Views of the tensor end. While the tensor
// is lent Close returns ErrLent and changes nothing; a second Close is harmless.
func (t *Tensor) Close() error {
	if t == nil {
		return nil
	}
	p, err := t.retire()
	p.release()
	return err
}

// Move gives the tensor up without giving its memory back: the caller has it from now on. Views of the tensor end, as with
// Close. On a MemoryError the tensor is closed; other errors change nothing.
func (t *Tensor) Move() (Moved, error) {
	if t == nil || t.meta == nil {
		return Moved{}, ErrEmpty
	}
	p, err := t.retire()
	if err != nil {
		return Moved{}, err
	}
	if p.empty() {
		return Moved{}, t.gone()
	}
	if p, err = p.owned(); err != nil {
		p.release()
		return Moved{}, err
	}
	return Moved{Owner: unsafe.Pointer(p.owner), Descriptor: t.descriptor(), Flags: t.Flags()}, nil
}

// Receive returns a tensor that has what another one was moved to. It trusts m, and takes over the reference in it. Of
// nothing, the zero value, it makes ErrEmpty.
func Receive(m Moved) (*Tensor, error) {
	if m.Owner == nil {
		return nil, ErrEmpty
	}
	return tensorLike(&m.Descriptor, m.Flags).own(possession{owner: (*C.dlpackgo_owner)(m.Owner), shared: true})
}

// retire takes the memory away from t and its views, and returns it; nothing when t has none.
func (t *Tensor) retire() (possession, error) {
	if t.meta == nil || t.meta.guard == nil {
		return possession{}, nil
	}
	g := t.meta.guard
	p, err := g.retire(t.meta.generation)
	if !p.empty() {
		g.pool()
	}
	return p, err
}

// tensorLike returns a tensor that looks like a sound descriptor, with shape and strides of its own, and that owns
// nothing.
func tensorLike(d *ffi.DLTensor, flags ffi.Flags) *Tensor {
	t := newTensor(int(d.NDim))
	t.anyView = t.meta.copyOf(d, flags)
	return t
}

// descriptor returns v as a DLTensor over v's own shape and strides.
func (v AnyView) descriptor() ffi.DLTensor {
	shape, strides := v.shape(), v.strides()
	return ffi.DLTensor{
		Data:       v.data,
		Device:     v.meta.device,
		NDim:       int32(len(shape)),
		DType:      v.meta.dtype,
		Shape:      unsafe.SliceData(shape),
		Strides:    unsafe.SliceData(strides),
		ByteOffset: v.meta.byteOffset,
	}
}

// AsDLTensor returns a view of t.
func (t *Tensor) AsDLTensor() (AnyView, error) {
	if t == nil {
		return AnyView{}, ErrEmpty
	}
	return t.anyView.AsDLTensor()
}

// AsDLTensorMut returns a view of t, whose memory may be written.
func (t *Tensor) AsDLTensorMut() (AnyView, error) {
	if t == nil {
		return AnyView{}, ErrEmpty
	}
	return t.anyView.AsDLTensorMut()
}

// AnyView returns a view of t, an empty one for nil.
func (t *Tensor) AnyView() AnyView {
	if t == nil {
		return AnyView{}
	}
	return t.anyView
}

// String returns what t is, as in "float32 (2, 3) on cpu:0".
func (t *Tensor) String() string { return t.AnyView().String() }

// String returns what v is, as in "float32 (2, 3) on cpu:0".
func (v AnyView) String() string {
	switch {
	case v.meta == nil:
		return "view of nothing"
	case v.stale():
		return "view that has outlived its memory"
	}
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(v.shape()), "[]"), " ", ", ")
	return fmt.Sprintf("%v (%s) on %v", v.meta.dtype, shape, v.meta.device)
}

// Data returns the elements of t as a slice over its own memory, to read and to write. It is good until t is closed or
// moved; keep t until then. What MutViewOf and MutView.Data refuse is refused.
func Data[T Element](t *Tensor) ([]T, error) {
	v, err := MutViewOf[T](t)
	if err != nil {
		return nil, err
	}
	return v.Data()
}

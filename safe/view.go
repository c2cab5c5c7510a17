package safe

import (
	"slices"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// AnyView is a borrowed view of a tensor of any dtype on any device: it owns nothing, and describes everything. Strides
// count elements and are always there. The zero value is a view of nothing.
//
// A view knows whether what it was borrowed from is still there. When it is not, asking for elements is an error, and all that
// it still tells are dtype, device and flags. That is a net, not a lock: whoever closes a tensor while another goroutine reads
// from a view of it has a data race.
//
// Views are three words, which the compiler passes in registers. All that describes the elements lies behind a pointer,
// and is shared with the parts that Sub and Rows return.
type AnyView struct {
	data unsafe.Pointer // the first element, or a handle
	meta *metadata      // nil in the zero value
	axis int            // where the axes of this view begin in meta
}

// metadata describes elements. It does not change once a view of it was handed out.
type metadata struct {
	byteOffset uint64 // 0 where data is an address: it is folded into data there
	shape      []int64
	strides    []int64
	device     ffi.DLDevice
	dtype      ffi.DLDataType
	traits     traits
	guard      *guard // nil: the memory is the garbage collector's, or nobody said how long it lives
	generation uint64
}

// newMetadata returns metadata with room for shape and strides, and nothing else.
func newMetadata(ndim int) *metadata { return new(roomyMetadata).prepare(ndim) }

// roomyMetadata is metadata with shape and strides in place, if they fit.
type roomyMetadata struct {
	metadata
	dims [2 * usualRank]int64
}

func (m *roomyMetadata) prepare(ndim int) *metadata {
	dims := m.dims[:]
	if ndim > usualRank {
		dims = make([]int64, 2*ndim)
	}
	m.shape, m.strides = dims[:ndim:ndim], dims[ndim:2*ndim:2*ndim]
	return &m.metadata
}

// traits are the flags of DLPack, and two of our own.
type traits uint32

const (
	readOnly      = traits(ffi.FlagReadOnly)
	subbytePadded = traits(ffi.FlagSubbytePadded)
	dlpackTraits  = traits(ffi.FlagReadOnly | ffi.FlagIsCopied | ffi.FlagSubbytePadded)

	// sharedTraits are the flags that go out with exports. That a copy was made is between us and who made it.
	sharedTraits = readOnly | subbytePadded

	// goMemory says that data points into memory of the Go runtime, which must be pinned before C may see it.
	goMemory traits = 1 << 31

	// lentForCall says that C lends the memory for the time of a call.
	lentForCall traits = 1 << 30
)

// The views with a type embed by these aliases, so that the fields are not exported: outside of this package nobody can
// make a view whose dtype was not compared with T.
type (
	anyView         = AnyView
	view[T Element] = View[T]
)

// View is a borrowed read-only view of a tensor whose dtype is T. It has the methods of AnyView besides its own.
type View[T Element] struct{ anyView }

// MutView is a borrowed writable view of a tensor whose dtype is T: the memory is writable, and no two indices stand for
// one element. It has the methods of View and AnyView besides its own.
type MutView[T Element] struct{ view[T] }

// AsDLTensor is implemented by types that can be viewed as a tensor: the views and tensors of this package, and types of
// yours, which make their view once, with SliceView or FromRawParts, and return it here.
type AsDLTensor interface {
	// AsDLTensor returns a view that is good for as long as the receiver's memory is.
	AsDLTensor() (AnyView, error)
}

// AsDLTensorMut is implemented by types whose memory may also be written.
type AsDLTensorMut interface {
	AsDLTensor
	// AsDLTensorMut returns a view of memory that the caller may write to.
	AsDLTensorMut() (AnyView, error)
}

// BorrowDescriptor returns a view of t, over the memory of t's shape and strides. It trusts t: ffi.Validate or its C
// mirror has accepted it, strides are there, and all of it outlives the view. Where nothing can promise the last, use a
// Scope. Of nil it returns a view of nothing.
func BorrowDescriptor(t *ffi.DLTensor, flags ffi.Flags) AnyView {
	if t == nil {
		return AnyView{}
	}
	return (&metadata{shape: t.Extents(), strides: t.Steps()}).describe(t, flags)
}

// describe makes m look like t, but for shape and strides, and returns the view.
func (m *metadata) describe(t *ffi.DLTensor, flags ffi.Flags) AnyView {
	m.device = t.Device
	m.dtype = t.DType
	m.traits = traits(flags) & dlpackTraits
	folded := t.ByteOffset
	if !m.device.DeviceType.Addressable() {
		m.byteOffset, folded = t.ByteOffset, 0
	}
	v := AnyView{meta: m}
	if uintptr(t.Data)+uintptr(folded) >= firstAddress && ffi.Numel(m.shape) != 0 {
		v.data = unsafe.Add(t.Data, folded)
	}
	return v
}

// copyOf is describe with shape and strides as well, for which m has the room.
func (m *metadata) copyOf(t *ffi.DLTensor, flags ffi.Flags) AnyView {
	copy(m.shape, t.Extents())
	if t.Strides == nil {
		ffi.FillRowMajorStrides(m.strides, m.shape)
	} else {
		copy(m.strides, t.Steps())
	}
	return m.describe(t, flags)
}

// ViewOf returns a typed view of src, which may be a tensor, another view, or a type of yours. A dtype other than T is a
// DTypeError.
func ViewOf[T Element, S AsDLTensor](src S) (View[T], error) {
	v, err := viewOf(src)
	if err != nil {
		return View[T]{}, err
	}
	return typed[T](v)
}

// MutViewOf returns a typed writable view of src. Besides another dtype it refuses read-only memory with ErrReadOnly and
// strides that let elements share memory with an OverlapError.
func MutViewOf[T Element, S AsDLTensorMut](src S) (MutView[T], error) {
	v, err := writableView(src)
	if err != nil {
		return MutView[T]{}, err
	}
	readable, err := typed[T](v)
	return MutView[T]{readable}, err
}

// typed compares the dtype, and nothing else.
func typed[T Element](v AnyView) (View[T], error) {
	if got, want := v.DType(), DTypeOf[T](); got != want {
		if v.stale() {
			return View[T]{}, v.gone()
		}
		return View[T]{}, &DTypeError{Got: got, Want: want}
	}
	return View[T]{v}, nil
}

// AsDLTensor returns v, if it has not outlived its memory.
func (v AnyView) AsDLTensor() (AnyView, error) {
	if v.stale() {
		return AnyView{}, v.gone()
	}
	return v, nil
}

// AsDLTensorMut returns v, if its memory is there and may be written.
func (v AnyView) AsDLTensorMut() (AnyView, error) {
	if err := v.writable(); err != nil {
		return AnyView{}, err
	}
	return v.AsDLTensor()
}

// AnyView returns v without its type.
func (v View[T]) AnyView() AnyView { return v.anyView }

// View returns v as a read-only view.
func (v MutView[T]) View() View[T] { return v.view }

// NDim returns the number of axes.
func (v AnyView) NDim() int {
	if v.stale() {
		return 0
	}
	return len(v.shape())
}

// Dim returns the extent of an axis, 0 when there is no such axis.
func (v AnyView) Dim(axis int) int {
	if shape := v.Shape(); uint(axis) < uint(len(shape)) {
		return int(shape[axis])
	}
	return 0
}

// Shape returns the extents, over the view's own memory: copy them to change them.
func (v AnyView) Shape() []int64 {
	if v.stale() {
		return nil
	}
	return v.shape()
}

// Strides returns the strides in elements, over the view's own memory: copy them to change them.
func (v AnyView) Strides() []int64 {
	if v.stale() {
		return nil
	}
	return v.strides()
}

// DType returns the dtype, the zero value for a view of nothing.
func (v AnyView) DType() ffi.DLDataType {
	if v.meta == nil {
		return ffi.DLDataType{}
	}
	return v.meta.dtype
}

// Device returns where the elements are.
func (v AnyView) Device() ffi.DLDevice {
	if v.meta == nil {
		return ffi.DLDevice{}
	}
	return v.meta.device
}

// Flags returns the flags of DLPack that the view carries.
func (v AnyView) Flags() ffi.Flags { return ffi.Flags(v.traits() & dlpackTraits) }

// ReadOnly reports whether the memory must not be written.
func (v AnyView) ReadOnly() bool { return v.traits()&readOnly != 0 }

// Size returns the number of elements, 1 without axes, 0 for a view of nothing and one that has outlived its memory.
func (v AnyView) Size() int {
	if v.stale() {
		return 0
	}
	return int(ffi.Numel(v.shape()))
}

// NBytes returns the bytes that the elements take when they lie next to each other.
func (v AnyView) NBytes() int {
	return int(ffi.PackedSize(v.DType(), v.Flags(), int64(v.Size())))
}

// IsContiguous reports whether the elements lie next to each other in row-major order.
func (v AnyView) IsContiguous() bool { return !v.stale() && ffi.IsContiguous(v.shape(), v.strides()) }

// DataPtr returns the address of the first element, or the handle of the memory on devices that have no addresses; 0 when the
// view has outlived its memory.
func (v AnyView) DataPtr() uintptr {
	if v.stale() {
		return 0
	}
	return uintptr(v.data)
}

// ElementType returns the dtype of T.
func (v View[T]) ElementType() ffi.DLDataType { return DTypeOf[T]() }

// Writable returns false: a View is for reading.
func (v View[T]) Writable() bool { return false }

// Writable returns true: a MutView is for writing.
func (v MutView[T]) Writable() bool { return true }

// shape returns the extents of v, which is not the zero value.
func (v AnyView) shape() []int64 { return v.meta.shape[v.axis:] }

// strides returns the strides of v, which is not the zero value.
func (v AnyView) strides() []int64 { return v.meta.strides[v.axis:] }

func (v AnyView) traits() traits {
	if v.meta == nil {
		return 0
	}
	return v.meta.traits
}

// stale reports whether there is no memory: it was taken away, or v is the zero value.
func (v AnyView) stale() bool {
	return v.meta == nil || v.meta.guard != nil && v.meta.guard.generation.Load() != v.meta.generation
}

// gone returns the error of a stale view.
func (v AnyView) gone() error {
	if v.meta == nil {
		return ErrEmpty
	}
	return &ReleasedError{
		What: "the view has outlived its memory: the tensor was closed or moved, or the call that lent it has returned",
		Fix:  "use the view before that, or keep a copy of the elements",
	}
}

// access returns nil when the host may read the elements now.
func (v AnyView) access() error {
	if !v.stale() && v.meta.device.DeviceType == ffi.CPU && v.data != nil {
		return nil
	}
	return v.accessSlowly()
}

func (v AnyView) accessSlowly() error {
	switch {
	case v.stale():
		return v.gone()
	case !v.meta.device.HostAccessible():
		return &DeviceError{v.meta.device}
	case v.data == nil && v.Size() != 0:
		return ErrAddress
	}
	return nil
}

// writable returns nil when the memory may be written and each index has an element of its own.
func (v AnyView) writable() error {
	switch {
	case v.stale():
		return v.gone()
	case v.ReadOnly():
		return ErrReadOnly
	}
	return overlap(v.shape(), v.strides())
}

// overlap returns nil when each index has an element of its own, else the error that names an axis to blame.
func overlap(shape, strides []int64) error {
	if ffi.IsContiguous(shape, strides) || !ffi.MayOverlap(shape, strides) {
		return nil
	}
	for axis := range shape {
		without := slices.Clone(shape)
		without[axis] = 1
		if !ffi.MayOverlap(without, strides) {
			return &OverlapError{Axis: axis, Got: strides[axis]}
		}
	}
	return &OverlapError{Axis: -1}
}

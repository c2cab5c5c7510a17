package ffi

import (
	"strconv"
	"strings"
	"unsafe"
)

// Flags is the flags field of DLManagedTensorVersioned.
type Flags uint64

// The flags of DLPack 1.3.
const (
	FlagReadOnly      Flags = 1 << 0 // the consumer must not write
	FlagIsCopied      Flags = 1 << 1 // the producer made a copy, which the consumer alone owns
	FlagSubbytePadded Flags = 1 << 2 // elements narrower than a byte are padded to whole bytes, not packed

	knownFlags = FlagReadOnly | FlagIsCopied | FlagSubbytePadded
)

// String returns the names of the flags that are set, as in "read-only|copied", and "none" when there are none.
func (f Flags) String() string {
	if f == 0 {
		return "none"
	}
	var names []string
	for _, flag := range []struct {
		bit  Flags
		name string
	}{{FlagReadOnly, "read-only"}, {FlagIsCopied, "copied"}, {FlagSubbytePadded, "subbyte-padded"}} {
		if f&flag.bit != 0 {
			names = append(names, flag.name)
		}
	}
	if unknown := f &^ knownFlags; unknown != 0 {
		names = append(names, "0x"+strconv.FormatUint(uint64(unknown), 16))
	}
	return strings.Join(names, "|")
}

// MaxNDim is the largest rank that is accepted: the buffer protocol of Python ends there.
const MaxNDim = 64

// DLTensor describes a tensor without owning it.
//
// Shape points to NDim extents and Strides to NDim strides, in elements and possibly negative; Strides may be nil, which
// stands for row-major, and both may be nil when NDim is 0. The first element lies ByteOffset bytes after Data.
type DLTensor struct {
	Data       unsafe.Pointer
	Device     DLDevice
	NDim       int32
	DType      DLDataType
	Shape      *int64
	Strides    *int64
	ByteOffset uint64
}

// Extents returns the shape as a slice over the memory of the descriptor, which must be sound (see Validate), and nil where
// there is none.
func (t *DLTensor) Extents() []int64 {
	if t == nil || t.NDim <= 0 || t.Shape == nil {
		return nil
	}
	return unsafe.Slice(t.Shape, int(t.NDim))
}

// Steps returns the strides as a slice over the memory of the descriptor, which must be sound (see Validate), and nil
// where it carries none.
func (t *DLTensor) Steps() []int64 {
	if t == nil || t.NDim <= 0 || t.Strides == nil {
		return nil
	}
	return unsafe.Slice(t.Strides, int(t.NDim))
}

// DLManagedTensor is a tensor with an owner, in the form that capsules named "dltensor" carry. Deleter is a C function
// of type void (*)(DLManagedTensor *), and nil when there is nothing to free.
type DLManagedTensor struct {
	DLTensor   DLTensor
	ManagerCtx unsafe.Pointer
	Deleter    unsafe.Pointer
}

// DLManagedTensorVersioned is a tensor with an owner, a version and flags, in the form that capsules named
// "dltensor_versioned" carry. Of a struct with another major version only Version, ManagerCtx, Deleter and Flags may be
// read.
type DLManagedTensorVersioned struct {
	Version    DLPackVersion
	ManagerCtx unsafe.Pointer
	Deleter    unsafe.Pointer
	Flags      Flags
	DLTensor   DLTensor
}

package safe

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// One sentinel per rule of this package, for errors.Is. Where a rule has facts, the error has a type of its own, for
// errors.As. What the validator refuses comes as the errors of package ffi.
var (
	ErrReleased = errors.New("safe: the memory is no longer there")
	ErrLent     = errors.New("safe: the tensor is lent to a call; close or move it after that call has returned")
	ErrUnowned  = errors.New("safe: the view has no owner to share; Lend it, or make a tensor of its memory with FromSlice or Own, or of a copy")
	ErrAddress  = errors.New("safe: data lies below 4096, where no system has memory; pass the address of the elements, or report it to the producer of the tensor")
	ErrKept     = errors.New("safe: a lent tensor was kept after the call")
	ErrEmpty    = errors.New("safe: a view of nothing; make it with ViewOf, SliceView or FromRawParts")
	ErrFunction = errors.New("safe: the function to call is nil; pass one that uses the tensor")
	ErrDType    = errors.New("safe: another dtype")
	ErrDevice   = errors.New("safe: memory that the host cannot reach")
	ErrRank     = errors.New("safe: another rank")
	ErrIndex    = errors.New("safe: an index outside the tensor")
	ErrLayout   = errors.New("safe: a layout that needs a copy")
	ErrLength   = errors.New("safe: another number of elements")
	ErrPacked   = errors.New("safe: elements narrower than a byte have no address; unpack them first, or hand the whole tensor on")
	ErrHandle   = errors.New("safe: the elements of this part would lie before the memory of its handle; the strides or the byte offset are wrong where the view was made")
	ErrReadOnly = errors.New("safe: the memory is read-only; copy the tensor to write to it")
	ErrOverlap  = errors.New("safe: elements that share memory")
	ErrMemory   = errors.New("safe: out of memory")
)

// ReleasedError says that memory was asked for after its time.
type ReleasedError struct {
	What string // what is gone, and why, as in "the tensor was closed"
	Fix  string
}

// Error returns the message.
func (e *ReleasedError) Error() string { return "safe: " + e.What + "; " + e.Fix }

// Unwrap returns ErrReleased.
func (e *ReleasedError) Unwrap() error { return ErrReleased }

// DTypeError says that elements were asked for as another type than they have.
type DTypeError struct {
	Got, Want ffi.DLDataType
}

// Error returns the message.
func (e *DTypeError) Error() string {
	return fmt.Sprintf("safe: dtype is %v; %v is needed; convert the array first, or ask for a view of %v", e.Got, e.Want, e.Got)
}

// Unwrap returns ErrDType.
func (e *DTypeError) Unwrap() error { return ErrDType }

// DeviceError says that elements lie where the host cannot read them.
type DeviceError struct {
	Got ffi.DLDevice
}

// Error returns the message.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("safe: device is %v, whose memory the host cannot reach; copy the tensor to the cpu first, or hand it to a library for that device with Lend", e.Got)
}

// Unwrap returns ErrDevice.
func (e *DeviceError) Unwrap() error { return ErrDevice }

// RankError says that a tensor has another number of axes than the operation takes.
type RankError struct {
	Got, Want int
	AtLeast   bool   // Want is the least that is accepted
	Fix       string // what to do about it, where that is not to take another view
}

// Error returns the message.
func (e *RankError) Error() string {
	least := ""
	if e.AtLeast {
		least = "at least "
	}
	return fmt.Sprintf("safe: rank is %d; %s%d is needed; %s", e.Got, least, e.Want,
		cmp.Or(e.Fix, "Reshape the view, or take a part of it with Sub"))
}

// Unwrap returns ErrRank.
func (e *RankError) Unwrap() error { return ErrRank }

// IndexError says that an index lies outside an axis, or (Axis is -1 then) that there is no such axis, or that it was named
// twice.
type IndexError struct {
	Axis   int
	Got    int
	Extent int  // valid indices are 0 to Extent-1
	Twice  bool // the axis exists, but was named before
}

// Error returns the message.
func (e *IndexError) Error() string {
	if e.Twice {
		return fmt.Sprintf("safe: axis %d is named twice; name each of the %d axes once, counted from 0", e.Got, e.Extent)
	}
	if e.Axis < 0 {
		return fmt.Sprintf("safe: axis is %d; the view has %d axes, counted from 0", e.Got, e.Extent)
	}
	return fmt.Sprintf("safe: index[%d] is %d; 0 or more and less than the extent %d is accepted; compare with Dim(%d)", e.Axis, e.Got, e.Extent, e.Axis)
}

// Unwrap returns ErrIndex.
func (e *IndexError) Unwrap() error { return ErrIndex }

// LayoutError says that an operation without a copy needs another stride.
type LayoutError struct {
	Axis      int
	Got, Want int64
	Fix       string // what to do about it, where that is not to take a copy of what is not row-major
}

// Error returns the message.
func (e *LayoutError) Error() string {
	if e.Fix != "" {
		return fmt.Sprintf("safe: strides[%d] is %d; %d is needed; %s", e.Axis, e.Got, e.Want, e.Fix)
	}
	return fmt.Sprintf("safe: strides[%d] is %d; row-major needs %d; take a copy with Contiguous or CopyTo", e.Axis, e.Got, e.Want)
}

// Unwrap returns ErrLayout.
func (e *LayoutError) Unwrap() error { return ErrLayout }

// LengthError says that a slice or a shape counts another number of elements than is needed.
type LengthError struct {
	What      string // what was counted, as in "the slice"
	Got, Want int
	Fix       string // what to do about it
}

// Error returns the message.
func (e *LengthError) Error() string {
	return fmt.Sprintf("safe: %s has %d elements; %d are needed; %s", e.What, e.Got, e.Want, e.Fix)
}

// Unwrap returns ErrLength.
func (e *LengthError) Unwrap() error { return ErrLength }

// SliceError says that a slice does not lie inside its axis.
type SliceError struct {
	Axis, Start, Stop, Step, Extent int
}

// Error returns the message.
func (e *SliceError) Error() string {
	return fmt.Sprintf("safe: slice of axis %d is %d:%d:%d with extent %d; a positive step takes 0 <= start <= stop <= extent, a negative one -1 <= stop <= start < extent", e.Axis, e.Start, e.Stop, e.Step, e.Extent)
}

// Unwrap returns ErrIndex.
func (e *SliceError) Unwrap() error { return ErrIndex }

// OverlapError says that two indices of a tensor may stand for one element, so that writing is refused. Axis is -1 when
// no axis alone is to blame.
type OverlapError struct {
	Axis int
	Got  int64 // the stride
}

// Error returns the message.
func (e *OverlapError) Error() string {
	which := "strides let"
	if e.Axis >= 0 {
		which = fmt.Sprintf("strides[%d] is %d, which lets", e.Axis, e.Got)
	}
	return "safe: " + which + " elements share memory; writing needs memory of its own for each; copy the tensor first"
}

// Unwrap returns ErrOverlap.
func (e *OverlapError) Unwrap() error { return ErrOverlap }

// MemoryError says that C memory is short.
type MemoryError struct {
	Bytes int64 // how many were asked for
}

// Error returns the message.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("safe: no memory for %d bytes; close tensors that are no longer needed, or work in smaller parts", e.Bytes)
}

// Unwrap returns ErrMemory.
func (e *MemoryError) Unwrap() error { return ErrMemory }

package safe

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// A bool of Go is a byte of 0 or 1, and its compiler counts on that: it may add the byte, or index by it. The bytes of a
// tensor from elsewhere may be anything, and all but 0 are true. So they are made 0 or 1 where elements are copied out,
// and memory with other bytes in it is never handed out as []bool.

// ErrBool is what a BoolError is.
var ErrBool = errors.New("safe: a bool that is neither 0 nor 1")

// BoolError says that the memory of a tensor of bools cannot be used as a []bool.
type BoolError struct {
	Index int   // of the first such byte
	Got   uint8 // what it holds
}

// Error names the byte and the way out.
func (e *BoolError) Error() string {
	return fmt.Sprintf("safe: byte %d of the bools is %d, and a bool in Go is 0 or 1; take a copy with Contiguous or CopyTo", e.Index, e.Got)
}

// Unwrap returns ErrBool.
func (e *BoolError) Unwrap() error { return ErrBool }

// holdsBools reports whether the elements are bools of a byte each.
func (v AnyView) holdsBools() bool { return v.meta.dtype.Code == ffi.Bool }

// truth returns the bool at p as a T, which is bool.
func truth[T Element](p unsafe.Pointer) T {
	b := *(*uint8)(p) != 0
	return *(*T)(unsafe.Pointer(&b))
}

// rawBytes returns the memory of elements, which are bools.
func rawBytes[T Element](elements []T) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(elements))), len(elements))
}

// checkBools returns a BoolError when one of elements, which are bools, is neither 0 nor 1.
func checkBools[T Element](elements []T) error {
	for i, b := range rawBytes(elements) {
		if b > 1 {
			return &BoolError{Index: i, Got: b}
		}
	}
	return nil
}

// repairBools makes elements, which are bools, 0 or 1.
func repairBools[T Element](elements []T) {
	raw := rawBytes(elements)
	for i, b := range raw {
		if b > 1 {
			raw[i] = 1
		}
	}
}

package pyglue

// #include <stdlib.h>
// #include <string.h>
// #include "call.h"
import "C"

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

// Exception is a kind of Python exception.
type Exception int

// The exceptions that an error can become.
const (
	ValueError   Exception = C.ERROR_VALUE
	TypeError    Exception = C.ERROR_TYPE
	BufferError  Exception = C.ERROR_BUFFER
	RuntimeError Exception = C.ERROR_RUNTIME
	MemoryError  Exception = C.ERROR_MEMORY
	IndexError   Exception = C.ERROR_INDEX
	ImportError  Exception = C.ERROR_IMPORT
)

// raised is an error that knows its exception.
type raised struct {
	error
	exception Exception
}

func (r raised) Unwrap() error { return r.error }

// Raise returns err so that Python sees it as the given exception, instead of the one that the package documentation names.
// What is none of the exceptions above is a RuntimeError. Of nil it returns nil.
func Raise(exception Exception, err error) error {
	if err == nil {
		return nil
	}
	if exception < ValueError || exception > ImportError {
		exception = RuntimeError
	}
	return raised{err, exception}
}

// exceptions says what the errors of the packages below become. Everything else is a ValueError.
var exceptions = []struct {
	is        error
	exception Exception
}{
	{safe.ErrMemory, MemoryError},
	{safe.ErrDType, TypeError},
	{safe.ErrIndex, IndexError},
	{safe.ErrDevice, BufferError},
	{safe.ErrReadOnly, BufferError},
	{safe.ErrOverlap, BufferError},
	{safe.ErrReleased, BufferError},
	{context.Canceled, C.ERROR_CANCELED},
}

func exceptionOf(err error) Exception {
	var r raised
	if errors.As(err, &r) {
		return r.exception
	}
	for _, e := range exceptions {
		if errors.Is(err, e.is) {
			return e.exception
		}
	}
	if fault, _ := ffi.FaultOf(err); errors.Is(err, ffi.ErrInvalid) && !fault.Argument {
		return BufferError
	}
	return ValueError
}

// fail writes the outcome of a call that returned an error.
func fail(frame *C.call_frame, err error) {
	frame.error = C.int32_t(exceptionOf(err))
	frame.message = C.CString(withoutNUL(err.Error()))
}

// withoutNUL writes out the bytes at which a text ends in C.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", `\x00`) }

// failWithPanic writes the outcome of a call that panicked: text and stack, one after the other.
func failWithPanic(frame *C.call_frame, text string) {
	text = withoutNUL(text) // the stack stands behind the first one
	stack := debug.Stack()
	message := make([]byte, 0, len(text)+len(stack)+2)
	message = append(append(append(append(message, text...), 0), stack...), 0)
	frame.error = C.ERROR_PANIC
	frame.message = (*C.char)(C.CBytes(message))
}

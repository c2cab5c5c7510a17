package safe

// #include "loan.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// ErrLeaked is what every LeakError is, in the sense of errors.Is.
var ErrLeaked = errors.New("safe: a tensor was not closed")

// reporter is what SetDebug was given.
var reporter atomic.Pointer[func(error)]

// SetDebug switches debugging on, with report to be told what is found, or off, with nil. While it is on,
//   - a tensor that was made meanwhile and then forgotten, so that the garbage collector had to close it, is reported as a
//     LeakError with the stack that made it;
//   - lent tensors are not used again but watched, and a callee that wrote into one or called its deleter after the call
//     is reported as a KeptError with the stack that lent it, at the next Lend and by CheckLoans. A callee that only reads
//     is found when the program is built with -asan;
//   - views that a Go function got as arguments of a call from Python, and kept, are a ReleasedError wherever they are used
//     after it. Otherwise they may be that, or anything.
//
// report may be called from any goroutine, and several at once.
func SetDebug(report func(error)) {
	if report == nil {
		reporter.Store(nil)
		return
	}
	reporter.Store(&report)
}

// Debugging reports whether SetDebug has switched debugging on.
func Debugging() bool { return debugging() }

// debugging reports whether SetDebug has switched debugging on.
func debugging() bool { return reporter.Load() != nil }

// tell reports err to whoever debugs.
func tell(err error) {
	if report := reporter.Load(); report != nil {
		(*report)(err)
	}
}

// LeakError says that a tensor was forgotten.
type LeakError struct {
	Tensor string // what it was, as in "float32 (2, 3) on cpu:0"
	Stack  string // where it was made
}

// Error returns the message, with the stack.
func (e *LeakError) Error() string {
	return fmt.Sprintf("safe: a tensor %s was not closed; defer its Close after making it, here:\n%s", e.Tensor, e.Stack)
}

// Unwrap returns ErrLeaked.
func (e *LeakError) Unwrap() error { return ErrLeaked }

// newLeak returns the report that is due if t is forgotten, nil unless debugging.
func newLeak(t *Tensor) *LeakError {
	if !debugging() {
		return nil
	}
	return &LeakError{Tensor: t.String(), Stack: callers()}
}

func (e *LeakError) report() {
	if e != nil {
		tell(e)
	}
}

// callers returns the stack above this package's own functions.
func callers() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var text strings.Builder
	for {
		frame, more := frames.Next()
		fmt.Fprintf(&text, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
		if !more {
			return text.String()
		}
	}
}

// KeptError says that a callee kept a tensor that it was only lent.
type KeptError struct {
	Tensor string // what it was, as in "float32 (2, 3) on cpu:0"
	Stack  string // where it was lent
}

// Error returns the message, with the stack.
func (e *KeptError) Error() string {
	return fmt.Sprintf("safe: a tensor %s was used after the call that it was lent for; hand the library one of its own with Pack; it was lent here:\n%s", e.Tensor, e.Stack)
}

// Unwrap returns ErrKept.
func (e *KeptError) Unwrap() error { return ErrKept }

// watchedLoans are the loans that have ended since debugging began, the oldest first.
var watchedLoans struct {
	sync.Mutex
	ended []endedLoan
}

type endedLoan struct {
	block *C.dlpackgo_loan
	kept  *KeptError
}

// watchedLimit is how many loans that have ended are watched at the same time.
const watchedLimit = 1024

// watchedGuard returns a guard to lend v, whose loan will not be used again.
func watchedGuard(v AnyView) (*guard, error) {
	if err := CheckLoans(); err != nil {
		tell(err)
	}
	g, err := newGuard(ffi.MaxNDim, true)
	if err != nil {
		return nil, err
	}
	g.kept = &KeptError{Tensor: v.String(), Stack: callers()}
	return g, nil
}

// retireLoan puts the watched loan of g aside. Nothing is left of g then.
func (g *guard) retireLoan() {
	C.dlpackgo_loan_retire(g.held.loan)
	watchedLoans.Lock()
	defer watchedLoans.Unlock()
	watchedLoans.ended = append(watchedLoans.ended, endedLoan{g.held.loan, g.kept})
	g.held.loan = nil
}

// CheckLoans returns the KeptErrors of loans that ended while debugging was on and were used after that, each of them
// once; nil when there are none.
func CheckLoans() error {
	watchedLoans.Lock()
	defer watchedLoans.Unlock()
	var found []error
	watching := watchedLoans.ended[:0]
	for i, ended := range watchedLoans.ended {
		switch {
		case bool(C.dlpackgo_loan_was_kept(ended.block)):
			// Whoever has it may use it again: it is never freed.
			found = append(found, ended.kept)
		case i < len(watchedLoans.ended)-watchedLimit:
			C.dlpackgo_loan_free(ended.block)
		default:
			watching = append(watching, ended)
		}
	}
	watchedLoans.ended = watching
	return errors.Join(found...)
}

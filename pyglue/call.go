package pyglue

// #include "call.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/safe"
)

// errGoexit is what a call ends with whose function called runtime.Goexit.
var errGoexit = errors.New("the function ended its goroutine with runtime.Goexit instead of returning")

//export dlpackgoCall
func dlpackgoCall(frame *C.call_frame) {
	returned := false
	defer func() {
		if returned { // asking whether there was a panic takes longer
			return
		}
		if r := recover(); r != nil {
			failWithPanic(frame, fmt.Sprint(r))
		}
	}()
	if frame.collect {
		safe.Collect()
	}
	call := functions[frame.function]
	if safe.Debugging() {
		call = watched
	}
	if err := call(frame); err != nil {
		fail(frame, err)
	}
	returned = true
}

// watched makes a call whose views end for good when it does.
func watched(frame *C.call_frame) error {
	watch, err := safe.NewWatch()
	if err != nil {
		return err
	}
	defer watch.End()
	for i, parameter := range parametersOf[frame.function] {
		argument := &frame.arguments[i]
		if parameter.isView() && bool(argument.given) {
			watch.Over(unsafe.Pointer(&argument.tensor.view))
		}
	}
	return functions[frame.function](frame)
}

// cancelable is a context, and what cancels it.
type cancelable struct {
	context.Context
	cancel context.CancelFunc
}

// running holds the contexts of the calls that are under way.
var running struct {
	sync.Mutex
	last  uint64
	calls map[uint64]cancelable
}

//export dlpackgoStart
func dlpackgoStart(frame *C.call_frame, waiter unsafe.Pointer) {
	ctx, cancel := context.WithCancel(context.Background())
	running.Lock()
	if running.calls == nil {
		running.calls = make(map[uint64]cancelable)
	}
	running.last++
	key := running.last
	running.calls[key] = cancelable{ctx, cancel}
	running.Unlock()
	frame.cancel = C.uint64_t(key)
	go func() {
		returned := false
		defer func() {
			running.Lock()
			delete(running.calls, key)
			running.Unlock()
			cancel()
			if !returned && frame.error == C.ERROR_NONE {
				fail(frame, Raise(RuntimeError, errGoexit))
			}
			C.call_finished(waiter)
		}()
		dlpackgoCall(frame)
		returned = true
	}()
}

// contextOf returns the context of a call that dlpackgoStart began.
func contextOf(frame *C.call_frame) context.Context {
	running.Lock()
	defer running.Unlock()
	return running.calls[uint64(frame.cancel)].Context
}

//export dlpackgoCancel
func dlpackgoCancel(key C.uint64_t) {
	running.Lock()
	call, found := running.calls[uint64(key)]
	running.Unlock()
	if found {
		call.cancel()
	}
}

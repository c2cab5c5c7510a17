package pyglue

// #include "call.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// errGoexit is what a call ends with whose function called runtime.Goexit.
var errGoexit = errors.New("the function ended its goroutine with runtime.Goexit instead of returning")

//export dlpackgoCall
func dlpackgoCall(frame *C.call_frame) {
	defer recoverTo(frame)
	if err := functions[frame.function](frame); err != nil {
		fail(frame, err)
	}
}

// recoverTo turns a panic into the outcome of the call.
func recoverTo(frame *C.call_frame) {
	if r := recover(); r != nil {
		failWithPanic(frame, fmt.Sprint(r))
	}
}

// running holds what cancels the calls that are under way.
var running struct {
	sync.Mutex
	last    uint64
	cancels map[uint64]context.CancelFunc
	context map[uint64]context.Context
}

//export dlpackgoStart
func dlpackgoStart(frame *C.call_frame, waiter unsafe.Pointer) {
	ctx, cancel := context.WithCancel(context.Background())
	running.Lock()
	if running.cancels == nil {
		running.cancels = make(map[uint64]context.CancelFunc)
		running.context = make(map[uint64]context.Context)
	}
	running.last++
	key := running.last
	running.cancels[key] = cancel
	running.context[key] = ctx
	running.Unlock()
	frame.cancel = C.uint64_t(key)
	go func() {
		returned := false
		defer func() {
			running.Lock()
			delete(running.cancels, key)
			delete(running.context, key)
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
	return running.context[uint64(frame.cancel)]
}

//export dlpackgoCancel
func dlpackgoCancel(key C.uint64_t) {
	running.Lock()
	cancel := running.cancels[uint64(key)]
	running.Unlock()
	if cancel != nil {
		cancel()
	}
}

package safe

// #cgo CFLAGS: -O2 -Wall -Wextra -Werror -std=gnu11
// #include "owner.h"
// #include "loan.h"
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// pins holds the pinned Go slices that C owners stand for. C knows a slice by its slot, never by a pointer to Go, and
// its deleter does not cross into Go: dead slots wait in a list until Collect.
var pins struct {
	sync.Mutex
	last  uint64
	slots map[uint64]*runtime.Pinner
}

// pin pins what p points to and returns an owner whose death will unpin it.
func pin(p unsafe.Pointer) (*C.dlpackgo_owner, error) {
	Collect()
	pins.Lock()
	defer pins.Unlock()
	owner := C.dlpackgo_owner_pinned(C.uint64_t(pins.last + 1))
	if owner == nil {
		return nil, &MemoryError{Bytes: C.sizeof_dlpackgo_owner}
	}
	pins.last++
	if pins.slots == nil {
		pins.slots = make(map[uint64]*runtime.Pinner)
	}
	pinner := new(runtime.Pinner)
	pinner.Pin(p)
	pins.slots[pins.last] = pinner
	return owner, nil
}

// Collect unpins the Go slices whose tensors, in Go and elsewhere, are all gone. Closing a tensor and making one with
// FromSlice do it too, so that a program needs it only when consumers of its slices release them on threads of their own
// and it has nothing more to export.
func Collect() {
	dead := C.dlpackgo_owner_take_dead_slots()
	if dead == nil {
		return
	}
	pins.Lock()
	defer pins.Unlock()
	for dead != nil {
		slot, next := uint64(dead.slot), dead.next
		C.dlpackgo_owner_free(dead)
		pins.slots[slot].Unpin()
		delete(pins.slots, slot)
		dead = next
	}
}

// releaseOwner gives one reference back.
func releaseOwner(owner *C.dlpackgo_owner) {
	pinned := owner.slot != 0
	C.dlpackgo_owner_release(owner)
	if pinned {
		Collect()
	}
}

// Live returns how many owners live in the process, and how many bytes of memory of their own they have: tensors, and
// what was exported from them and not yet given back. Tests compare the numbers before and after.
func Live() (owners, bytes int64) {
	var liveOwners, liveBytes C.int64_t
	C.dlpackgo_count_live(&liveOwners, &liveBytes)
	return int64(liveOwners), int64(liveBytes)
}

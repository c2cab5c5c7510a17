package safe

// #cgo CFLAGS: -O2 -Wall -Wextra -Werror -std=gnu11 -fvisibility=hidden -fno-plt
// #include "adopt.h"
// #include "owner.h"
// #include "live.h"
import "C"

import "sync"

// slots holds, for owners in C of memory that Go keeps, how to let go of it. C knows it by its slot, never by a pointer to
// Go, and its deleter does not cross into Go: dead slots wait in a list until Collect.
var slots struct {
	sync.Mutex
	last uint64
	free map[uint64]func()
}

// keep returns an owner whose death will call free.
func keep(free func()) (*C.dlpackgo_owner, error) {
	Collect()
	slots.Lock()
	defer slots.Unlock()
	owner := C.dlpackgo_owner_pinned(C.uint64_t(slots.last + 1))
	if owner == nil {
		return nil, &MemoryError{Bytes: C.sizeof_dlpackgo_owner}
	}
	slots.last++
	if slots.free == nil {
		slots.free = make(map[uint64]func())
	}
	slots.free[slots.last] = free
	return owner, nil
}

// Collect lets go of memory that Go keeps for tensors which, in Go and elsewhere, are all gone: it unpins slices and calls
// what Own was given. Closing a tensor and making one of that kind do it too, so a program needs Collect only when consumers
// release such tensors on threads of their own and it does neither any more.
func Collect() {
	dead := C.dlpackgo_owner_take_dead_slots()
	if dead == nil {
		return
	}
	// When one of those that Own was given panics, the others wait for the next time.
	defer func() { C.dlpackgo_owner_put_dead_slots(dead) }()
	for dead != nil {
		slot, next := uint64(dead.slot), dead.next
		C.dlpackgo_owner_free(dead)
		dead = next
		slots.Lock()
		free := slots.free[slot]
		delete(slots.free, slot)
		slots.Unlock()
		free() // not under the lock: it may close other tensors
	}
}

// giveBack gives back what was counted, a reference or an export.
func giveBack(owner *C.dlpackgo_owner, counted uint64) {
	if C.dlpackgo_give_back(owner, C.uint64_t(counted)) {
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

/* The owner block: one counted owner of one piece of memory, shared by tensors, views and exports.
 *
 * The last release runs destroy, on whatever thread that happens. What is destroyed here needs no GIL, no Go and no
 * living interpreter; package pyglue adds owners of Python objects, which bring a destroy of their own. No Python.h.
 */
#ifndef DLPACKGO_OWNER_H
#define DLPACKGO_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ffi/dlpack_abi.h"

typedef struct dlpackgo_owner dlpackgo_owner;

struct dlpackgo_owner {
    _Atomic int64_t references;
    _Atomic int64_t exports; /* managed tensors and buffers handed out and not yet given back */
    void (*destroy)(dlpackgo_owner *self);
    dlpackgo_owner *next; /* link of the queue in which a dead owner waits for its thread */
    void *context;        /* what destroy needs: a managed tensor, a Python object, or NULL */
    uint64_t slot;        /* Go slot of a pinned slice; 0 for everything else */
    int64_t bytes;        /* size of the memory, 0 when it is not ours */
};

/* What lives now, for leak tests and dlpackgo.debug: owners, bytes of own memory, exports. */
typedef struct {
    _Atomic int64_t owners;
    _Atomic int64_t bytes;
    _Atomic int64_t exports;
} dlpackgo_live_counts;

extern dlpackgo_live_counts dlpackgo_live;

/* Alignment of own memory: XLA copies or refuses anything less. */
#define DLPACKGO_ALIGNMENT 64

/* A new owner with one reference and nbytes of memory behind it, aligned to DLPACKGO_ALIGNMENT; *data is NULL when
 * nbytes is 0. NULL when memory is short. */
dlpackgo_owner *dlpackgo_owner_allocate(int64_t nbytes, bool zeroed, void **data);

/* Owners of what a DLPack producer handed over; their destroy calls its deleter, once, when there is one. */
dlpackgo_owner *dlpackgo_owner_adopt(DLManagedTensor *managed);
dlpackgo_owner *dlpackgo_owner_adopt_versioned(DLManagedTensorVersioned *managed);

/* An owner of a pinned Go slice. Its destroy pushes it on a list and never crosses into Go; Go takes the whole list
 * with dlpackgo_owner_take_dead_slots, unpins each slot and frees each owner with dlpackgo_owner_free. */
dlpackgo_owner *dlpackgo_owner_pinned(uint64_t slot);
dlpackgo_owner *dlpackgo_owner_take_dead_slots(void);

/* An owner with a destroy of the caller's making, which must end in dlpackgo_owner_free. */
dlpackgo_owner *dlpackgo_owner_new(void (*destroy)(dlpackgo_owner *), void *context);
void dlpackgo_owner_free(dlpackgo_owner *self);

static inline dlpackgo_owner *dlpackgo_owner_retain(dlpackgo_owner *self)
{
    atomic_fetch_add_explicit(&self->references, 1, memory_order_relaxed);
    return self;
}

static inline void dlpackgo_owner_release(dlpackgo_owner *self)
{
    if (atomic_fetch_sub_explicit(&self->references, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        self->destroy(self);
    }
}

#endif

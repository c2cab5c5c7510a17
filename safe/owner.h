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
#include "hot.h"

typedef struct dlpackgo_owner dlpackgo_owner;

struct dlpackgo_owner {
    _Atomic uint64_t counts; /* references below, of which exports above: one atomic operation serves both */
    void (*destroy)(dlpackgo_owner *self);
    dlpackgo_owner *next; /* link of the queue in which a dead owner waits for its thread */
    void *context;        /* what destroy needs: a managed tensor, a Python object, or NULL */
    uint64_t slot;        /* Go slot of a pinned slice; 0 for everything else */
    int64_t bytes;        /* size of the memory, 0 when it is not ours */
};

#define DLPACKGO_REFERENCE ((uint64_t)1)
#define DLPACKGO_EXPORT ((uint64_t)1 << 32)

/* Whether the address sanitizer watches: gcc and clang say so in different ways. */
#if defined(__SANITIZE_ADDRESS__)
#define DLPACKGO_WATCHES_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DLPACKGO_WATCHES_ADDRESSES 1
#endif
#endif

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
void dlpackgo_owner_put_dead_slots(dlpackgo_owner *first); /* back, what is left of such a list */
bool dlpackgo_owner_has_dead_slots(void);

/* An owner with a destroy of the caller's making, which must end in dlpackgo_owner_free. */
dlpackgo_owner *dlpackgo_owner_new(void (*destroy)(dlpackgo_owner *), void *context);
void dlpackgo_owner_free(dlpackgo_owner *self);

/* The destroy of own memory, for whoever has put one of his own in front of it. */
void dlpackgo_owner_destroy_memory(dlpackgo_owner *self);

static inline dlpackgo_owner *dlpackgo_owner_retain(dlpackgo_owner *self)
{
    atomic_fetch_add_explicit(&self->counts, DLPACKGO_REFERENCE, memory_order_relaxed);
    return self;
}

/* A reference that counts as an export: a managed tensor or a buffer in the hands of a consumer. */
static inline dlpackgo_owner *dlpackgo_owner_retain_export(dlpackgo_owner *self)
{
    atomic_fetch_add_explicit(&self->counts, DLPACKGO_EXPORT | DLPACKGO_REFERENCE, memory_order_relaxed);
    return self;
}

static inline void dlpackgo_owner_give_back(dlpackgo_owner *self, uint64_t counted)
{
    /* Where that is all there is, nobody else can come by a reference any more: no need for an atomic operation. */
    bool last = atomic_load_explicit(&self->counts, memory_order_acquire) == counted ||
                (uint32_t)atomic_fetch_sub_explicit(&self->counts, counted, memory_order_acq_rel) == 1;
    if (last)
        self->destroy(self);
}

static inline void dlpackgo_owner_release(dlpackgo_owner *self)
{
    dlpackgo_owner_give_back(self, DLPACKGO_REFERENCE);
}

static inline void dlpackgo_owner_release_export(dlpackgo_owner *self)
{
    dlpackgo_owner_give_back(self, DLPACKGO_EXPORT | DLPACKGO_REFERENCE);
}

/* How many managed tensors and buffers are out. */
static inline uint32_t dlpackgo_owner_exports(dlpackgo_owner *self)
{
    return (uint32_t)(atomic_load_explicit(&self->counts, memory_order_acquire) >> 32);
}

#endif

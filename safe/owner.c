#include "owner.h"

#include <stdlib.h>

#include "live.h"

/* Dead owners of pinned Go slices: pushed here from any thread, taken by Go as a whole. Taking everything with one
 * exchange leaves no room for the ABA problem. */
static _Atomic(dlpackgo_owner *) dead_slots;

static void initialize(dlpackgo_owner *self, void (*destroy)(dlpackgo_owner *), void *context)
{
    atomic_init(&self->counts, DLPACKGO_REFERENCE);
    self->destroy = destroy;
    self->next = NULL;
    self->context = context;
    self->slot = 0;
    self->bytes = 0;
}

dlpackgo_owner *dlpackgo_owner_new(void (*destroy)(dlpackgo_owner *), void *context)
{
    dlpackgo_owner *self = malloc(sizeof *self);
    if (self != NULL) {
        initialize(self, destroy, context);
        dlpackgo_count(1, 0);
    }
    return self;
}

void dlpackgo_owner_free(dlpackgo_owner *self)
{
    dlpackgo_count(-1, 0);
    free(self);
}

/* --- own memory: the owner lies in front of the data, in one allocation ------------------------------------------ */

_Static_assert(sizeof(dlpackgo_owner) <= DLPACKGO_ALIGNMENT, "the owner fits in front of the aligned data");

DLPACKGO_HOT void dlpackgo_owner_destroy_memory(dlpackgo_owner *self)
{
    dlpackgo_count(-1, -self->bytes);
    free(self->context);
}

DLPACKGO_HOT dlpackgo_owner *dlpackgo_owner_allocate(int64_t nbytes, bool zeroed, void **data)
{
    if (nbytes < 0 || nbytes > INT64_MAX - 2 * DLPACKGO_ALIGNMENT)
        return NULL;
    size_t size = (size_t)nbytes + 2 * DLPACKGO_ALIGNMENT;
    /* malloc and calloc, not aligned_alloc: they are faster, and calloc leaves fresh pages of the kernel untouched. */
    void *block = zeroed ? calloc(1, size) : malloc(size);
    if (block == NULL)
        return NULL;
    uintptr_t aligned = ((uintptr_t)block + DLPACKGO_ALIGNMENT - 1) & ~(uintptr_t)(DLPACKGO_ALIGNMENT - 1);
    dlpackgo_owner *self = (dlpackgo_owner *)aligned;
    initialize(self, dlpackgo_owner_destroy_memory, block);
    self->bytes = nbytes;
    dlpackgo_count(1, nbytes);
    *data = nbytes == 0 ? NULL : (char *)aligned + DLPACKGO_ALIGNMENT;
    return self;
}

/* --- memory of a DLPack producer ---------------------------------------------------------------------------------- */

static void destroy_managed(dlpackgo_owner *self)
{
    DLManagedTensor *managed = self->context;
    dlpackgo_owner_free(self);
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

static void destroy_managed_versioned(dlpackgo_owner *self)
{
    DLManagedTensorVersioned *managed = self->context;
    dlpackgo_owner_free(self);
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

dlpackgo_owner *dlpackgo_owner_adopt(DLManagedTensor *managed)
{
    return dlpackgo_owner_new(destroy_managed, managed);
}

dlpackgo_owner *dlpackgo_owner_adopt_versioned(DLManagedTensorVersioned *managed)
{
    return dlpackgo_owner_new(destroy_managed_versioned, managed);
}

/* --- pinned Go slices --------------------------------------------------------------------------------------------- */

static void destroy_pinned(dlpackgo_owner *self)
{
    dlpackgo_owner *head = atomic_load_explicit(&dead_slots, memory_order_relaxed);
    do self->next = head;
    while (
        !atomic_compare_exchange_weak_explicit(&dead_slots, &head, self, memory_order_release, memory_order_relaxed));
}

dlpackgo_owner *dlpackgo_owner_pinned(uint64_t slot)
{
    dlpackgo_owner *self = dlpackgo_owner_new(destroy_pinned, NULL);
    if (self != NULL)
        self->slot = slot;
    return self;
}

void dlpackgo_owner_put_dead_slots(dlpackgo_owner *first)
{
    while (first != NULL) {
        dlpackgo_owner *next = first->next;
        destroy_pinned(first);
        first = next;
    }
}

bool dlpackgo_owner_has_dead_slots(void)
{
    return atomic_load_explicit(&dead_slots, memory_order_relaxed) != NULL;
}

dlpackgo_owner *dlpackgo_owner_take_dead_slots(void)
{
    if (!dlpackgo_owner_has_dead_slots())
        return NULL;
    return atomic_exchange_explicit(&dead_slots, NULL, memory_order_acquire);
}

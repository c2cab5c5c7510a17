#include "envelope.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(dlpackgo_owner, counts) == 0, "Go counts exports at the address of the owner");
_Static_assert(offsetof(dlpackgo_envelope_at_hand, envelope) == 0, "consumers know an envelope by its address");

/* On the heap, because in static memory Go's race detector would miss what C does to keep order. */
static dlpackgo_envelope_rack *rack;

dlpackgo_envelope_rack *dlpackgo_envelopes(void)
{
    if (rack != NULL)
        return rack;
    rack = calloc(1, sizeof *rack);
#if defined(DLPACKGO_WATCHES_ADDRESSES)
    if (rack != NULL)
        memset(rack->used.bytes, 1, sizeof rack->used.bytes);
#endif
    return rack;
}

dlpackgo_envelope *dlpackgo_envelope_new(int32_t ndim)
{
    return malloc(offsetof(dlpackgo_envelope, extents) + 2 * (size_t)ndim * sizeof(int64_t));
}

void dlpackgo_envelope_free(void *self)
{
    size_t distance = rack == NULL ? SIZE_MAX : (uintptr_t)self - (uintptr_t)rack->envelopes;
    if (distance < sizeof rack->envelopes)
        __atomic_store_n(&rack->used.bytes[distance / sizeof(dlpackgo_envelope)], 0, __ATOMIC_RELEASE);
    else
        free(self);
}

void dlpackgo_envelope_return(DLManagedTensor *self)
{
    dlpackgo_owner *owner = self->manager_ctx;
    dlpackgo_envelope_free(self);
    dlpackgo_owner_release_export(owner);
}

void dlpackgo_envelope_return_versioned(DLManagedTensorVersioned *self)
{
    dlpackgo_owner *owner = self->manager_ctx;
    dlpackgo_envelope_free(self);
    dlpackgo_owner_release_export(owner);
}

/* --- the one at hand ---------------------------------------------------------------------------------------------- */

dlpackgo_envelope_at_hand *dlpackgo_envelope_at_hand_new(void)
{
#if defined(DLPACKGO_WATCHES_ADDRESSES)
    return NULL;
#else
    return calloc(1, sizeof(dlpackgo_envelope_at_hand)); /* zero is DLPACKGO_AT_HAND */
#endif
}

void dlpackgo_envelope_come_back(dlpackgo_envelope_at_hand *self)
{
    dlpackgo_owner *owner = self->owner; /* soon another tensor's */
    uint32_t place = __atomic_exchange_n(&self->place, DLPACKGO_AT_HAND, __ATOMIC_ACQ_REL);
    if (place == DLPACKGO_ABANDONED)
        free(self);
    if (place == DLPACKGO_ABANDONED || place == DLPACKGO_LEFT)
        dlpackgo_owner_release_export(owner);
}

void dlpackgo_envelope_abandon(dlpackgo_envelope_at_hand *self)
{
    if (self != NULL && __atomic_exchange_n(&self->place, DLPACKGO_ABANDONED, __ATOMIC_ACQ_REL) == DLPACKGO_AT_HAND)
        free(self);
}

void dlpackgo_envelope_back(DLManagedTensor *self)
{
    dlpackgo_envelope_come_back((dlpackgo_envelope_at_hand *)self);
}

void dlpackgo_envelope_back_versioned(DLManagedTensorVersioned *self)
{
    dlpackgo_envelope_come_back((dlpackgo_envelope_at_hand *)self);
}

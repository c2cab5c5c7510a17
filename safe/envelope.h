/* Envelopes: exports that Go fills in by itself, because a call to C would cost as much as all the rest. No Python.h.
 */
#ifndef DLPACKGO_ENVELOPE_H
#define DLPACKGO_ENVELOPE_H

#include "owner.h"

enum { DLPACKGO_ENVELOPES = 64, DLPACKGO_ENVELOPE_RANK = 4 };

typedef struct {
    union {
        DLManagedTensor legacy;
        DLManagedTensorVersioned versioned;
    } managed;
    int64_t extents[2 * DLPACKGO_ENVELOPE_RANK]; /* shape, then strides */
} dlpackgo_envelope;

/* Envelopes that lie ready, and a byte for each that is 1 while somebody uses it: whoever sets it, by an atomic
 * operation on the word that it is in, has the envelope. The deleter clears it, on any thread, which takes no more than
 * a store. */
typedef struct {
    union {
        uint64_t words[DLPACKGO_ENVELOPES / 8];
        uint8_t bytes[DLPACKGO_ENVELOPES];
    } used;
    dlpackgo_envelope envelopes[DLPACKGO_ENVELOPES];
} dlpackgo_envelope_rack;

/* The only rack, made by the first call and never freed; NULL when memory is short. With the address sanitizer nothing
 * lies ready in it, so that memory which is used after its time is seen. */
dlpackgo_envelope_rack *dlpackgo_envelopes(void);

/* One more envelope, with room for some axes, when all are in use or too small. NULL when memory is short. */
dlpackgo_envelope *dlpackgo_envelope_new(int32_t ndim);

/* Gives back an envelope that did not become an export. */
void dlpackgo_envelope_free(void *self);

/* The deleters: they give back the export of an owner that manager_ctx holds, and the envelope. */
void dlpackgo_envelope_return(DLManagedTensor *self);
void dlpackgo_envelope_return_versioned(DLManagedTensorVersioned *self);

/* --- the one at hand ---------------------------------------------------------------------------------------------- */

/* Where an envelope at hand is. */
enum {
    DLPACKGO_AT_HAND,
    DLPACKGO_OUT,       /* a consumer has it, or somebody tries to take it */
    DLPACKGO_LEFT,      /* the same, and the tensor was closed meanwhile: the export is given back with the envelope */
    DLPACKGO_ABANDONED, /* the same, and there is nobody any more to come back to */
};

/* An envelope that belongs to one tensor in Go after another, and comes back to it from the consumer: an atomic
 * operation to take it, and one to bring it back, are all that an export costs then. The owner has an export counted
 * for it as long as the tensor lives, whether it is out or not. */
typedef struct {
    dlpackgo_envelope envelope;
    dlpackgo_owner *owner;
    uint32_t place;
} dlpackgo_envelope_at_hand;

/* NULL when memory is short, and with the address sanitizer. */
dlpackgo_envelope_at_hand *dlpackgo_envelope_at_hand_new(void);

/* Brings it back from the consumer that had it, and gives back what it leaves behind. */
void dlpackgo_envelope_come_back(dlpackgo_envelope_at_hand *self);

/* To be called when there will be no other tensor: frees it, now or when it comes back. NULL is fine. */
void dlpackgo_envelope_abandon(dlpackgo_envelope_at_hand *self);

/* The deleters. */
void dlpackgo_envelope_back(DLManagedTensor *self);
void dlpackgo_envelope_back_versioned(DLManagedTensorVersioned *self);

#endif

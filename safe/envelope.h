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

/* Envelopes that lie ready, and a byte for each that is 1 while somebody uses it: whoever sets it, by an atomic operation
 * on the word that it is in, has the envelope. The deleter clears it, on any thread, which takes no more than a store. */
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

#endif

/* A borrowed view in C: what Go's safe.AnyView is in memory, field by field, so that Go reads a view that C has filled
 * in without converting it. view_layout.go holds the two equal. No Python.h. */
#ifndef DLPACKGO_VIEW_H
#define DLPACKGO_VIEW_H

#include <string.h>

#include "../ffi/dlpack_abi.h"

typedef struct {
    void *data;           /* the first element, or a handle */
    uint64_t byte_offset; /* 0 where data is an address */
    int64_t *shape;
    int64_t shape_length, shape_capacity;
    int64_t *strides;
    int64_t strides_length, strides_capacity;
    DLDevice device;
    DLDataType dtype;
    uint32_t flags;
    void *guard; /* Go's; NULL from C */
    uint64_t generation;
} dlpackgo_view;

/* Two fields at once. Go copies a view in pieces of 16 bytes right after C has written it, and a processor that has to
 * make up one such load from two smaller stores waits until both have reached the cache. */
typedef int64_t dlpackgo_field_pair __attribute__((vector_size(16), aligned(8), may_alias));

_Static_assert(sizeof(dlpackgo_view) == 6 * sizeof(dlpackgo_field_pair), "a view is six pairs of fields");

/* The view of a sound descriptor whose strides are given and whose offset is folded in where data is an address. */
static inline void dlpackgo_view_describe(dlpackgo_view *view, const DLTensor *tensor, uint64_t flags)
{
    int64_t device, ndim = tensor->ndim;
    uint32_t dtype;
    memcpy(&device, &tensor->device, sizeof device);
    memcpy(&dtype, &tensor->dtype, sizeof dtype);
    int64_t traits = (int64_t)(dtype | (flags & DLPACK_KNOWN_FLAGS) << 32);
    dlpackgo_field_pair *pairs = (dlpackgo_field_pair *)view;
    pairs[0] = (dlpackgo_field_pair){(int64_t)tensor->data, (int64_t)tensor->byte_offset};
    pairs[1] = (dlpackgo_field_pair){(int64_t)tensor->shape, ndim};
    pairs[2] = (dlpackgo_field_pair){ndim, (int64_t)tensor->strides};
    pairs[3] = (dlpackgo_field_pair){ndim, ndim};
    pairs[4] = (dlpackgo_field_pair){device, traits};
    pairs[5] = (dlpackgo_field_pair){0, 0}; /* nothing guards it */
}

#endif

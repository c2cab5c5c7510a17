/* A borrowed view in C: what Go's safe.AnyView is in memory, field by field, so that Go reads a view that C has filled in
 * without converting it. view_layout.go holds the two equal. No Python.h. */
#ifndef DLPACKGO_VIEW_H
#define DLPACKGO_VIEW_H

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

/* The view of a sound descriptor whose strides are given and whose offset is folded in where data is an address. */
static inline void dlpackgo_view_describe(dlpackgo_view *view, const DLTensor *tensor, uint64_t flags)
{
    view->data = tensor->data;
    view->byte_offset = tensor->byte_offset;
    view->shape = tensor->shape;
    view->shape_length = view->shape_capacity = tensor->ndim;
    view->strides = tensor->strides;
    view->strides_length = view->strides_capacity = tensor->ndim;
    view->device = tensor->device;
    view->dtype = tensor->dtype;
    view->flags = (uint32_t)(flags & DLPACK_KNOWN_FLAGS);
    view->guard = NULL;
    view->generation = 0;
}

#endif

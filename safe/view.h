/* A borrowed view in C: what Go's safe.AnyView and the metadata behind it are in memory, field by field, so that Go
 * reads a view that C has filled in without converting it. view_layout.go holds them equal. No Python.h. */
#ifndef DLPACKGO_VIEW_H
#define DLPACKGO_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "../ffi/dlpack_abi.h"

typedef struct {
    uint64_t byte_offset; /* 0 where data is an address */
    int64_t *shape;
    int64_t shape_length, shape_capacity;
    int64_t *strides;
    int64_t strides_length, strides_capacity;
    DLDevice device;
    DLDataType dtype;
    uint32_t flags;
    const void *guard; /* Go's; NULL while the view is good */
    uint64_t generation;
} dlpackgo_view_metadata;

typedef struct {
    void *data; /* the first element, or a handle */
    const dlpackgo_view_metadata *metadata;
    int64_t axis; /* the first of its axes in metadata */
} dlpackgo_view;

/* A view, with the metadata that it points to. */
typedef struct {
    dlpackgo_view view;
    dlpackgo_view_metadata metadata;
} dlpackgo_borrowed;

/* No system has memory below, and Go's runtime stops the process over smaller pointers: views have NULL instead. So
 * they have where there are no elements, because data may be anything then: in Rust a small number, and in an empty
 * part of memory that Go manages what comes after that memory, which the garbage collector would not forgive. */
#define DLPACKGO_FIRST_ADDRESS 4096

/* Beside DLPack's flags: the memory is lent for the time of a call, and may be gone after it. */
#define DLPACKGO_LENT_FOR_CALL (1u << 30)

/* A guard of Go's that no view of generation 0 is good under. */
extern const void *dlpackgo_view_ended;

/* To be done once, before the first view: what is the same in all of them. */
static inline void dlpackgo_borrow_ready(dlpackgo_borrowed *b)
{
    b->view.metadata = &b->metadata;
    b->view.axis = 0;
    b->metadata.generation = 0;
}

/* The view of a sound descriptor whose strides are given and whose offset is folded in where data is an address. */
static inline void dlpackgo_borrow(dlpackgo_borrowed *b, const DLTensor *tensor, uint64_t flags)
{
    /* Field by field: of one initializer for all of it, gcc makes a loop that clears the struct first. */
    dlpackgo_view_metadata *m = &b->metadata;
    b->view.data = tensor->data;
    bool empty = (uintptr_t)tensor->data < DLPACKGO_FIRST_ADDRESS;
    for (int32_t axis = 0; axis < tensor->ndim; axis++) empty |= tensor->shape[axis] == 0;
    if (__builtin_expect(empty, 0))
        b->view.data = NULL;
    m->byte_offset = tensor->byte_offset;
    m->shape = tensor->shape;
    m->shape_length = m->shape_capacity = tensor->ndim;
    m->strides = tensor->strides;
    m->strides_length = m->strides_capacity = tensor->ndim;
    m->device = tensor->device;
    m->dtype = tensor->dtype;
    m->flags = (uint32_t)(flags & DLPACK_KNOWN_FLAGS) | DLPACKGO_LENT_FOR_CALL;
    m->guard = NULL;
}

/* Ends the view, and every one that was made of it. */
static inline void dlpackgo_end_borrow(dlpackgo_borrowed *b)
{
    b->metadata.guard = dlpackgo_view_ended;
}

#endif

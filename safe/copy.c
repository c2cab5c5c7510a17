#include "copy.h"

#include <string.h>

#include "layout.h"

/* Axes of the copy, outermost first: extent-1 axes dropped, neighbours that lie row-major merged. Strides in bytes. */
typedef struct {
    int ndim;
    int64_t shape[DLPACKGO_MAX_NDIM];
    int64_t strides[DLPACKGO_MAX_NDIM];
} axes;

static void merge_axes(axes *merged, const DLTensor *view, int64_t item)
{
    merged->ndim = 0;
    for (int i = 0; i < view->ndim; i++) {
        int64_t extent = view->shape[i];
        if (extent == 1)
            continue;
        int64_t stride = view->strides[i] * item;
        int last = merged->ndim - 1;
        if (last >= 0 && merged->strides[last] == stride * extent) {
            merged->shape[last] *= extent;
            merged->strides[last] = stride;
        } else {
            merged->shape[last + 1] = extent;
            merged->strides[last + 1] = stride;
            merged->ndim++;
        }
    }
}

/* One row of n items, stride bytes apart. Constant sizes let the compiler turn each memcpy into a move. */
static char *copy_row(char *to, const char *from, int64_t n, int64_t stride, int64_t item)
{
    if (stride == item) {
        memcpy(to, from, (size_t)(n * item));
        return to + n * item;
    }
    switch (item) {
#define COPY_ITEMS(size)                                                                    \
    case size:                                                                              \
        for (int64_t i = 0; i < n; i++, to += size, from += stride) memcpy(to, from, size); \
        return to;
        COPY_ITEMS(1)
        COPY_ITEMS(2)
        COPY_ITEMS(4)
        COPY_ITEMS(8)
        COPY_ITEMS(16)
#undef COPY_ITEMS
    default:
        for (int64_t i = 0; i < n; i++, to += item, from += stride) memcpy(to, from, (size_t)item);
        return to;
    }
}

static char *copy_axes(char *to, const char *from, const axes *of, int axis, int64_t item)
{
    if (axis == of->ndim - 1)
        return copy_row(to, from, of->shape[axis], of->strides[axis], item);
    for (int64_t i = 0; i < of->shape[axis]; i++, from += of->strides[axis])
        to = copy_axes(to, from, of, axis + 1, item);
    return to;
}

void dlpackgo_copy_row_major(const DLTensor *view, uint64_t flags, void *destination)
{
    int64_t numel = dlpackgo_numel(view->shape, view->ndim);
    const char *from = dlpackgo_first(view);
    if (numel == 0)
        return;
    if (view->strides == NULL || dlpackgo_is_contiguous(view->shape, view->strides, view->ndim)) {
        memcpy(destination, from, (size_t)dlpackgo_packed_size(view->dtype, flags, numel));
        return;
    }
    axes merged;
    int64_t item = dlpackgo_item_size(view->dtype, flags);
    merge_axes(&merged, view, item);
    copy_axes(destination, from, &merged, 0, item);
}

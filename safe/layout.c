#include "layout.h"

int64_t dlpackgo_numel(const int64_t *shape, int ndim)
{
    int64_t numel = 1;
    for (int axis = 0; axis < ndim; axis++) {
        /* Extents before a 0 may multiply up to anything; the validator has bounded them. */
        numel *= shape[axis];
    }
    return numel;
}

bool dlpackgo_is_contiguous(const int64_t *shape, const int64_t *strides, int ndim)
{
    if (strides == NULL) {
        return true;
    }
    int64_t need = 1;
    bool row_major = true;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        if (shape[axis] == 0) {
            return true;
        }
        if (shape[axis] != 1) {
            row_major &= strides[axis] == need;
            need *= shape[axis];
        }
    }
    return row_major;
}

void dlpackgo_row_major_strides(const int64_t *shape, int ndim, int64_t *strides)
{
    int64_t stride = 1;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        strides[axis] = stride;
        if (shape[axis] > 1) {
            stride *= shape[axis];
        }
    }
}

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
            stride =
                (int64_t)((uint64_t)stride * (uint64_t)shape[axis]); /* may wrap: some call this before they validate */
        }
    }
}

/* The axis of extent above 1 with the smallest step that was not taken yet; -1 when none is left. */
static int next_axis(const int64_t *shape, const uint64_t *steps, const bool *taken, int ndim)
{
    int next = -1;
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] > 1 && !taken[axis] && (next < 0 || steps[axis] < steps[next])) {
            next = axis;
        }
    }
    return next;
}

bool dlpackgo_may_overlap(const int64_t *shape, const int64_t *strides, int ndim)
{
    uint64_t steps[DLPACKGO_MAX_NDIM];
    bool taken[DLPACKGO_MAX_NDIM] = {false};
    if (strides == NULL || dlpackgo_numel(shape, ndim) == 0) {
        return false;
    }
    for (int axis = 0; axis < ndim; axis++) {
        steps[axis] = strides[axis] < 0 ? -(uint64_t)strides[axis] : (uint64_t)strides[axis];
    }
    /* By growing steps, each axis must step over all that the axes before it reach. */
    uint64_t reach = 0;
    for (int axis; (axis = next_axis(shape, steps, taken, ndim)) >= 0; taken[axis] = true) {
        if (steps[axis] <= reach) {
            return true;
        }
        reach += steps[axis] * (uint64_t)(shape[axis] - 1);
    }
    return false;
}

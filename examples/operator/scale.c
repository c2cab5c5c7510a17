#include "scale.h"

#include <stddef.h>

int operator_scale(DLTensor *x, float factor)
{
    int64_t count = 1;
    if (x->device.device_type != kDLCPU || x->dtype.code != kDLFloat || x->dtype.bits != 32)
        return -1;
    for (int axis = x->ndim - 1; axis >= 0; axis--) {
        if (x->shape[axis] > 1 && x->strides != NULL && x->strides[axis] != count)
            return -1;
        count *= x->shape[axis];
    }
    float *element = (float *)((char *)x->data + x->byte_offset);
    for (int64_t i = 0; i < count; i++) element[i] *= factor;
    return 0;
}

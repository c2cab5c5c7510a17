/* An operator as C libraries offer it: it borrows tensors for the length of the call. */
#ifndef OPERATOR_SCALE_H
#define OPERATOR_SCALE_H

#include "../../ffi/dlpack_abi.h"

/* Multiplies the elements of x, float32 in row-major host memory, by factor. Returns 0, or -1 for another kind of
 * tensor. */
int operator_scale(DLTensor *x, float factor);

#endif

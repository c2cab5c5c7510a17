/* Copies of strided host memory. No Python.h. */
#ifndef DLPACKGO_COPY_H
#define DLPACKGO_COPY_H

#include "../ffi/dlpack_abi.h"

/* Writes the elements of view, which must be sound and host-accessible, to destination in row-major order.
 * Packed sub-byte tensors are contiguous (the validator sees to it) and are copied as they are packed. */
void dlpackgo_copy_row_major(const DLTensor *view, uint64_t flags, void *destination);

#endif

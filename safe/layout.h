/* Layout rules in C: the mirror of ffi/layout.go. No Python.h.
 *
 * Everything here takes what dlpackgo_validate has let pass, and checks nothing again.
 */
#ifndef DLPACKGO_LAYOUT_H
#define DLPACKGO_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ffi/dlpack_abi.h"
#include "rules.h"

static inline bool dlpackgo_device_in(uint32_t devices, int32_t device_type)
{
    return (uint32_t)device_type < 32 && (devices >> device_type & 1) != 0;
}

/* Whether the host may load and store through data: CPU, memory pinned for CUDA, ROCm or TPU, CUDA managed memory. */
static inline bool dlpackgo_host_accessible(int32_t device_type)
{
    return dlpackgo_device_in(DLPACKGO_HOST_DEVICES, device_type);
}

/* Whether data is an address to which bytes may be added, and not a handle. */
static inline bool dlpackgo_addressable(int32_t device_type)
{
    return dlpackgo_device_in(DLPACKGO_ADDRESSABLE_DEVICES, device_type);
}

/* Where a tensor begins. That of an empty one may be any number: it is counted as one, since a pointer must not wrap
 * around. */
static inline void *dlpackgo_first(const DLTensor *tensor)
{
    return (void *)((uintptr_t)tensor->data + tensor->byte_offset);
}

/* Whether elements are packed without regard to byte borders. */
static inline bool dlpackgo_is_packed(DLDataType dtype, uint64_t flags)
{
    return (uint32_t)dtype.bits * dtype.lanes % 8 != 0 && (flags & DLPACK_SUBBYTE_PADDED) == 0;
}

/* Bytes of one element, all lanes counted: what it is padded to where it does not fill whole bytes. Packed elements
 * are no such distance apart: ask dlpackgo_packed_size for the size of a tensor. Both sizes are asked for alike, but
 * flags make no difference to this one. */
static inline int64_t dlpackgo_item_size(DLDataType dtype, uint64_t flags)
{
    (void)flags;
    return ((int64_t)dtype.bits * dtype.lanes + 7) / 8;
}

/* Bytes of numel compact elements. Packed ones are rounded up once, at the end. */
static inline int64_t dlpackgo_packed_size(DLDataType dtype, uint64_t flags, int64_t numel)
{
    if (!dlpackgo_is_packed(dtype, flags)) {
        return numel * dlpackgo_item_size(dtype, flags);
    }
    /* Eight elements fill bits * lanes bytes, whatever those are: so no product of bits can overflow. */
    int64_t bits = (int64_t)dtype.bits * dtype.lanes;
    return numel / 8 * bits + (numel % 8 * bits + 7) / 8;
}

/* Alignment of an element in memory that the host reads: that of one float or integer in it. 1 below whole bytes. */
static inline uint32_t dlpackgo_alignment(DLDataType dtype)
{
    /* A shift, as a division here would cost more than the rest of the validator. */
    return dtype.bits % 8 != 0 ? 1 : (uint32_t)dtype.bits / 8 >> (dlpackgo_code[dtype.code].parts - 1);
}

/* Number of elements; 1 for ndim 0. */
int64_t dlpackgo_numel(const int64_t *shape, int ndim);

/* Whether the elements lie row-major without gaps. strides may be NULL. Axes of extent 1 and empty tensors always do,
 * whatever their strides are. */
bool dlpackgo_is_contiguous(const int64_t *shape, const int64_t *strides, int ndim);

/* Whether two indices may lead to the same element, so that writing through the strides is in doubt. Exact for what
 * slicing, transposing, reversing and broadcasting make of a compact tensor; true in doubt. */
bool dlpackgo_may_overlap(const int64_t *shape, const int64_t *strides, int ndim);

/* Fills in the strides of a row-major tensor; extents of 0 count as 1, so that strides of empty tensors are usable. */
void dlpackgo_row_major_strides(const int64_t *shape, int ndim, int64_t *strides);

#endif

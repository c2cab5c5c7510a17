/* Copies of sound strided memory, compared element by element; the memory is as large as the descriptor says and no
 * larger, so that AddressSanitizer sees every read and write that goes past it. And the rule of overlaps against
 * counting. */
#include <stdlib.h>

#include "descriptor.h"

#include "../safe/copy.h"
#include "../safe/layout.h"
#include "../safe/validate.h"

enum { MOST_BYTES = 1 << 12 };

static int64_t offset_of(const DLTensor *t, int64_t index)
{
    int64_t offset = 0;
    for (int axis = t->ndim - 1; axis >= 0; axis--) {
        offset += index % t->shape[axis] * t->strides[axis];
        index /= t->shape[axis];
    }
    return offset;
}

/* Where the elements lie, in elements from the first one. */
static void bounds(const DLTensor *t, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int axis = 0; axis < t->ndim; axis++) {
        int64_t reach = (t->shape[axis] - 1) * t->strides[axis];
        *(reach < 0 ? low : high) += reach;
    }
}

static void compare(const DLTensor *t, uint64_t flags, const char *first, const char *copy)
{
    int64_t numel = dlpackgo_numel(t->shape, t->ndim), item = dlpackgo_item_size(t->dtype, flags);
    if (dlpackgo_is_packed(t->dtype, flags)) {
        EXPECT(memcmp(first, copy, (size_t)dlpackgo_packed_size(t->dtype, flags, numel)) == 0);
        return;
    }
    for (int64_t i = 0; i < numel; i++)
        EXPECT(memcmp(first + offset_of(t, i) * item, copy + i * item, (size_t)item) == 0);
}

/* Whether two elements share memory, by counting. The library may say so when they do not, never the other way round.
 */
static void check_overlap(const DLTensor *t, int64_t low, int64_t high)
{
    bool *seen = calloc((size_t)(high - low + 1), sizeof *seen), shared = false;
    int64_t numel = dlpackgo_numel(t->shape, t->ndim);
    for (int64_t i = 0; i < numel && !shared; i++) {
        bool *one = &seen[offset_of(t, i) - low];
        shared = *one;
        *one = true;
    }
    free(seen);
    EXPECT(!shared || dlpackgo_may_overlap(t->shape, t->strides, t->ndim));
    EXPECT(!dlpackgo_is_contiguous(t->shape, t->strides, t->ndim) ||
           !dlpackgo_may_overlap(t->shape, t->strides, t->ndim));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes from = {data, size};
    fuzz_descriptor given;
    dlpackgo_fault fault;
    take_descriptor(&from, &given);
    DLTensor *t = &given.managed.dl_tensor;
    uint64_t flags = given.managed.flags;
    t->data = (void *)(uintptr_t)(1 << 20);
    t->byte_offset = 0;
    t->device = (DLDevice){kDLCPU, 0};
    if (dlpackgo_validate(t, flags, &fault) < 0 || dlpackgo_numel(t->shape, t->ndim) == 0)
        return 0;
    if (t->strides == NULL) {
        dlpackgo_row_major_strides(given.shape, t->ndim, given.strides);
        t->strides = given.strides;
    }
    int64_t low, high, item = dlpackgo_item_size(t->dtype, flags), numel = dlpackgo_numel(t->shape, t->ndim);
    bounds(t, &low, &high);
    if (numel * item > MOST_BYTES || high - low >= MOST_BYTES || (high - low + 1) * item > MOST_BYTES)
        return 0;

    bool packed = dlpackgo_is_packed(t->dtype, flags);
    size_t source_size =
        packed ? (size_t)dlpackgo_packed_size(t->dtype, flags, numel) : (size_t)((high - low + 1) * item);
    size_t copy_size = (size_t)dlpackgo_packed_size(t->dtype, flags, numel);
    char *source = malloc(source_size), *copy = malloc(copy_size);
    for (size_t i = 0; i < source_size; i++) source[i] = (char)(i * 31 + (i >> 8));
    t->byte_offset = take_byte(&from) % 2 ? (uint64_t)(-low * item) : 0;
    t->data = t->byte_offset != 0 ? source : source - low * item;
    dlpackgo_copy_row_major(t, flags, copy);
    compare(t, flags, source - low * item, copy);
    check_overlap(t, low, high);
    free(source);
    free(copy);
    return 0;
}

#include "validate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hot.h"
#include "layout.h"
#include "rules_text.h"

/* --- what the passes over the axes find --- */

typedef struct {
    int64_t product; /* of the extents, those below 2 left out; meaningless when oversized */
    int64_t least;   /* the smallest extent, and at most 1: below 0 one is negative, at 0 the tensor is empty */
    bool oversized;  /* the product does not fit */
    bool row_major;  /* no gaps; meaningless when empty */
} extents;

/* How far elements lie from the first one, in elements. */
typedef struct {
    int64_t low;  /* 0 or less */
    int64_t high; /* 0 or more */
} span;

static int broken(dlpackgo_fault *fault, int rule, int axis, int64_t got, int64_t beside)
{
    *fault = (dlpackgo_fault){.rule = rule, .axis = axis, .got = got, .beside = beside};
    return -1;
}

static inline extents measure_extents(const int64_t *shape, const int64_t *strides, int ndim)
{
    extents found = {.product = 1, .least = 1, .row_major = true};
    for (int axis = ndim - 1; axis >= 0; axis--) {
        int64_t extent = shape[axis];
        if (extent > 1) {
            found.row_major &= strides == NULL || strides[axis] == found.product;
            found.oversized |= __builtin_mul_overflow(found.product, extent, &found.product);
        } else if (extent < found.least) {
            found.least = extent;
        }
    }
    return found;
}

/* Adds one axis to the span; false when that takes it past an int64. */
static inline bool add_reach(span *reach, int64_t extent, int64_t stride)
{
    int64_t step, total;
    if (__builtin_mul_overflow(extent - 1, stride, &step) ||
        __builtin_add_overflow(step < 0 ? reach->low : reach->high, step, step < 0 ? &reach->low : &reach->high)) {
        return false;
    }
    return !__builtin_sub_overflow(reach->high, reach->low, &total);
}

static inline bool product_fits(int64_t a, int64_t b)
{
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product);
}

/* Whether elements of this dtype take at most INT64_MAX bytes. */
static inline bool bytes_fit(DLDataType dtype, uint64_t flags, int64_t elements)
{
    if (!dlpackgo_is_packed(dtype, flags)) {
        return product_fits(elements, dlpackgo_item_size(dtype, flags));
    }
    int64_t bits = (int64_t)dtype.bits * dtype.lanes;
    int64_t bytes;
    return !__builtin_mul_overflow(elements / 8, bits, &bytes) &&
           !__builtin_add_overflow(bytes, (elements % 8 * bits + 7) / 8, &bytes);
}

/* --- faults that name an axis: found again, now that something is known to be wrong --- */

static int negative_extent(const DLTensor *tensor, dlpackgo_fault *fault)
{
    int axis = 0;
    while (tensor->shape[axis] >= 0) {
        axis++;
    }
    return broken(fault, DLPACKGO_RULE_EXTENT, axis, tensor->shape[axis], 0);
}

static int oversized(const DLTensor *tensor, uint64_t flags, dlpackgo_fault *fault)
{
    int64_t elements = 1;
    int axis = 0;
    for (;; axis++) {
        int64_t extent = tensor->shape[axis];
        if (extent > 1 &&
            (__builtin_mul_overflow(elements, extent, &elements) || !bytes_fit(tensor->dtype, flags, elements))) {
            return broken(fault, DLPACKGO_RULE_SIZE, axis, extent, 0);
        }
    }
}

static int unbounded(const DLTensor *tensor, dlpackgo_fault *fault)
{
    int64_t item = dlpackgo_item_size(tensor->dtype, 0);
    span reach = {0};
    for (int axis = 0;; axis++) {
        int64_t extent = tensor->shape[axis], stride = tensor->strides[axis];
        if (extent > 1 && (!add_reach(&reach, extent, stride) || !product_fits(reach.high - reach.low, item))) {
            return broken(fault, DLPACKGO_RULE_SPAN, axis, stride, extent);
        }
    }
}

static int not_packed(const DLTensor *tensor, dlpackgo_fault *fault)
{
    int64_t need = 1;
    for (int axis = tensor->ndim - 1;; axis--) {
        int64_t extent = tensor->shape[axis];
        if (extent > 1 && tensor->strides[axis] != need) {
            return broken(fault, DLPACKGO_RULE_PACKED_LAYOUT, axis, tensor->strides[axis], need);
        }
        need *= extent;
    }
}

/* --- the rules, in order --- */

static inline int validate_dtype(DLDataType dtype, dlpackgo_fault *fault)
{
    if (dtype.code >= DLPACKGO_CODE_COUNT) {
        return broken(fault, DLPACKGO_RULE_DTYPE_CODE, -1, dtype.code, dtype.bits);
    }
    if ((dlpackgo_code[dtype.code].widths & dlpackgo_width_bit[dtype.bits]) == 0) {
        return broken(fault, DLPACKGO_RULE_DTYPE_BITS, -1, dtype.code, dtype.bits);
    }
    if (dtype.lanes == 0) {
        return broken(fault, DLPACKGO_RULE_DTYPE_LANES, -1, 0, 0);
    }
    return 0;
}

/* Judges where the bytes of a tensor with elements lie. The lowest element begins below bytes before the first one, and
 * the highest ends beyond bytes after the first one's first byte. */
static inline int validate_memory(const DLTensor *tensor, int64_t elements, uint64_t below, uint64_t beyond,
                                  dlpackgo_fault *fault)
{
    if (tensor->data == NULL) {
        return broken(fault, DLPACKGO_RULE_DATA, -1, elements, 0);
    }
    int32_t device_type = tensor->device.device_type;
    if (!dlpackgo_addressable(device_type)) {
        return 0;
    }
    uint64_t data = (uint64_t)(uintptr_t)tensor->data;
    uint64_t first, last;
    if (tensor->byte_offset > INT64_MAX || __builtin_add_overflow(data, tensor->byte_offset, &first) || first < below ||
        __builtin_add_overflow(first, beyond, &last)) {
        return broken(fault, DLPACKGO_RULE_ADDRESS, -1, (int64_t)data, (int64_t)tensor->byte_offset);
    }
    uint32_t alignment = dlpackgo_alignment(tensor->dtype);
    if ((first & (alignment - 1)) != 0 && dlpackgo_host_accessible(device_type)) {
        return broken(fault, DLPACKGO_RULE_ALIGNMENT, -1, (int64_t)first, alignment);
    }
    return 0;
}

DLPACKGO_HOT int dlpackgo_validate(const DLTensor *tensor, uint64_t flags, dlpackgo_fault *fault)
{
    fault->rule = 0;
    if (tensor == NULL) {
        return broken(fault, DLPACKGO_RULE_DESCRIPTOR, -1, 0, 0);
    }
    if (!dlpackgo_device_in(DLPACKGO_KNOWN_DEVICES, tensor->device.device_type)) {
        return broken(fault, DLPACKGO_RULE_DEVICE_TYPE, -1, tensor->device.device_type, 0);
    }
    if (tensor->device.device_id < 0) {
        return broken(fault, DLPACKGO_RULE_DEVICE_ID, -1, tensor->device.device_id, 0);
    }
    int ndim = tensor->ndim;
    if (ndim < 0 || ndim > DLPACKGO_MAX_NDIM) {
        return broken(fault, DLPACKGO_RULE_NDIM, -1, ndim, 0);
    }
    if (tensor->shape == NULL && ndim > 0) {
        return broken(fault, DLPACKGO_RULE_SHAPE, -1, ndim, 0);
    }
    DLDataType dtype = tensor->dtype;
    if (validate_dtype(dtype, fault) != 0) {
        return -1;
    }

    extents found = measure_extents(tensor->shape, tensor->strides, ndim);
    if (found.least < 0) {
        return negative_extent(tensor, fault);
    }
    if (found.oversized || !bytes_fit(dtype, flags, found.product)) {
        return oversized(tensor, flags, fault);
    }
    if (found.least == 0) {
        return 0;
    }
    if (found.row_major) {
        uint64_t bytes = (uint64_t)dlpackgo_packed_size(dtype, flags, found.product);
        return validate_memory(tensor, found.product, 0, bytes - 1, fault);
    }

    uint64_t item = (uint64_t)dlpackgo_item_size(dtype, flags);
    span reach = {0};
    for (int axis = 0; axis < ndim; axis++) {
        if (tensor->shape[axis] > 1 && !add_reach(&reach, tensor->shape[axis], tensor->strides[axis])) {
            return unbounded(tensor, fault);
        }
    }
    if (!product_fits(reach.high - reach.low, (int64_t)item)) {
        return unbounded(tensor, fault);
    }
    if (dlpackgo_is_packed(dtype, flags)) {
        return not_packed(tensor, fault);
    }
    return validate_memory(tensor, found.product, (uint64_t)-reach.low * item, (uint64_t)reach.high * item + item - 1,
                           fault);
}

int dlpackgo_validate_versioned(const DLManagedTensorVersioned *managed, dlpackgo_fault *fault)
{
    if (managed == NULL) {
        return broken(fault, DLPACKGO_RULE_DESCRIPTOR, -1, 0, 0);
    }
    if (managed->version.major != DLPACK_MAJOR) {
        return broken(fault, DLPACKGO_RULE_VERSION, -1, managed->version.major, managed->version.minor);
    }
    /* A newer minor version may define more flags; they do not change what we read. */
    uint64_t unknown = managed->flags & ~DLPACK_KNOWN_FLAGS;
    if (unknown != 0 && managed->version.minor <= DLPACK_MINOR) {
        return broken(fault, DLPACKGO_RULE_FLAGS, -1, (int64_t)unknown, managed->version.minor);
    }
    return dlpackgo_validate(&managed->dl_tensor, managed->flags, fault);
}

/* --- the text --- */

/* Writes what the placeholder (the text between the braces) stands for. */
static void write_fact(const dlpackgo_fault *fault, const char *placeholder, size_t length, char *buffer, size_t size)
{
    bool known_code = fault->got >= 0 && fault->got < DLPACKGO_CODE_COUNT;
#define IS(name) (length == sizeof(name) - 1 && memcmp(placeholder, name, length) == 0)
    if (IS("axis")) {
        snprintf(buffer, size, "%d", fault->axis);
    } else if (IS("got")) {
        snprintf(buffer, size, "%" PRId64, fault->got);
    } else if (IS("beside")) {
        snprintf(buffer, size, "%" PRId64, fault->beside);
    } else if (IS("beside:unsigned")) {
        snprintf(buffer, size, "%" PRIu64, (uint64_t)fault->beside);
    } else if (IS("got:hex")) {
        snprintf(buffer, size, "0x%" PRIx64, (uint64_t)fault->got);
    } else if (IS("got:code") && known_code) {
        snprintf(buffer, size, "%s", dlpackgo_code_text[fault->got].name);
    } else if (IS("got:widths") && known_code) {
        snprintf(buffer, size, "%s", dlpackgo_code_text[fault->got].widths);
    }
#undef IS
}

void dlpackgo_fault_message(const dlpackgo_fault *fault, char *buffer, size_t size)
{
    bool known = fault->rule >= 0 && fault->rule < DLPACKGO_RULE_COUNT;
    const char *text = dlpackgo_rule_text[known ? fault->rule : 0];
    size_t used = 0;
    while (*text != '\0' && used + 1 < size) {
        if (*text == '{') {
            size_t length = strcspn(text + 1, "}");
            buffer[used] = '\0';
            write_fact(fault, text + 1, length, buffer + used, size - used);
            used += strlen(buffer + used);
            text += length + 2;
        } else {
            buffer[used++] = *text++;
        }
    }
    if (size > 0) {
        buffer[used] = '\0';
    }
}

#include "validate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "layout.h"
#include "rules_text.h"

/* --- what the passes over the axes find --------------------------------------------------------------------------- */

typedef struct {
    int64_t elements; /* product of the extents, 0 and 1 left out */
    bool negative;    /* some extent is below 0 */
    bool empty;       /* some extent is 0 */
    bool oversized;   /* elements does not fit */
    bool compact;     /* row-major without gaps, unless empty */
} extents;

typedef struct {
    int64_t low;  /* offset of the lowest element from the first, in elements; 0 or less */
    int64_t high; /* offset of the highest */
    bool unbounded;
} span;

static int broken(dlpackgo_fault *fault, int rule, int axis, int64_t got, int64_t beside)
{
    *fault = (dlpackgo_fault){.rule = rule, .axis = axis, .got = got, .beside = beside};
    return -1;
}

static inline extents measure_extents(const int64_t *shape, const int64_t *strides, int ndim)
{
    extents found = {.elements = 1, .compact = true};
    int64_t signs = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        int64_t extent = shape[axis];
        if (extent > 1) {
            found.compact &= strides == NULL || strides[axis] == found.elements;
            found.oversized |= __builtin_mul_overflow(found.elements, extent, &found.elements);
        } else {
            signs |= extent;
            found.empty |= extent == 0;
        }
    }
    found.negative = signs < 0;
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

/* --- faults that name an axis: found again, now that something is known to be wrong -------------------------------- */

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
        if (extent > 1 && (__builtin_mul_overflow(elements, extent, &elements) ||
                           !bytes_fit(tensor->dtype, flags, elements))) {
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

/* --- the rules, in order ------------------------------------------------------------------------------------------ */

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

/* Where the elements of a tensor lie that has some: reach is its span, bytes its size if it is compact, else 0. */
static inline int validate_memory(const DLTensor *tensor, int64_t elements, span reach, uint64_t bytes, dlpackgo_fault *fault)
{
    if (tensor->data == NULL) {
        return broken(fault, DLPACKGO_RULE_DATA, -1, elements, 0);
    }
    int32_t device_type = tensor->device.device_type;
    if (!dlpackgo_addressable(device_type)) {
        return 0;
    }
    /* The products fit: the span in bytes does. */
    uint64_t item = (uint64_t)dlpackgo_item_size(tensor->dtype, 0);
    uint64_t below = (uint64_t)-reach.low * item;
    uint64_t beyond = bytes != 0 ? bytes - 1 : (uint64_t)reach.high * item + item - 1;
    uint64_t first, last;
    if (__builtin_add_overflow((uint64_t)(uintptr_t)tensor->data, tensor->byte_offset, &first) || first < below ||
        __builtin_add_overflow(first, beyond, &last)) {
        return broken(fault, DLPACKGO_RULE_ADDRESS, -1, (int64_t)(uintptr_t)tensor->data, (int64_t)tensor->byte_offset);
    }
    uint32_t alignment = dlpackgo_alignment(tensor->dtype);
    if ((first & (alignment - 1)) != 0 && dlpackgo_host_accessible(device_type)) {
        return broken(fault, DLPACKGO_RULE_ALIGNMENT, -1, (int64_t)first, alignment);
    }
    return 0;
}

int dlpackgo_validate(const DLTensor *tensor, uint64_t flags, dlpackgo_fault *fault)
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
    if (found.negative) {
        return negative_extent(tensor, fault);
    }
    if (found.oversized || !bytes_fit(dtype, flags, found.elements)) {
        return oversized(tensor, flags, fault);
    }
    if (found.empty) {
        return 0;
    }
    if (found.compact) {
        uint64_t bytes = (uint64_t)dlpackgo_packed_size(dtype, flags, found.elements);
        return validate_memory(tensor, found.elements, (span){0}, bytes, fault);
    }

    span reach = {0};
    for (int axis = 0; axis < ndim; axis++) {
        if (tensor->shape[axis] > 1 && !add_reach(&reach, tensor->shape[axis], tensor->strides[axis])) {
            return unbounded(tensor, fault);
        }
    }
    if (!product_fits(reach.high - reach.low, dlpackgo_item_size(dtype, flags))) {
        return unbounded(tensor, fault);
    }
    if (dlpackgo_is_packed(dtype, flags)) {
        return not_packed(tensor, fault);
    }
    return validate_memory(tensor, found.elements, reach, 0, fault);
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

/* --- the text ----------------------------------------------------------------------------------------------------- */

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

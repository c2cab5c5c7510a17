/* The validator against an oracle that is written for clearness: one rule after the other, in 128 bits. */
#include "descriptor.h"

#include "../safe/layout.h"
#include "../safe/validate.h"

typedef __int128 wide;
static const wide LARGEST = INT64_MAX;
static const wide ADDRESSES = (wide)UINT64_MAX + 1;

static bool width_is_known(uint8_t code, uint8_t bits)
{
    bool power = bits != 0 && (bits & (bits - 1)) == 0;
    switch (code) {
    case kDLInt:
    case kDLUInt:
        return power && bits <= 64;
    case kDLFloat:
        return bits == 16 || bits == 32 || bits == 64;
    case kDLOpaqueHandle:
        return power && bits >= 8 && bits <= 64;
    case kDLBfloat:
        return bits == 16;
    case kDLComplex:
        return bits == 32 || bits == 64 || bits == 128;
    case kDLBool:
        return bits == 1 || bits == 8;
    case kDLBcomplex:
        return bits == 32;
    case kDLFloat6_e2m3fn:
    case kDLFloat6_e3m2fn:
        return bits == 6;
    case kDLFloat4_e2m1fn:
        return bits == 4;
    default:
        return bits == 8; /* the float8 types */
    }
}

static bool device_is_known(int32_t type)
{
    return (type >= 1 && type <= 4) || (type >= 7 && type <= 20);
}

static bool has_addresses(int32_t type)
{
    return type == kDLCPU || type == kDLCUDA || type == kDLCUDAHost || type == kDLROCM || type == kDLROCMHost ||
           type == kDLCUDAManaged || type == kDLOneAPI || type == kDLTPUHost;
}

static bool host_reads(int32_t type)
{
    return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost || type == kDLCUDAManaged || type == kDLTPUHost;
}

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

/* The rule that is broken first; 0 for none. */
static int expected_rule(const DLManagedTensorVersioned *managed)
{
    const DLTensor *t = &managed->dl_tensor;
    if (managed->version.major != 1)
        return DLPACKGO_RULE_VERSION;
    if (managed->version.minor <= 3 && managed->flags > 7)
        return DLPACKGO_RULE_FLAGS;
    if (!device_is_known(t->device.device_type))
        return DLPACKGO_RULE_DEVICE_TYPE;
    if (t->device.device_id < 0)
        return DLPACKGO_RULE_DEVICE_ID;
    if (t->ndim < 0 || t->ndim > 64)
        return DLPACKGO_RULE_NDIM;
    if (t->ndim > 0 && t->shape == NULL)
        return DLPACKGO_RULE_SHAPE;
    if (t->dtype.code > 18)
        return DLPACKGO_RULE_DTYPE_CODE;
    if (!width_is_known(t->dtype.code, t->dtype.bits))
        return DLPACKGO_RULE_DTYPE_BITS;
    if (t->dtype.lanes == 0)
        return DLPACKGO_RULE_DTYPE_LANES;

    wide numel = 1, bits = (wide)t->dtype.bits * t->dtype.lanes, item = (bits + 7) / 8;
    bool packed = bits % 8 != 0 && (managed->flags & DLPACK_SUBBYTE_PADDED) == 0, empty = false;
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] < 0)
            return DLPACKGO_RULE_EXTENT;
    for (int i = 0; i < t->ndim; i++) {
        empty = empty || t->shape[i] == 0;
        numel *= larger(t->shape[i], 1);
        if (numel > LARGEST)
            return DLPACKGO_RULE_SIZE;
        wide bytes = packed ? (numel * bits + 7) / 8 : numel * item;
        if (bytes > LARGEST)
            return DLPACKGO_RULE_SIZE;
    }
    if (empty)
        return 0;

    wide low = 0, high = 0, dense = 1;
    bool row_major = true;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] == 1)
            continue;
        wide stride = t->strides == NULL ? dense : t->strides[i], reach = (t->shape[i] - 1) * stride;
        row_major = row_major && stride == dense;
        dense *= t->shape[i];
        *(reach < 0 ? &low : &high) += reach;
        if (high - low > LARGEST)
            return DLPACKGO_RULE_SPAN;
    }
    if (!row_major && (high - low) * item > LARGEST)
        return DLPACKGO_RULE_SPAN;
    if (packed && !row_major)
        return DLPACKGO_RULE_PACKED_LAYOUT;
    if (t->data == NULL)
        return DLPACKGO_RULE_DATA;
    if (!has_addresses(t->device.device_type))
        return 0;
    wide first = (wide)(uintptr_t)t->data + t->byte_offset;
    wide behind = packed ? (numel * bits + 7) / 8 : (high + 1) * item;
    if (t->byte_offset > LARGEST || first >= ADDRESSES || first + low * item < 0 || first + behind > ADDRESSES)
        return DLPACKGO_RULE_ADDRESS;
    bool scalar_of_two = t->dtype.code == kDLComplex || t->dtype.code == kDLBcomplex;
    wide alignment = t->dtype.bits % 8 != 0 ? 1 : t->dtype.bits / 8 / (scalar_of_two ? 2 : 1);
    return host_reads(t->device.device_type) && first % alignment != 0 ? DLPACKGO_RULE_ALIGNMENT : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes from = {data, size};
    fuzz_descriptor given, before;
    dlpackgo_fault fault;
    take_descriptor(&from, &given);
    memcpy(&before, &given, sizeof given);
    int refused = dlpackgo_validate_versioned(&given.managed, &fault);
    EXPECT(memcmp(&before, &given, sizeof given) == 0);
    EXPECT(fault.rule == expected_rule(&given.managed));
    EXPECT(refused == (fault.rule == 0 ? 0 : -1));
    EXPECT(fault.rule == 0 || fault.axis >= -1);
    EXPECT(fault.rule == 0 || fault.axis < 64);

    char message[DLPACKGO_FAULT_MESSAGE_SIZE], cut[16];
    memset(message, 'x', sizeof message);
    dlpackgo_fault_message(&fault, message, sizeof message);
    size_t length = strnlen(message, sizeof message);
    EXPECT(length < sizeof message - 1 && strpbrk(message, "{}") == NULL);
    dlpackgo_fault_message(&fault, cut, sizeof cut);
    EXPECT(strncmp(cut, message, sizeof cut - 1) == 0 && cut[sizeof cut - 1] == '\0');
    return 0;
}

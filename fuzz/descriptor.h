/* Descriptors out of the bytes of a fuzzer: near the edges of every rule more often than chance would have it. */
#ifndef FUZZ_DESCRIPTOR_H
#define FUZZ_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../ffi/dlpack_abi.h"

typedef struct {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;

static inline uint64_t take_bytes(fuzz_bytes *from, size_t n)
{
    uint64_t value = 0;
    n = n < from->left ? n : from->left;
    memcpy(&value, from->at, n);
    from->at += n;
    from->left -= n;
    return value;
}

static inline uint8_t take_byte(fuzz_bytes *from)
{
    return (uint8_t)take_bytes(from, 1);
}

/* A small number, a power of two give or take a little, or anything. */
static inline int64_t take_integer(fuzz_bytes *from)
{
    uint8_t kind = take_byte(from);
    switch (kind % 4) {
    case 0:
        return (int8_t)take_byte(from) % 8;
    case 1:
        return (int8_t)take_byte(from);
    case 2: {
        uint64_t power = UINT64_C(1) << (take_byte(from) & 63);
        power += (uint64_t)(int64_t)((int8_t)kind / 64);
        return (int64_t)(kind & 4 ? 0 - power : power);
    }
    default:
        return (int64_t)take_bytes(from, 8);
    }
}

typedef struct {
    DLManagedTensorVersioned managed;
    int64_t shape[DLPACKGO_MAX_NDIM];
    int64_t strides[DLPACKGO_MAX_NDIM];
} fuzz_descriptor;

static inline void take_descriptor(fuzz_bytes *from, fuzz_descriptor *to)
{
    static const uint8_t widths[] = {1, 2, 4, 6, 8, 16, 32, 64, 128, 0, 3, 24};
    memset(to, 0, sizeof *to);
    uint8_t common = take_byte(from); /* one bit per field that is as it usually is */
    DLTensor *t = &to->managed.dl_tensor;
    to->managed.version.major = common & 1 ? 1 : take_byte(from) % 4;
    to->managed.version.minor = common & 1 ? 3 : take_byte(from) % 8;
    to->managed.flags = common & 2 ? take_byte(from) % 8 : (uint64_t)take_integer(from);
    t->device.device_type = common & 4 ? 1 : (int32_t)take_integer(from);
    t->device.device_id = common & 4 ? 0 : (int32_t)take_integer(from);
    t->ndim = common & 8 ? take_byte(from) % 6 : (int32_t)(int8_t)take_byte(from);
    t->dtype.code = take_byte(from) % (common & 16 ? 19 : 32);
    t->dtype.bits = widths[take_byte(from) % sizeof widths];
    t->dtype.lanes = common & 16 ? 1 : (uint16_t)take_bytes(from, 2);
    int axes = t->ndim < 0 ? 0 : t->ndim < DLPACKGO_MAX_NDIM ? t->ndim : DLPACKGO_MAX_NDIM;
    for (int i = 0; i < axes; i++) to->shape[i] = common & 32 ? take_byte(from) % 7 : take_integer(from);
    bool row_major = common & 64;
    int64_t stride = 1;
    for (int i = axes - 1; i >= 0; i--) {
        to->strides[i] = row_major ? stride : take_integer(from);
        stride = (int64_t)((uint64_t)stride * (uint64_t)(to->shape[i] > 1 ? to->shape[i] : 1));
    }
    uint8_t pointers = take_byte(from);
    t->shape = pointers % 16 == 1 ? NULL : to->shape;
    t->strides = pointers % 16 == 2 ? NULL : to->strides;
    t->data = (void *)(uintptr_t)(pointers % 16 == 3 ? 0
                                  : common & 128     ? UINT64_C(4096) + take_byte(from)
                                                     : (uint64_t)take_integer(from));
    t->byte_offset = pointers & 128 ? (uint64_t)take_integer(from) : 0;
}

/* Stops the fuzzer, which keeps the input. */
#define EXPECT(condition)     \
    do {                      \
        if (!(condition))     \
            __builtin_trap(); \
    } while (0)

#endif

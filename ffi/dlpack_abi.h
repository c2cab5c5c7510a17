/* The DLPack 1.3 ABI for this module's C files: the structs of package ffi under the names of the standard.
 *
 * Sizes and offsets are checked against testdata/dlpack-abi-1.3.json by the tests of package ffi (Go side) and by
 * the assertions below (C side). https://github.com/dmlc/dlpack/blob/main/include/dlpack/dlpack.h
 */
#ifndef DLPACKGO_DLPACK_ABI_H
#define DLPACKGO_DLPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

#define DLPACK_MAJOR 1
#define DLPACK_MINOR 3

#define DLPACK_READ_ONLY ((uint64_t)1)
#define DLPACK_IS_COPIED ((uint64_t)2)
#define DLPACK_SUBBYTE_PADDED ((uint64_t)4)
#define DLPACK_KNOWN_FLAGS (DLPACK_READ_ONLY | DLPACK_IS_COPIED | DLPACK_SUBBYTE_PADDED)

/* The buffer protocol ends at 64 dimensions, and so does every array library that we exchange with. */
#define DLPACKGO_MAX_NDIM 64

enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17,
    kDLTrn = 18,
    kDLTPU = 19,
    kDLTPUHost = 20
};

enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6,
    kDLFloat8_e3m4 = 7,
    kDLFloat8_e4m3 = 8,
    kDLFloat8_e4m3b11fnuz = 9,
    kDLFloat8_e4m3fn = 10,
    kDLFloat8_e4m3fnuz = 11,
    kDLFloat8_e5m2 = 12,
    kDLFloat8_e5m2fnuz = 13,
    kDLFloat8_e8m0fnu = 14,
    kDLFloat6_e2m3fn = 15,
    kDLFloat6_e3m2fn = 16,
    kDLFloat4_e2m1fn = 17,
    kDLBcomplex = 18
};

typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* The exchange API. Python objects are void * here, so that this header needs no Python.h. */
typedef struct DLPackExchangeAPIHeader {
    DLPackVersion version;
    struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

typedef struct {
    DLPackExchangeAPIHeader header;
    int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                                    void (*set_error)(void *error_ctx, const char *kind, const char *message));
    int (*managed_tensor_from_py_object_no_sync)(void *py_object, DLManagedTensorVersioned **out);
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor, void **out_py_object);
    int (*dltensor_from_py_object_no_sync)(void *py_object, DLTensor *out);
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **out_current_stream);
} DLPackExchangeAPI;

_Static_assert(sizeof(DLDataType) == 4 && sizeof(DLDevice) == 8 && sizeof(DLPackVersion) == 8, "DLPack ABI");
_Static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40, "DLPack ABI");
_Static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, deleter) == 56, "DLPack ABI");
_Static_assert(sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32,
               "DLPack ABI");
_Static_assert(sizeof(DLPackExchangeAPI) == 56 && offsetof(DLPackExchangeAPI, current_work_stream) == 48, "DLPack ABI");

#endif

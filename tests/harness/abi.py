"""The DLPack 1.3 structs for ctypes, and the names of their numbers.

https://github.com/dmlc/dlpack/blob/main/include/dlpack/dlpack.h
"""

import ctypes

READ_ONLY, IS_COPIED, SUBBYTE_PADDED = 1, 2, 4

CPU, CUDA, CUDA_HOST, OPENCL, VULKAN, METAL, VPI, ROCM, ROCM_HOST = 1, 2, 3, 4, 7, 8, 9, 10, 11
EXT_DEV, CUDA_MANAGED, ONE_API, WEB_GPU, HEXAGON, MAIA, TRN, TPU, TPU_HOST = 12, 13, 14, 15, 16, 17, 18, 19, 20

INT, UINT, FLOAT, OPAQUE_HANDLE, BFLOAT, COMPLEX, BOOL = range(7)
FLOAT32 = (FLOAT, 32, 1)

LEGACY_NAME, VERSIONED_NAME = "dltensor", "dltensor_versioned"

Version = tuple[int, int]
Device = tuple[int, int]
DTypeTriple = tuple[int, int, int]


class DLPackVersion(ctypes.Structure):
    major: int
    minor: int
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLTensor(ctypes.Structure):
    """The nested DLDevice and DLDataType are spelled out flat: same layout, shorter names."""

    data: int | None
    device_type: int
    device_id: int
    ndim: int
    code: int
    bits: int
    lanes: int
    shape: "ctypes._Pointer[ctypes.c_int64]"
    strides: "ctypes._Pointer[ctypes.c_int64]"
    byte_offset: int
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    tensor: DLTensor
    context: int | None
    deleter: int | None
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DLManagedTensorVersioned(ctypes.Structure):
    version: DLPackVersion
    context: int | None
    deleter: int | None
    flags: int
    tensor: DLTensor
    _fields_ = [
        ("version", DLPackVersion),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


Managed = DLManagedTensor | DLManagedTensorVersioned

Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

"""The libraries that exchange tensors with dlpackgo, under one set of names. What differs between them is here, as data."""

import ctypes
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dlpackgo


@dataclass(frozen=True)
class Library:
    """How one library makes an array, tells where its memory lies, and takes a tensor.

    The functions get the imported module first where they need it. Dtypes go by dlpackgo's names.
    """

    name: str
    distribution: str
    module: str
    zeros: Callable[[Any, Sequence[int], str], Any]
    address: Callable[[Any], int]
    take: Callable[[Any, Any], Any] | None  # None: it has no function that takes a tensor
    give: Callable[[Any], dlpackgo.Tensor] = dlpackgo.from_dlpack
    way_out: str = ""  # what give goes through where that is no capsule, and what take does
    way_in: str = ""
    dtype: str = "float32"  # one that every array of it can have
    prepare: Callable[[], None] = lambda: None
    note: str = ""

    @property
    def installed(self) -> bool:
        """Whether this Python can import it."""
        return find_spec(self.module.partition(".")[0]) is not None

    def load(self) -> Any:
        """The module, imported."""
        self.prepare()
        return importlib.import_module(self.module)


def buffer_address(array: Any) -> int:
    """Where the memory of an object with the buffer protocol lies: of any format and strides, which memoryview does not tell."""
    api, strides_and_format = ctypes.PyDLL(None), 0x1C
    buffer = (ctypes.c_void_p * 16)()  # a Py_buffer begins with the address, and is ten words long
    api.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(buffer), strides_and_format)
    api.PyBuffer_Release(ctypes.byref(buffer))
    return buffer[0] or 0


def numpy_address(array: Any) -> int:
    """Where the memory lies, for libraries that tell it through NumPy."""
    import numpy

    return int(numpy.asarray(array).ctypes.data)


def _numpy_zeros(shape: Sequence[int], dtype: Any) -> Any:
    import numpy

    return numpy.zeros(shape, dtype)


def _jax_with_64_bits() -> None:
    importlib.import_module("jax").config.update("jax_enable_x64", True)


def _dpctl_device() -> None:
    """Intel's OpenCL runtime comes as a wheel, which nothing looks into by itself."""
    driver = Path(sys.prefix, "lib", "libintelocl.so")
    if driver.exists():
        os.environ.setdefault("OCL_ICD_FILENAMES", str(driver))


def _ort_zeros(ort: Any, shape: Sequence[int], dtype: str) -> Any:
    """A value that owns its memory, which one made from a NumPy array does not."""
    value = ort.OrtValue.ortvalue_from_shape_and_type(list(shape), dtype)
    value.update_inplace(_numpy_zeros(shape, dtype))
    return value


def _no_arrays(module: Any, shape: Sequence[int], dtype: str) -> Any:
    raise TypeError("it has no arrays of its own: they are those of the extensions that are built with it")


LIBRARIES = (
    Library(
        "NumPy",
        "numpy",
        "numpy",
        zeros=lambda numpy, shape, dtype: numpy.zeros(shape, dtype),
        address=lambda array: int(array.ctypes.data),
        take=lambda numpy, tensor: numpy.from_dlpack(tensor),
    ),
    Library(
        "PyTorch",
        "torch",
        "torch",
        zeros=lambda torch, shape, dtype: torch.zeros(shape, dtype=getattr(torch, dtype)),
        address=lambda array: int(array.data_ptr()),
        take=lambda torch, tensor: torch.from_dlpack(tensor),
        note="gradients must be detached",
    ),
    Library(
        "JAX",
        "jax",
        "jax.numpy",
        zeros=lambda jnp, shape, dtype: jnp.zeros(shape, dtype),
        address=lambda array: int(array.unsafe_buffer_pointer()),
        take=lambda jnp, tensor: jnp.from_dlpack(tensor),
        prepare=_jax_with_64_bits,
        note="copies what is not aligned to 64 bytes",
    ),
    Library(
        "TensorFlow",
        "tensorflow",
        "tensorflow",
        zeros=lambda tf, shape, dtype: tf.zeros(shape, getattr(tf, dtype)),
        address=lambda array: buffer_address(array) if array.dtype != "bfloat16" else numpy_address(array),
        take=lambda tf, tensor: tf.experimental.dlpack.from_dlpack(tensor.__dlpack__()),
        note="takes capsules: `t.__dlpack__()`",
    ),
    Library(
        "CuPy",
        "cupy",
        "cupy",
        zeros=lambda cupy, shape, dtype: cupy.zeros(shape, dtype),
        address=lambda array: int(array.data.ptr),
        take=lambda cupy, tensor: cupy.from_dlpack(tensor),
        note="takes device memory only",
    ),
    Library(
        "TVM-FFI",
        "apache-tvm-ffi",
        "tvm_ffi",
        zeros=lambda tvm_ffi, shape, dtype: tvm_ffi.from_dlpack(dlpackgo.zeros(tuple(shape), dtype=dtype)),
        address=lambda array: int(array.data_ptr()),
        take=lambda tvm_ffi, tensor: tvm_ffi.from_dlpack(tensor),
        way_in="C API",
        note="the C exchange API on both sides",
    ),
    Library(
        "PyArrow",
        "pyarrow",
        "pyarrow",
        zeros=lambda pyarrow, shape, dtype: pyarrow.Tensor.from_numpy(_numpy_zeros(shape, dtype)),
        address=lambda array: numpy_address(array.to_numpy()),
        take=lambda pyarrow, tensor: pyarrow.Tensor.from_dlpack(tensor),
        note="`Tensor`; an `Array` has one axis and no nulls",
    ),
    Library(
        "array-api-strict",
        "array-api-strict",
        "array_api_strict",
        zeros=lambda xp, shape, dtype: xp.zeros(tuple(shape), dtype=getattr(xp, dtype)),
        address=lambda array: int(array._array.ctypes.data),  # no public way leads to it on CPython 3.11
        take=lambda xp, tensor: xp.from_dlpack(tensor),
    ),
    Library(
        "ml_dtypes",
        "ml_dtypes",
        "ml_dtypes",
        zeros=lambda ml_dtypes, shape, dtype: _numpy_zeros(shape, getattr(ml_dtypes, dtype)),
        address=lambda array: int(array.ctypes.data),
        take=lambda ml_dtypes, tensor: tensor.numpy(),
        give=dlpackgo.asarray,
        way_out="`asarray(x)`",
        way_in="`t.numpy()`",
        dtype="bfloat16",
        note="DLPack of NumPy refuses them at first",
    ),
    Library(
        "Paddle",
        "paddlepaddle",
        "paddle",
        zeros=lambda paddle, shape, dtype: paddle.zeros(list(shape), dtype=dtype),
        address=lambda array: int(array.data_ptr()),
        take=lambda paddle, tensor: paddle.from_dlpack(tensor),
        note="cannot read reversed memory that it took",
    ),
    Library(
        "MLX",
        "mlx",
        "mlx.core",
        zeros=lambda mx, shape, dtype: mx.zeros(shape, mx.bool_ if dtype == "bool" else getattr(mx, dtype)),
        address=buffer_address,
        take=lambda mx, tensor: mx.from_dlpack(tensor),
        note="narrows float64, complex128 as it copies",
    ),
    Library(
        "Warp",
        "warp-lang",
        "warp",
        zeros=lambda warp, shape, dtype: warp.zeros(tuple(shape), dtype=getattr(warp, dtype), device="cpu"),
        address=lambda array: int(array.ptr or 0),
        take=lambda warp, tensor: warp.from_dlpack(tensor),
        note="takes no 0-dimensional tensors",
    ),
    Library(
        "dpctl",
        "dpctl",
        "dpctl.tensor",
        zeros=lambda dpt, shape, dtype: dpt.zeros(tuple(shape), dtype=dtype),
        address=lambda array: int(array._pointer) if hasattr(array, "_pointer") else numpy_address(array),
        take=lambda dpt, tensor: dpt.from_dlpack(tensor),
        prepare=_dpctl_device,
        note="its CPU is the device `oneapi:0`",
    ),
    Library(
        "ONNX Runtime",
        "onnxruntime",
        "onnxruntime",
        zeros=_ort_zeros,
        address=lambda value: int(value.data_ptr()),
        take=lambda ort, tensor: ort.OrtValue.from_dlpack(tensor),
        note="keep the `OrtValue` while it is shared",
    ),
    Library(
        "nanobind",
        "nanobind",
        "nanobind",
        zeros=_no_arrays,
        address=lambda array: 0,
        take=None,
        note="arrays of extensions, `nb::ndarray`",
    ),
    Library(
        "tinygrad",
        "tinygrad",
        "tinygrad",
        zeros=lambda tinygrad, shape, dtype: tinygrad.Tensor(_numpy_zeros(shape, dtype), device="NPY").realize(),
        address=lambda array: buffer_address(array.data()),
        take=None,
        give=lambda array: dlpackgo.asarray(array.data()),
        way_out="`asarray(x.data())`",
        note="no DLPack; `data()` makes a copy",
    ),
)

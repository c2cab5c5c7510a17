"""Every library under one set of names: how it makes, reads, locates and takes an array."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dlpackgo


def buffer_address(array: Any) -> int:
    """Where the memory of an object with the buffer protocol lies."""
    return int(np.frombuffer(memoryview(array).cast("B"), np.uint8).ctypes.data)


def same_memory(array: Any) -> int:
    """Where the memory lies, for libraries that tell it through NumPy."""
    return int(np.asarray(array).ctypes.data)


@dataclass(frozen=True)
class Adapter:
    """One library. The functions take its module first, which is imported where a test runs."""

    name: str
    module_name: str
    make: Callable[[Any, Any], Any]  # an array with the values of a NumPy array
    zeros: Callable[[Any, str], Any]  # three zeros of a dtype
    address: Callable[[Any], int]
    take: Callable[[Any, Any], Any] | None  # None: it has no function that takes a tensor
    values: Callable[[Any], Any] = np.asarray  # as something that NumPy compares
    prepare: Callable[[], None] = field(default=lambda: None)

    @property
    def module(self) -> Any:
        """The library; skips the test in words where it cannot be had."""
        if importlib.util.find_spec(self.module_name.partition(".")[0]) is None:
            pytest.skip(f"{self.name} is not installed; nox -s frameworks installs it")
        self.prepare()
        return importlib.import_module(self.module_name)


def _jax_with_64_bits() -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    importlib.import_module("jax").config.update("jax_enable_x64", True)


def _paddle_alone() -> None:
    if "tensorflow" in sys.modules:
        pytest.skip("Paddle crashes in a process that has TensorFlow: run its test file by itself")


def _quiet_tensorflow() -> None:
    if "paddle" in sys.modules:
        pytest.skip("TensorFlow crashes in a process that has Paddle: run its test file by itself")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def _dpctl_device() -> None:
    """Intel's OpenCL runtime comes as a wheel, which nothing looks into by itself."""
    drivers = sorted(Path(sys.prefix, "lib").glob("libintelocl.so"))
    if drivers:
        os.environ.setdefault("OCL_ICD_FILENAMES", str(drivers[0]))
    if not importlib.import_module("dpctl").get_devices():
        pytest.skip("dpctl finds no device; pip install intel-opencl-rt gives it the CPU")


def _ort_value(ort: Any, values: Any) -> Any:
    """A value that owns its memory, which one made from a NumPy array does not."""
    value = ort.OrtValue.ortvalue_from_shape_and_type(values.shape, values.dtype)
    value.update_inplace(values)
    return value


def _named(module: Any, dtype: str, **other_names: str) -> Any:
    return getattr(module, other_names.get(dtype, dtype))


ADAPTERS = (
    Adapter(
        "NumPy",
        "numpy",
        make=lambda numpy, values: values,
        zeros=lambda numpy, dtype: numpy.zeros(3, dtype),
        address=lambda array: int(array.ctypes.data),
        take=lambda numpy, tensor: numpy.from_dlpack(tensor),
    ),
    Adapter(
        "PyTorch",
        "torch",
        make=lambda torch, values: torch.from_numpy(values),
        zeros=lambda torch, dtype: torch.zeros(3, dtype=getattr(torch, dtype)),
        address=lambda array: int(array.data_ptr()),
        take=lambda torch, tensor: torch.from_dlpack(tensor),
    ),
    Adapter(
        "JAX",
        "jax.numpy",
        make=lambda jnp, values: jnp.asarray(values),
        zeros=lambda jnp, dtype: jnp.zeros(3, dtype),
        address=lambda array: int(array.unsafe_buffer_pointer()),
        take=lambda jnp, tensor: jnp.from_dlpack(tensor),
        prepare=_jax_with_64_bits,
    ),
    Adapter(
        "TensorFlow",
        "tensorflow",
        make=lambda tf, values: tf.constant(values),
        zeros=lambda tf, dtype: tf.zeros(3, getattr(tf, dtype)),
        address=lambda array: buffer_address(array) if array.dtype != "bfloat16" else same_memory(array),
        take=lambda tf, tensor: tf.experimental.dlpack.from_dlpack(tensor.__dlpack__()),
        prepare=_quiet_tensorflow,
    ),
    Adapter(
        "TVM-FFI",
        "tvm_ffi",
        make=lambda tvm_ffi, values: tvm_ffi.from_dlpack(values),
        zeros=lambda tvm_ffi, dtype: tvm_ffi.from_dlpack(dlpackgo.zeros(3, dtype=dtype)),
        address=lambda array: int(array.data_ptr()),
        take=lambda tvm_ffi, tensor: tvm_ffi.from_dlpack(tensor),
        values=np.from_dlpack,
    ),
    Adapter(
        "PyArrow",
        "pyarrow",
        make=lambda pyarrow, values: pyarrow.Tensor.from_numpy(values),
        zeros=lambda pyarrow, dtype: pyarrow.Tensor.from_numpy(np.zeros(3, dtype)),
        address=lambda array: same_memory(array.to_numpy()),
        take=lambda pyarrow, tensor: pyarrow.Tensor.from_dlpack(tensor),
        values=lambda array: array.to_numpy(),
    ),
    Adapter(
        "array-api-strict",
        "array_api_strict",
        make=lambda xp, values: xp.asarray(values),
        zeros=lambda xp, dtype: xp.zeros(3, dtype=getattr(xp, dtype)),
        address=same_memory,
        take=lambda xp, tensor: xp.from_dlpack(tensor),
    ),
    Adapter(
        "ml_dtypes",
        "ml_dtypes",
        make=lambda ml_dtypes, values: values.astype(ml_dtypes.bfloat16),
        zeros=lambda ml_dtypes, dtype: np.zeros(3, getattr(ml_dtypes, dtype)),
        address=lambda array: int(array.ctypes.data),
        take=lambda ml_dtypes, tensor: tensor.numpy(),
    ),
    Adapter(
        "Paddle",
        "paddle",
        make=lambda paddle, values: paddle.to_tensor(values),
        zeros=lambda paddle, dtype: paddle.zeros([3], dtype=dtype),
        address=lambda array: int(array.data_ptr()),
        take=lambda paddle, tensor: paddle.from_dlpack(tensor),
        prepare=_paddle_alone,
    ),
    Adapter(
        "MLX",
        "mlx.core",
        make=lambda mx, values: mx.array(values),
        zeros=lambda mx, dtype: mx.zeros(3, _named(mx, dtype, bool="bool_")),
        address=lambda array: dlpackgo.from_dlpack(array).data_ptr,  # it tells its address in no other way
        take=lambda mx, tensor: mx.from_dlpack(tensor),
    ),
    Adapter(
        "Warp",
        "warp",
        make=lambda warp, values: warp.array(values, device="cpu"),
        zeros=lambda warp, dtype: warp.zeros(3, dtype=getattr(warp, dtype), device="cpu"),
        address=lambda array: int(array.ptr or 0),
        take=lambda warp, tensor: warp.from_dlpack(tensor),
        values=lambda array: array.numpy(),
    ),
    Adapter(
        "dpctl",
        "dpctl.tensor",
        make=lambda dpt, values: dpt.asarray(values),
        zeros=lambda dpt, dtype: dpt.zeros(3, dtype=dtype),
        address=lambda array: int(array._pointer) if hasattr(array, "_pointer") else same_memory(array),
        take=lambda dpt, tensor: dpt.from_dlpack(tensor),
        prepare=_dpctl_device,
    ),
    Adapter(
        "ONNX Runtime",
        "onnxruntime",
        make=_ort_value,
        zeros=lambda ort, dtype: _ort_value(ort, np.zeros(3, dtype)),
        address=lambda value: int(value.data_ptr()),
        take=lambda ort, tensor: ort.OrtValue.from_dlpack(tensor),
        values=lambda value: value.numpy(),
    ),
    Adapter(
        "tinygrad",
        "tinygrad",
        make=lambda tinygrad, values: tinygrad.Tensor(values, device="NPY").realize(),
        zeros=lambda tinygrad, dtype: tinygrad.Tensor(np.zeros(3, dtype), device="NPY").realize(),
        address=lambda array: buffer_address(array.data()),
        take=None,
        values=lambda array: array.numpy(),
    ),
)

BY_NAME = {adapter.name: adapter for adapter in ADAPTERS}

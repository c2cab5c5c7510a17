"""Every library under one set of names: dlpackgo's own, and what the tests need besides."""

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nanobind_extension
import numpy as np
import pytest

from dlpackgo._libraries import LIBRARIES, Library


@dataclass(frozen=True)
class Adapter:
    """One library: how it makes an array with the values of a NumPy array, and how its values are read."""

    library: Library
    make: Callable[[Any, Any], Any]
    values: Callable[[Any], Any] = np.asarray  # as something that NumPy compares
    alone: Callable[[], None] = lambda: None

    @property
    def module(self) -> Any:
        """The library; skips the test in words where it cannot be had."""
        if not self.library.installed:
            pytest.skip(f"{self.library.name} is not installed; nox -s frameworks installs it")
        self.alone()
        return self.library.load()

    def zeros(self, module: Any, dtype: str) -> Any:
        """Three zeros of a dtype."""
        return self.library.zeros(module, (3,), dtype)

    @property
    def address(self) -> Callable[[Any], int]:
        return self.library.address

    @property
    def take(self) -> Callable[[Any, Any], Any] | None:
        return self.library.take


def _jax_on_the_cpu() -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


def _paddle_alone() -> None:
    if "tensorflow" in sys.modules:
        pytest.skip("Paddle crashes in a process that has TensorFlow: run its test file by itself")


def _tensorflow_alone() -> None:
    if "paddle" in sys.modules:
        pytest.skip("TensorFlow crashes in a process that has Paddle: run its test file by itself")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def _dpctl_with_a_device() -> None:
    library("dpctl").prepare()
    if not importlib.import_module("dpctl").get_devices():
        pytest.skip("dpctl finds no device; pip install intel-opencl-rt gives it the CPU")


def _ort_value(ort: Any, values: Any) -> Any:
    """A value that owns its memory, which one made from a NumPy array does not."""
    value = ort.OrtValue.ortvalue_from_shape_and_type(values.shape, values.dtype)
    value.update_inplace(values)
    return value


def library(name: str) -> Library:
    """A row of dlpackgo's table."""
    return next(library for library in LIBRARIES if library.name == name)


ADAPTERS = (
    Adapter(library("NumPy"), make=lambda numpy, values: values),
    Adapter(library("PyTorch"), make=lambda torch, values: torch.from_numpy(values)),
    Adapter(library("JAX"), make=lambda jnp, values: jnp.asarray(values), alone=_jax_on_the_cpu),
    Adapter(library("TensorFlow"), make=lambda tf, values: tf.constant(values), alone=_tensorflow_alone),
    Adapter(library("TVM-FFI"), make=lambda tvm_ffi, values: tvm_ffi.from_dlpack(values), values=np.from_dlpack),
    Adapter(
        library("PyArrow"),
        make=lambda pyarrow, values: pyarrow.Tensor.from_numpy(values),
        values=lambda array: array.to_numpy(),
    ),
    Adapter(library("array-api-strict"), make=lambda xp, values: xp.asarray(values)),
    Adapter(library("ml_dtypes"), make=lambda ml_dtypes, values: values.astype(ml_dtypes.bfloat16)),
    Adapter(library("Paddle"), make=lambda paddle, values: paddle.to_tensor(values), alone=_paddle_alone),
    Adapter(library("MLX"), make=lambda mx, values: mx.array(values)),
    Adapter(
        library("Warp"),
        make=lambda warp, values: warp.array(values, device="cpu"),
        values=lambda array: array.numpy(),
    ),
    Adapter(library("dpctl"), make=lambda dpt, values: dpt.asarray(values), alone=_dpctl_with_a_device),
    Adapter(library("ONNX Runtime"), make=_ort_value, values=lambda value: value.numpy()),
    Adapter(nanobind_extension.LIBRARY, make=lambda arrays, values: arrays.array_of(values), values=np.from_dlpack),
    Adapter(
        library("tinygrad"),
        make=lambda tinygrad, values: tinygrad.Tensor(values, device="NPY").realize(),
        values=lambda array: array.numpy(),
    ),
)

BY_NAME = {adapter.library.name: adapter for adapter in ADAPTERS}

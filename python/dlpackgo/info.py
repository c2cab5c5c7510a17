"""Versions, and which of the installed libraries exchange tensors with dlpackgo, tried live in both directions.

Each library is tried in a process of its own: one that crashes, hangs or takes a minute to start is one line here.
"""

import importlib
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import dlpackgo

TIME_LIMIT = 180  # seconds for one library; TensorFlow's first import can take one minute on a slow disk
VALUES = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@dataclass(frozen=True)
class Library:
    """How one library makes an array of VALUES, takes a tensor, and tells where an array of its own lies."""

    distribution: str
    module: str
    make: Callable[[Any], Any]
    address: Callable[[Any, Any], int]
    take: Callable[[Any, Any], Any] | None  # None: it has no function that takes a tensor
    dtype: str = "float32"


def _buffer_address(array: Any) -> int:
    import numpy

    return int(numpy.frombuffer(memoryview(array).cast("B"), dtype="uint8").ctypes.data)


def _numpy_arange(dtype: Any) -> Any:
    import numpy

    return numpy.arange(6).astype(dtype)


LIBRARIES = (
    Library(
        "numpy",
        "numpy",
        make=lambda numpy: numpy.arange(6, dtype="float32"),
        address=lambda numpy, array: array.ctypes.data,
        take=lambda numpy, tensor: numpy.from_dlpack(tensor),
    ),
    Library(
        "torch",
        "torch",
        make=lambda torch: torch.arange(6.0),
        address=lambda torch, array: array.data_ptr(),
        take=lambda torch, tensor: torch.from_dlpack(tensor),
    ),
    Library(
        "jax",
        "jax.numpy",
        make=lambda jnp: jnp.arange(6.0, dtype="float32"),
        address=lambda jnp, array: array.unsafe_buffer_pointer(),
        take=lambda jnp, tensor: jnp.from_dlpack(tensor),
    ),
    Library(
        "cupy",
        "cupy",
        make=lambda cupy: cupy.arange(6, dtype="float32"),
        address=lambda cupy, array: array.data.ptr,
        take=lambda cupy, tensor: cupy.from_dlpack(tensor),
    ),
    Library(
        "tensorflow",
        "tensorflow",
        make=lambda tf: tf.range(6.0),
        address=lambda tf, array: _buffer_address(array),
        take=lambda tf, tensor: tf.experimental.dlpack.from_dlpack(tensor.__dlpack__()),
    ),
    Library(
        "apache-tvm-ffi",
        "tvm_ffi",
        make=lambda tvm_ffi: tvm_ffi.from_dlpack(_numpy_arange("float32")),
        address=lambda tvm_ffi, array: array.data_ptr(),
        take=lambda tvm_ffi, tensor: tvm_ffi.from_dlpack(tensor),
    ),
    Library(
        "pyarrow",
        "pyarrow",
        make=lambda pyarrow: pyarrow.Tensor.from_numpy(_numpy_arange("float32")),
        address=lambda pyarrow, array: array.to_numpy().ctypes.data,
        take=lambda pyarrow, tensor: pyarrow.Tensor.from_dlpack(tensor),
    ),
    Library(
        "array-api-strict",
        "array_api_strict",
        make=lambda xp: xp.arange(6, dtype=xp.float32),
        address=lambda xp, array: array._array.ctypes.data,  # no public way leads to it on CPython 3.11
        take=lambda xp, tensor: xp.from_dlpack(tensor),
    ),
    Library(
        "ml_dtypes",
        "ml_dtypes",
        make=lambda ml_dtypes: _numpy_arange(ml_dtypes.bfloat16),
        address=lambda ml_dtypes, array: array.ctypes.data,
        take=lambda ml_dtypes, tensor: tensor.numpy(),
        dtype="bfloat16",
    ),
    Library(
        "paddlepaddle",
        "paddle",
        make=lambda paddle: paddle.arange(6, dtype="float32"),
        address=lambda paddle, array: array.data_ptr(),
        take=lambda paddle, tensor: paddle.from_dlpack(tensor),
    ),
    Library(
        "mlx",
        "mlx.core",
        make=lambda mlx: mlx.arange(6, dtype=mlx.float32),
        address=lambda mlx, array: _buffer_address(array),
        take=lambda mlx, tensor: mlx.array(tensor),
    ),
    Library(
        "warp-lang",
        "warp",
        make=lambda warp: warp.array(VALUES, dtype=warp.float32, device="cpu"),
        address=lambda warp, array: array.ptr,
        take=lambda warp, tensor: warp.from_dlpack(tensor),
    ),
    Library(
        "dpctl",
        "dpctl.tensor",
        make=lambda dpt: dpt.arange(6, dtype="float32"),
        address=lambda dpt, array: array._pointer,
        take=lambda dpt, tensor: dpt.from_dlpack(tensor),
    ),
    Library(
        "onnxruntime",
        "onnxruntime",
        make=lambda ort: ort.OrtValue.ortvalue_from_numpy(_numpy_arange("float32")),
        address=lambda ort, value: value.data_ptr(),
        take=lambda ort, tensor: ort.OrtValue.from_dlpack(tensor),
    ),
    Library(
        "tinygrad",
        "tinygrad",
        make=lambda tinygrad: tinygrad.Tensor(_numpy_arange("float32"), device="NPY").realize(),
        address=lambda tinygrad, array: _buffer_address(array.data()),
        take=None,
    ),
)


def installed() -> list[Library]:
    """The libraries of the table that this Python can import."""
    return [library for library in LIBRARIES if find_spec(library.module.partition(".")[0])]


def probe(distribution: str) -> int:
    """Try one library in this process and print, as JSON, what came of each direction."""
    library = next(library for library in LIBRARIES if library.distribution == distribution)
    try:
        module = importlib.import_module(library.module)
        array = library.make(module)
    except Exception as error:
        answers = _both(f"its own array: {_reason(error)}")
    else:
        answers = [_attempt(exchange, library, module, array) for exchange in (_give, _take)]
    print(json.dumps(answers), flush=True)
    return 0


def _give(library: Library, module: Any, array: Any) -> str:
    """Make the library's array a Tensor."""
    tensor = dlpackgo.from_dlpack(array)
    return _verdict(library.address(module, array), tensor.data_ptr)


def _take(library: Library, module: Any, array: Any) -> str:
    """Make a tensor an array of the library: memory of Go's, or on another device the library's own again."""
    if library.take is None:
        return "no way in"
    tensor = dlpackgo.zeros(6, dtype=library.dtype)
    device = array.__dlpack_device__() if hasattr(array, "__dlpack_device__") else tensor.__dlpack_device__()
    if device != tensor.__dlpack_device__():
        tensor = dlpackgo.from_dlpack(array)
    taken = library.take(module, tensor)
    return _verdict(tensor.data_ptr, library.address(module, taken))


def _attempt(exchange: Callable[[Library, Any, Any], str], *operands: Any) -> str:
    try:
        return exchange(*operands)
    except Exception as error:
        return _reason(error)


def _verdict(given: int, taken: int) -> str:
    return "zero-copy" if given == taken else "copied"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _both(answer: str) -> list[str]:
    return [answer, answer]


def _ask(library: Library) -> list[str]:
    """Run probe in a process of its own."""
    command = [sys.executable, "-m", "dlpackgo", "info", "--probe", library.distribution]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
        answers: list[str] = json.loads(done.stdout.strip().rpartition("\n")[2])
    except subprocess.TimeoutExpired:
        return _both(f"no answer in {TIME_LIMIT} s")
    except ValueError:
        return _both(f"crashed with status {done.returncode}")
    return answers


def _version(library: Library) -> str:
    try:
        return version(library.distribution)
    except PackageNotFoundError:
        return "?"  # CuPy's wheels, for one, carry the CUDA version in their names


def report() -> int:
    """Print versions and the table of what is installed; reasons for refusals stand below it."""
    print(f"dlpackgo {dlpackgo.__version__}, DLPack 1.3")
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}\n")
    layout = "{:18} {:16} {:14} {}"
    print(layout.format("library", "version", "to dlpackgo", "from dlpackgo"))
    reasons = []
    libraries = installed()
    with ThreadPoolExecutor(max_workers=2) as pool:
        for library, answers in zip(libraries, pool.map(_ask, libraries), strict=True):
            cells = [answer if answer in ("zero-copy", "copied", "no way in") else "refused" for answer in answers]
            print(layout.format(library.distribution, _version(library), *cells), flush=True)
            reasons += [
                f"{library.distribution}, {direction}: {answer}"
                for direction, cell, answer in zip(("to", "from"), cells, answers, strict=True)
                if cell == "refused"
            ]
    absent = [library.distribution for library in LIBRARIES if library not in libraries]
    print(f"\nnot installed: {', '.join(absent) or 'none'}")
    for reason in reasons:
        print(reason)
    return 0

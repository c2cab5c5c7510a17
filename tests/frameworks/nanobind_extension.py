"""An extension in C++ that takes and returns nb::ndarray, built where it is asked for: nanobind has no arrays of its own."""

import importlib.util
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import dlpackgo
from dlpackgo._libraries import LIBRARIES, Library

SOURCE = """
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
namespace nb = nanobind;

template <typename... Framework> auto fresh() {
    float *data = new float[3]{1, 2, 3};
    nb::capsule owner(data, [](void *p) noexcept { delete[] (float *) p; });
    return nb::ndarray<Framework..., float, nb::ndim<1>, nb::device::cpu>(data, {3}, owner);
}

NB_MODULE(nanobind_arrays, m) {
    m.def("address", [](nb::ndarray<nb::ro> a) { return (uintptr_t) a.data(); });
    m.def("kind", [](nb::ndarray<> a) { return nb::make_tuple(a.ndim(), a.device_type(), a.dtype().code, a.dtype().bits); });
    m.def("stride", [](nb::ndarray<> a, size_t axis) { return a.stride(axis); });
    m.def("fill", [](nb::ndarray<float, nb::ndim<1>, nb::device::cpu> a, float value) {
        for (size_t i = 0; i < a.shape(0); i++) a(i) = value;
    });
    m.def("total", [](nb::ndarray<const float, nb::ndim<1>, nb::device::cpu> a) {
        float sum = 0;
        for (size_t i = 0; i < a.shape(0); i++) sum += a(i);
        return sum;
    });
    m.def("same", [](nb::ndarray<> a) { return a; });
    m.def("array_of", [](nb::ndarray<> a) { return nb::ndarray<nb::array_api>(a); });
    m.def("array", fresh<nb::array_api>);
    m.def("capsule", fresh<>);
}
"""


@cache
def build() -> Any:
    """The extension module."""
    nanobind = importlib.import_module("nanobind")
    folder = Path(tempfile.mkdtemp(prefix="nanobind"))
    root = Path(nanobind.include_dir()).parent
    source, target = folder / "arrays.cpp", folder / f"nanobind_arrays{sysconfig.get_config_var('EXT_SUFFIX')}"
    source.write_text(SOURCE)
    includes = [sysconfig.get_path("include"), root / "include", root / "ext/robin_map/include"]
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-DNDEBUG", *(f"-I{i}" for i in includes)]
    subprocess.run(["g++", *flags, str(source), str(root / "src/nb_combined.cpp"), "-o", str(target)], check=True)
    spec = importlib.util.spec_from_file_location("nanobind_arrays", target)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class _Extension(Library):
    def load(self) -> Any:
        return build()


_row = next(library for library in LIBRARIES if library.name == "nanobind")
LIBRARY = _Extension(
    _row.name,
    _row.distribution,
    _row.module,
    zeros=lambda arrays, shape, dtype: arrays.array_of(dlpackgo.zeros(tuple(shape), dtype=dtype)),
    address=lambda array: int(build().address(array)),
    take=lambda arrays, tensor: arrays.array_of(tensor),
    note=_row.note,
)

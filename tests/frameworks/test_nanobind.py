"""nanobind: an extension in C++, built here, that takes and returns arrays."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dlpackgo

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
    m.def("address", [](nb::ndarray<> a) { return (uintptr_t) a.data(); });
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
    m.def("array", fresh<nb::array_api>);
    m.def("capsule", fresh<>);
}
"""


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    nanobind = pytest.importorskip("nanobind", reason="nanobind is not installed; nox -s frameworks installs it")
    folder: Path = tmp_path_factory.mktemp("nanobind")
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


def test_a_function_sees_our_memory(arrays: Any) -> None:
    tensor = dlpackgo.zeros((2, 3), dtype="float32")
    assert arrays.address(tensor) == tensor.data_ptr
    assert arrays.kind(tensor) == (2, 1, 2, 32)
    assert [arrays.stride(tensor.T, axis) for axis in (0, 1)] == [1, 3]


def test_a_function_writes_into_our_memory(arrays: Any) -> None:
    tensor = dlpackgo.zeros(6, dtype="float32")
    arrays.fill(tensor[::2], 5)
    assert tensor.tolist() == [5, 0, 5, 0, 5, 0]


def test_read_only_memory_goes_to_const_functions_only(arrays: Any) -> None:
    array = np.ones(4, np.float32)
    array.flags.writeable = False
    tensor = dlpackgo.from_dlpack(array)
    assert arrays.total(tensor) == 4
    with pytest.raises(TypeError):
        arrays.fill(tensor, 5)


def test_what_a_function_returns_is_shared(arrays: Any) -> None:
    tensor = dlpackgo.from_dlpack(arrays.array())
    assert (tensor.tolist(), tensor.readonly) == ([1, 2, 3], False)
    assert arrays.address(tensor) == tensor.data_ptr


def test_a_bare_capsule_is_legacy_and_so_read_only(arrays: Any) -> None:
    tensor = dlpackgo.from_dlpack(arrays.capsule())
    assert (tensor.tolist(), tensor.readonly) == ([1, 2, 3], True)


def test_a_tensor_that_passes_through_keeps_its_memory(arrays: Any) -> None:
    tensor = dlpackgo.ones((2, 2))
    assert dlpackgo.from_dlpack(arrays.same(tensor)).data_ptr == tensor.data_ptr

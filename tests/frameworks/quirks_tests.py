"""Every cell of a row of the table of quirks, live: what a library gives, what it takes, what it refuses and how.

Each library has a test file with a subclass of QuirksTests, and runs in a process of its own where several are
installed: some of them do not live together.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import quirks
from adapters import BY_NAME, Adapter
from harness.abi import CPU, READ_ONLY
from harness.capsules import peek
from harness.producers import Producer

import dlpackgo

OLD_NUMPY = np.lib.NumpyVersion(np.__version__) < "2.1.0"
TABLE = quirks.read()


def outcome(action: Callable[[], Any], address: int | None = None) -> str:
    """What came of it, in the words of the table. Without an address the action tells its own verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = action()
        except Exception as error:
            return f"refused: {type(error).__name__}"
    if address is None:
        return str(result)
    return "shared" if result == address else "copied"


VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)


def aligned(*shape: int) -> dlpackgo.Tensor:
    tensor = dlpackgo.zeros(shape, dtype="float32")
    assert tensor.data_ptr % 64 == 0
    return tensor


def produced(**fields: Any) -> dlpackgo.Tensor:
    return dlpackgo.from_dlpack(Producer((4, 6), **fields))


LAYOUTS: dict[str, Callable[[], dlpackgo.Tensor]] = {
    "whole": lambda: aligned(4, 6),
    "part": lambda: aligned(100)[16:40],
    "unaligned": lambda: aligned(100)[1:],
    "transposed": lambda: aligned(4, 6).T,
    "every other": lambda: aligned(4, 6)[::2, ::2],
    "reversed": lambda: aligned(4, 6)[::-1],
    "repeated": lambda: produced(strides=(0, 1)),
    "scalar": aligned,
    "empty": lambda: aligned(0, 3),
    "read-only": lambda: produced(flags=READ_ONLY),
}


class QuirksTests:
    """The tests of one library; a subclass names it."""

    name: str

    @pytest.fixture
    def row(self) -> quirks.Quirks:
        return TABLE["NumPy 1.26" if self.name == "NumPy" and OLD_NUMPY else self.name]

    @pytest.fixture
    def adapter(self) -> Adapter:
        return BY_NAME[self.name]

    @pytest.fixture
    def library(self, adapter: Adapter) -> Any:
        return adapter.module

    def test_what_it_gives_is_shared(self, row: quirks.Quirks, adapter: Adapter, library: Any) -> None:
        array = adapter.make(library, VALUES.copy())
        if row.gives.startswith("refused"):
            assert outcome(lambda: dlpackgo.from_dlpack(array)) == row.gives
            return
        tensor = dlpackgo.from_dlpack(array)
        assert tensor.data_ptr == adapter.address(array)
        assert (tensor.shape, tensor.dtype.name) == ((4, 6), "float32")
        assert row.access == ("read-only" if tensor.readonly else "writable")
        if tensor.device.type == CPU:
            assert np.asarray(tensor).tolist() == VALUES.tolist()
            assert dlpackgo.stats.mean(array) == VALUES.mean()

    def test_its_capsule_is_of_the_kind_that_the_table_says(
        self, row: quirks.Quirks, adapter: Adapter, library: Any
    ) -> None:
        array = adapter.make(library, VALUES.copy())
        if row.gives.startswith("refused"):
            pytest.skip("it gives none")
        try:
            kind = "legacy" if peek(array.__dlpack__(max_version=(1, 3))).version is None else "versioned"
        except TypeError:
            kind = "legacy, knows no max_version"
        assert kind == row.gives

    @pytest.mark.parametrize("keywords", [{"copy": True}, {"device": "cpu"}, {"copy": False}], ids=str)
    def test_copies_and_devices_come_out_as_the_table_says(
        self, row: quirks.Quirks, adapter: Adapter, library: Any, keywords: dict[str, Any]
    ) -> None:
        if row.gives.startswith("refused"):
            pytest.skip("it gives nothing")
        array = adapter.make(library, VALUES.copy())
        expected = row.copy if keywords == {"copy": True} else row.to_cpu if "device" in keywords else "shared"
        assert outcome(lambda: dlpackgo.from_dlpack(array, **keywords).data_ptr, adapter.address(array)) == expected

    @pytest.mark.parametrize("dtype", quirks.DTYPES)
    def test_a_dtype_is_given(self, row: quirks.Quirks, adapter: Adapter, library: Any, dtype: str) -> None:
        if dtype not in quirks.expand(row.given):
            pytest.skip("the table says that it does not give it")
        array = adapter.zeros(library, dtype)
        tensor = dlpackgo.from_dlpack(array)
        assert (tensor.dtype.name, tensor.data_ptr) == (dtype, adapter.address(array))

    @pytest.mark.parametrize("dtype", quirks.DTYPES)
    def test_a_dtype_is_taken_or_refused(self, row: quirks.Quirks, adapter: Adapter, library: Any, dtype: str) -> None:
        take = adapter.take
        if take is None:
            pytest.skip("it takes no tensors")
        tensor = dlpackgo.zeros(3, dtype=dtype)
        came = outcome(lambda: adapter.address(take(library, tensor)), tensor.data_ptr)
        if dtype in quirks.expand(row.taken):
            assert came == row.takes_layout("whole")
        else:
            assert came.startswith("refused")

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_a_layout_is_taken_as_the_table_says(
        self, row: quirks.Quirks, adapter: Adapter, library: Any, layout: str
    ) -> None:
        take = adapter.take
        if take is None:
            pytest.skip("it takes no tensors")
        tensor = LAYOUTS[layout]()
        if tensor.size == 0:
            assert 0 in take(library, tensor).shape if row.name != "ONNX Runtime" else take(library, tensor)
            return
        assert outcome(lambda: adapter.address(take(library, tensor)), tensor.data_ptr) == row.takes_layout(layout)

    def test_either_side_keeps_the_memory_alive(self, row: quirks.Quirks, adapter: Adapter, library: Any) -> None:
        if not row.gives.startswith("refused"):
            tensor = dlpackgo.from_dlpack(adapter.make(library, np.full(1000, 5, np.float32)))
            churn: list[Any] = [np.full(1000, 7, np.float32) for _ in range(100)]
            if tensor.device.type == CPU:
                assert set(tensor.tolist()) == {5}
            del churn
        if adapter.take is not None:
            array = adapter.take(library, dlpackgo.ones(1000, dtype="float32"))
            churn = [dlpackgo.full(1000, 7, dtype="float32") for _ in range(100)]
            assert set(np.asarray(adapter.values(array)).tolist()) == {1}

"""NumPy's own tests of DLPack, from the installed NumPy, with a Tensor in the middle and a Tensor as the producer."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dlpackgo

theirs: Any = pytest.importorskip("numpy._core.tests.test_dlpack", reason="this NumPy comes without tests, or is 1.x")

ABOUT_NUMPY_ALONE = "calls __dlpack__ of an array, and so never meets a Tensor"

# Left out of the tests with a Tensor in the middle.
NOT_IN_THE_MIDDLE = {
    "test_dunder_dlpack_refcount": ABOUT_NUMPY_ALONE,
    "test_dunder_dlpack_stream": ABOUT_NUMPY_ALONE,
    "test_dunder_dlpack_copy": ABOUT_NUMPY_ALONE,
    "test_dlpack_destructor_exception": ABOUT_NUMPY_ALONE,
}

# Those that make nothing but an arange, for which a Tensor can stand in, and left out of them:
AS_PRODUCER = (
    "test_dunder_dlpack_refcount",
    "test_dunder_dlpack_stream",
    "test_dunder_dlpack_copy",
    "test_dlpack_device",
    "test_dlpack_destructor_exception",
    "test_copy",
    "test_device",
)
NOT_AS_PRODUCER = {
    "test_dunder_dlpack_refcount": "an export holds the memory's owner, and no reference to the Tensor",
    "test_dunder_dlpack_stream": "wants NumPy's name in the message; tests/protocol has ours",
    "test_dunder_dlpack_copy": "wants a ValueError for an array as copy=; a wrong kind of argument is a TypeError here",
}


class TestWithATensorInTheMiddle(theirs.TestDLPack):  # type: ignore[misc]
    """np.from_dlpack(x) gives an array on a Tensor on x."""

    @pytest.fixture(autouse=True)
    def through_a_tensor(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        name = request.node.originalname
        if name in NOT_IN_THE_MIDDLE:
            pytest.skip(NOT_IN_THE_MIDDLE[name])
        from_dlpack = np.from_dlpack

        def through(x: Any, /, **keywords: Any) -> Any:
            return from_dlpack(dlpackgo.from_dlpack(x, **keywords))

        monkeypatch.setattr(np, "from_dlpack", through)


class TestWithATensorAsProducer(theirs.TestDLPack):  # type: ignore[misc]
    """np.arange gives a Tensor."""

    @pytest.fixture(autouse=True)
    def tensors_for_arrays(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        name = request.node.originalname
        if name not in AS_PRODUCER:
            pytest.skip("makes arrays in more ways than a Tensor can be made")
        if name in NOT_AS_PRODUCER:
            pytest.skip(NOT_AS_PRODUCER[name])
        namespace = ModuleType("numpy")
        namespace.__dict__.update(vars(np), arange=dlpackgo.arange)
        monkeypatch.setattr(theirs, "np", namespace)


def test_the_lists_name_tests_that_exist() -> None:
    for name in {*NOT_IN_THE_MIDDLE, *AS_PRODUCER, *NOT_AS_PRODUCER}:
        assert hasattr(theirs.TestDLPack, name), name

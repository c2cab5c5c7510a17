"""ONNX Runtime: values that a model reads and writes in place."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "ONNX Runtime"


@pytest.fixture
def ort() -> Any:
    return BY_NAME["ONNX Runtime"].module


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """A protocol buffers message, as far as a tiny model needs it: varints and bytes."""
    encoded = b""
    for number, value in fields:
        if isinstance(value, int):
            encoded += bytes([number << 3, value])
        else:
            data = value.encode() if isinstance(value, str) else value
            encoded += bytes([number << 3 | 2, len(data)]) + data
    return encoded


def negate_model() -> bytes:
    """y = -x, with six float32 in each."""
    shape = message((1, message((1, 6))))
    kind = message((1, message((1, 1), (2, shape))))
    node = message((1, "x"), (2, "y"), (4, "Neg"))
    graph = message((1, node), (2, "g"), (11, message((1, "x"), (2, kind))), (12, message((1, "y"), (2, kind))))
    return message((1, 8), (7, graph), (8, message((2, 13))))


def test_a_model_reads_and_writes_our_memory(ort: Any) -> None:
    session = ort.InferenceSession(negate_model(), providers=["CPUExecutionProvider"])
    x, y = dlpackgo.from_dlpack(np.arange(6, dtype=np.float32)), dlpackgo.zeros(6, dtype="float32")
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", ort.OrtValue.from_dlpack(x))
    binding.bind_ortvalue_output("y", ort.OrtValue.from_dlpack(y))
    session.run_with_iobinding(binding)
    assert y.tolist() == [0, -1, -2, -3, -4, -5]
    del binding


def test_a_value_is_shared_as_the_wrapped_object_too(ort: Any) -> None:
    value = ort.OrtValue.ortvalue_from_numpy(np.ones(3, np.float32))
    for producer in (value, value._ortvalue):
        assert dlpackgo.from_dlpack(producer).data_ptr == value.data_ptr()

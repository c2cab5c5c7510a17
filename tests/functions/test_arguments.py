"""What is refused as an argument: the message says which, what it is, and how to get the right one."""

import inspect
import sys
from typing import Any

import numpy as np
import pytest
from harness.producers import Hands, Producer

import dlpackgo
from dlpackgo import fft, linalg, stats

A = np.eye(3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", "float16", "complex64", "complex128"])
def test_a_wrong_dtype_is_a_type_error_that_names_argument_dtype_and_remedy(dtype: str) -> None:
    wrong = np.ones((3, 3), dtype)
    calls: tuple[tuple[Any, tuple[Any, ...], str], ...] = (
        (linalg.matmul, (wrong, A), "a"), (linalg.matmul, (A, wrong), "b"), (linalg.solve, (A, wrong), "b"),
        (linalg.svd, (wrong,), "a"), (linalg.pca, (wrong, 1), "x"), (stats.mean, (wrong,), "x"),
        (fft.rfft, (wrong,), "x"),
    )  # fmt: skip
    for function, arguments, name in calls:
        with pytest.raises(TypeError) as refusal:
            function(*arguments)
        text = str(refusal.value)
        assert f"argument {name}" in text
        assert dtype in text
        assert "float64" in text
        assert function.__name__ in text


def test_the_remedy_is_a_dtype_that_is_accepted() -> None:
    with pytest.raises(TypeError, match=r"x\.astype\('complex128'\)"):
        fft.irfft(np.ones(3))


def test_a_refused_dtype_leaves_no_reference_behind() -> None:
    named = dlpackgo.DType("float64")
    before = sys.getrefcount(named)
    for _ in range(100):
        with pytest.raises(TypeError, match="accepted: .*float64"):
            stats.mean(np.ones(3, "int8"))
    assert sys.getrefcount(named) < before + 50


def test_mixed_dtypes_are_a_type_error_that_names_both() -> None:
    with pytest.raises(TypeError, match="float32") as refusal:
        linalg.matmul(A, A.astype("float32"))
    assert "float64" in str(refusal.value)


def test_rare_dtypes_are_refused() -> None:
    for dtype in ((4, 16, 1), (17, 4, 2), (10, 8, 1), (2, 32, 4)):
        producer = Producer((4,), dtype=dtype)
        with pytest.raises(TypeError, match="argument x"):
            stats.mean(producer)
        assert producer.settle() == 1


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (linalg.matmul, (np.ones((2, 3)), np.ones((2, 3))), ("b", "3")),
        (linalg.matmul, (np.ones((2, 3)), np.ones(2)), ("b", "3")),
        (linalg.matmul, (np.ones(()), np.ones(2)), ("a",)),
        (linalg.matmul, (np.ones((2, 2, 2)), A), ("a",)),
        (linalg.solve, (np.ones((2, 3)), np.ones(2)), ("a",)),
        (linalg.solve, (A, np.ones(2)), ("b", "3")),
        (linalg.svd, (np.ones(3),), ("a",)),
        (linalg.pca, (np.ones(3), 1), ("x",)),
        (linalg.pca, (A, 4), ("3",)),
        (linalg.pca, (A, 0), ("1",)),
        (stats.mean, (A, 2), ("axis",)),
        (stats.mean, (A, -3), ("axis",)),
        (stats.quantile, (A, 1.5), ("q",)),
        (stats.quantile, (A, float("nan")), ("q",)),
        (stats.quantile, (np.ones(0), 0.5), ("x",)),
        (stats.cov, (np.ones((2, 2, 2)),), ("x",)),
        (fft.rfft, (np.ones(()),), ("x",)),
        (fft.rfft, (np.ones(4), 0), ("n",)),
        (fft.rfft, (np.ones(4), -1), ("n",)),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_wrong_shapes_and_values_are_value_errors_that_say_what_is_needed(
    function: Any, arguments: Any, words: Any
) -> None:
    with pytest.raises((ValueError, IndexError)) as refusal:
        function(*arguments)
    text = str(refusal.value)
    for word in words:
        assert word in text
    assert function.__name__ in text


def test_singular_systems_and_numbers_that_are_none_are_value_errors() -> None:
    with pytest.raises(ValueError, match="singular"):
        linalg.solve(np.zeros((3, 3)), np.ones(3))
    with pytest.raises(ValueError, match="singular"):
        linalg.solve(np.ones((3, 3)), np.ones(3))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN|infinit|Inf"):
            linalg.svd(np.full((3, 3), bad))
    with pytest.raises(ValueError, match="symmetric"):
        linalg.eigh(np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("device", [(2, 0), (10, 1), (8, 0)])
def test_a_device_out_of_reach_is_a_buffer_error_that_names_it(device: tuple[int, int]) -> None:
    producer = Producer((4,), dtype=(2, 64, 1), device=device)
    with pytest.raises(BufferError) as refusal:
        stats.mean(producer)
    assert "argument x" in str(refusal.value)
    assert producer.settle() == len(producer.asked)


@pytest.mark.parametrize("thing", [None, 3, "text", object(), {}, int])
def test_an_object_that_is_no_array_is_a_type_error_that_names_it(thing: Any) -> None:
    function: Any = stats.mean
    with pytest.raises(TypeError, match="argument x") as refusal:
        function(thing)
    assert type(thing).__name__ in str(refusal.value)


@pytest.mark.case("P-1")
def test_an_error_of_a_producer_reaches_the_caller() -> None:
    class Meddling(Exception):
        pass

    class Refusing:
        def __dlpack__(self, **_: Any) -> Any:
            raise Meddling("not now")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    with pytest.raises(Meddling, match="not now"):
        stats.mean(Refusing())


@pytest.mark.case("X-1")
@pytest.mark.parametrize(
    "fault", [{"shape": (-1,)}, {"data": None}, {"shape": (2**62, 4)}, {"dtype": (99, 8, 1)}, {"ndim": 99}], ids=str
)
def test_a_broken_descriptor_is_a_buffer_error_and_is_released_once(fault: dict[str, Any]) -> None:
    producer = Producer(**{"shape": (4,), "dtype": (2, 64, 1), **fault})
    with pytest.raises(BufferError, match="argument x"):
        stats.mean(producer)
    assert producer.settle() == 1
    with pytest.raises(BufferError, match="argument x"):
        stats.mean(Hands(7))


def test_producers_are_released_after_the_call() -> None:
    producer = Producer((3,), dtype=(2, 64, 1))
    np.frombuffer(producer.buffer, np.float64)[:3] = [1, 2, 6]
    assert stats.mean(producer) == 3
    assert producer.settle() == 1
    producer = Producer((3,), dtype=(2, 64, 1))
    with pytest.raises((ValueError, IndexError)):
        stats.mean(producer, axis=7)
    assert producer.settle() == 1


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        ((), {}),
        ((A,), {}),
        ((A, A, A), {}),
        ((A,), {"a": A}),
        ((A, A), {"b": A}),
        ((A,), {"c": A}),
        ((), {"a": A}),
        ((A, A), {"out": A}),
    ],
)
def test_wrong_counts_and_names_of_arguments_are_type_errors(arguments: Any, keywords: Any) -> None:
    with pytest.raises(TypeError, match="matmul"):
        linalg.matmul(*arguments, **keywords)


def test_arguments_may_be_named() -> None:
    assert np.array_equal(np.from_dlpack(linalg.matmul(b=A, a=A)), A)
    assert np.array_equal(np.from_dlpack(linalg.matmul(A, b=A)), A)
    assert stats.mean(x=A, axis=None) == pytest.approx(1 / 3)


@pytest.mark.parametrize("wrong", [1.5, "0", A, [0], True, object()], ids=str)
def test_a_scalar_argument_of_the_wrong_kind_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="axis"):
        stats.mean(A, wrong)


@pytest.mark.parametrize("wrong", [2**63, -(2**70)])
def test_an_integer_that_does_not_fit_is_refused(wrong: int) -> None:
    with pytest.raises((OverflowError, ValueError), match="axis"):
        stats.mean(A, wrong)


@pytest.mark.parametrize("wrong", [0, -1, -(2**63), 2**61, 2**63 - 1])
def test_a_count_that_is_given_is_never_taken_for_none(wrong: int) -> None:
    for call in (
        lambda: fft.rfft(A, wrong),
        lambda: fft.irfft(A.astype(complex), n=wrong),
        lambda: linalg.pca(A, wrong),
    ):
        with pytest.raises(ValueError, match="is accepted"):
            call()


def test_numbers_of_numpy_are_scalar_arguments() -> None:
    half: Any = np.float32(0.5)
    first: Any = np.int8(0)
    assert stats.quantile(A, half) == 0
    assert stats.mean(A, first).shape == (3,)


def test_functions_have_names_signatures_and_documentation() -> None:
    for module in (linalg, stats, fft):
        for name in module.__all__:
            function = getattr(module, name)
            assert callable(function)
            assert function.__name__ == name
            assert function.__doc__
            assert inspect.signature(function).parameters
            assert name in repr(function)

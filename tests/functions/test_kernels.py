"""The functions of Go beside NumPy's: values, shapes, dtypes, and every layout of their arguments."""

from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hypothesis_numpy
import hypothesis.strategies as st
import numpy as np
import pytest
from harness.layouts import Array
from hypothesis import given

import dlpackgo
from dlpackgo import fft, linalg, stats

LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "sliced": lambda a: np.repeat(a, 2, axis=0)[::2],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}
layouts = pytest.mark.parametrize("layout", LAYOUTS)
floats = pytest.mark.parametrize("dtype", ["float32", "float64"])


def normal(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def arrays_of(tensors: tuple[dlpackgo.Tensor, ...]) -> list[Any]:
    return [np.from_dlpack(tensor) for tensor in tensors]


def close(got: Any, want: Any, tolerance: float = 1e-9) -> None:
    """Compares a tensor, or number, with NumPy's answer in shape and value."""
    array = np.from_dlpack(got) if isinstance(got, dlpackgo.Tensor) else np.asarray(got)
    assert array.shape == np.shape(want)
    np.testing.assert_allclose(array, want, rtol=tolerance, atol=tolerance)


def tolerance_of(dtype: str) -> float:
    return 2e-4 if dtype == "float32" else 1e-9


# --- linalg ---


@layouts
@floats
@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((1, 1), (1, 1)), ((64, 65), (65, 66)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 0), (0, 2))],
)
def test_matmul(left: Any, right: Any, dtype: str, layout: str) -> None:
    a, b = LAYOUTS[layout](normal(left, dtype)), LAYOUTS[layout](normal(right, dtype, 1))
    product = linalg.matmul(a, b)
    assert product.dtype == dtype
    close(product, a @ b, tolerance_of(dtype))


@floats
def test_the_product_of_two_vectors_is_a_number(dtype: str) -> None:
    a, b = normal((5,), dtype), normal((5,), dtype, 1)
    product = linalg.matmul(a, b)
    assert type(product) is float
    assert product == pytest.approx(float(a @ b), rel=tolerance_of(dtype))


@layouts
def test_solve(layout: str) -> None:
    a = LAYOUTS[layout](normal((6, 6)) + 6 * np.eye(6))
    for b in (normal((6,)), normal((6, 3))):
        close(linalg.solve(a, LAYOUTS[layout](b)), np.linalg.solve(a, b))


@layouts
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5), (1, 3)])
def test_svd(shape: tuple[int, int], layout: str) -> None:
    a = LAYOUTS[layout](normal(shape))
    u, s, vt = arrays_of(linalg.svd(a))
    close(s, np.linalg.svd(a, compute_uv=False))
    close(u * s @ vt, a)
    close(u.T @ u, np.eye(min(shape)))
    close(vt @ vt.T, np.eye(min(shape)))


@layouts
def test_eigh(layout: str) -> None:
    a = normal((5, 5))
    a = LAYOUTS[layout](a + a.T)
    values, vectors = arrays_of(linalg.eigh(a))
    close(values, np.linalg.eigvalsh(a))
    close(a @ vectors, vectors * values)


@layouts
def test_pca(layout: str) -> None:
    x = LAYOUTS[layout](normal((30, 5)) * [5, 4, 3, 2, 1])
    scores, components, variance = arrays_of(linalg.pca(x, 3))
    centred = x - x.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    close(variance, values[:3] ** 2 / 29)
    close(centred @ components.T, scores)
    close(components @ components.T, np.eye(3))
    assert all(row[np.abs(row).argmax()] > 0 for row in components)
    assert [part.shape for part in linalg.pca(x)] == [(30, 5), (5, 5), (5,)]


@floats
@layouts
def test_norms(layout: str, dtype: str) -> None:
    x = LAYOUTS[layout](normal((4, 5), dtype))
    tolerance = tolerance_of(dtype)
    close(linalg.norm(x), np.linalg.norm(x), tolerance)
    close(linalg.norm(x, axis=1), np.linalg.norm(x, axis=1), tolerance)
    for order in (1.0, 2.0, 3.0, np.inf):
        close(linalg.vector_norm(x, ord=order), np.linalg.norm(x.ravel(), order), tolerance)
        close(linalg.vector_norm(x, axis=0, ord=order), np.linalg.norm(x, order, axis=0), tolerance)


# --- stats ---

REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "mean": (stats.mean, np.mean),
    "std": (stats.std, np.std),
    "var": (stats.var, np.var),
    "std, ddof 1": (lambda x, **k: stats.std(x, ddof=1, **k), lambda x, **k: np.std(x, ddof=1, **k)),
    "median": (lambda x, **k: stats.quantile(x, 0.5, **k), np.median),
    "quantile": (lambda x, **k: stats.quantile(x, 0.3, **k), lambda x, **k: np.quantile(x, 0.3, **k)),
}


@floats
@layouts
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions(reduction: str, layout: str, dtype: str) -> None:
    ours, numpys = REDUCTIONS[reduction]
    for shape in ((7,), (4, 5), (2, 3, 4)):
        x = LAYOUTS[layout](normal(shape, dtype))
        whole = ours(x)
        assert type(whole) is float
        close(whole, numpys(x), tolerance_of(dtype))
        for axis in range(-len(shape), len(shape)):
            reduced = ours(x, axis=axis)
            assert isinstance(reduced, float) or reduced.dtype == dtype
            close(reduced, numpys(x, axis=axis), tolerance_of(dtype))


@floats
@layouts
def test_cov(layout: str, dtype: str) -> None:
    x = LAYOUTS[layout](normal((20, 4), dtype))
    close(stats.cov(x), np.cov(x, rowvar=False), tolerance_of(dtype))
    close(stats.cov(x, ddof=0), np.cov(x, rowvar=False, ddof=0), tolerance_of(dtype))


def test_quantiles() -> None:
    x, q = normal((20, 3)), np.array([0, 0.25, 0.5, 1])
    close(stats.quantiles(x, q), np.quantile(x, q))
    close(stats.quantiles(x, q, axis=0), np.quantile(x, q, axis=0))


@given(
    hypothesis_numpy.arrays(
        np.float64, hypothesis_numpy.array_shapes(max_dims=4, max_side=6), elements=st.floats(-1e6, 1e6)
    )
)
def test_reductions_of_anything(x: Array) -> None:
    close(stats.mean(x), np.mean(x), 1e-7)
    close(linalg.norm(x), np.linalg.norm(x.ravel()), 1e-7)
    close(stats.quantile(x, 0.25), np.quantile(x, 0.25), 1e-7)
    close(stats.std(x), np.std(x), 1e-6)


def test_what_has_no_elements_or_no_number() -> None:
    assert np.isnan(stats.mean(np.zeros(0)))
    assert np.isnan(stats.mean(np.array([1.0, np.nan])))
    assert stats.mean(np.array([np.inf, 1.0])) == np.inf
    assert linalg.norm(np.zeros((0, 3))) == 0


# --- fft ---


@layouts
@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (16,), (3, 10), (2, 3, 53), (4, 127)])
def test_rfft_and_back(shape: tuple[int, ...], layout: str) -> None:
    x = LAYOUTS[layout](normal(shape))
    transformed = fft.rfft(x)
    assert transformed.dtype == "complex128"
    close(transformed, np.fft.rfft(x))
    close(fft.irfft(transformed, n=shape[-1]), x)
    for n in (1, 5, 8, 200):
        close(fft.rfft(x, n), np.fft.rfft(x, n))


# --- any of them ---


@pytest.mark.parametrize("wrap", [np.asarray, dlpackgo.from_dlpack, lambda a: dlpackgo.from_dlpack(a, copy=True)])
def test_arguments_may_be_arrays_of_any_library_and_tensors(wrap: Callable[[Array], Any]) -> None:
    a = normal((4, 4))
    close(linalg.matmul(wrap(a), wrap(a)), a @ a)
    close(stats.mean(wrap(a)), a.mean())
    close(fft.rfft(wrap(a)), np.fft.rfft(a))


def test_torch_tensors_are_arguments() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    a = normal((4, 4))
    close(linalg.matmul(torch.from_numpy(a), torch.from_numpy(a).T), a @ a.T)
    close(stats.mean(torch.from_numpy(a)), a.mean())


def test_arguments_are_not_written_to() -> None:
    a = normal((5, 5)) + 5 * np.eye(5)
    before = a.copy()
    linalg.solve(a, a), linalg.svd(a), linalg.pca(a), linalg.matmul(a, a), stats.quantile(a, 0.3), fft.rfft(a)
    assert np.array_equal(a, before)


def test_the_same_array_may_be_several_arguments() -> None:
    a = normal((5, 5))
    close(linalg.matmul(a, a.T), a @ a.T)
    tensor = dlpackgo.from_dlpack(a)
    close(linalg.matmul(tensor, tensor.T), a @ a.T)


def test_a_path_is_not_cut_at_a_null_character() -> None:
    for arguments in (("openblas", "/lib/a\0b"), (None, "\0")):
        with pytest.raises(ValueError, match="path has an embedded null character"):
            linalg.backend(*arguments)


def test_a_number_of_threads_is_taken_whole_or_refused_with_the_range() -> None:
    before = linalg.backend()
    for number in (2**40, 0):
        with pytest.raises(ValueError, match=f"threads is {number}; the gonum backend"):
            linalg.threads(number)
    try:
        linalg.backend("openblas")
    except ImportError:
        pytest.skip("there is no OpenBLAS here")
    try:
        threads = linalg.threads()
        for number in (2**40, 10**6):
            with pytest.raises(ValueError, match=rf"threads is {number}; 1 to \d+ are accepted"):
                linalg.threads(number)
            assert linalg.threads() == threads
        with pytest.raises(ValueError, match="at least 1"):
            linalg.threads(0)
        assert linalg.threads(1) == 1
        assert linalg.threads(threads) == threads
    finally:
        linalg.backend(before.partition(" ")[0])

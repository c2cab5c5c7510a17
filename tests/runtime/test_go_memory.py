"""What Go makes stays whole: through collections, in threads, after its makers are gone."""

import gc
import threading
import time
from typing import Any

import numpy as np
import pytest
from harness.capsules import peek
from harness.processes import repeated_in_threads, together

import dlpackgo


def results(seed: int) -> list[dlpackgo.Tensor]:
    """Tensors that came out of Go functions."""
    array = np.random.default_rng(seed).normal(size=(64, 64))
    return [
        dlpackgo.linalg.matmul(array, array),
        *dlpackgo.linalg.svd(array),
        dlpackgo.linalg.solve(array + 64 * np.eye(64), array),
        dlpackgo.fft.rfft(array),
        dlpackgo.stats.cov(array),
    ]


@pytest.mark.case("GO-8")
def test_results_of_go_stay_intact_through_many_collections() -> None:
    held = [np.from_dlpack(tensor) for seed in range(10) for tensor in results(seed)]
    wanted = [array.copy() for array in held]
    for _ in range(200):
        dlpackgo.stats.mean(dlpackgo.zeros((100_000,)))
    churn = results(99)
    for array, want in zip(held, wanted, strict=True):
        assert np.array_equal(array, want)
    del churn


@pytest.mark.case("GO-8")
def test_tensors_of_ours_stay_intact_when_only_their_exports_live() -> None:
    held = []
    for i in range(50):
        tensor = dlpackgo.zeros((1 << 14,))
        assert peek(tensor.__dlpack__(max_version=(1, 0))).data is not None
        array = np.from_dlpack(tensor)
        array[:] = i
        held.append(array)
    del tensor, array
    for _ in range(200):
        dlpackgo.stats.mean(dlpackgo.zeros((100_000,)))
    assert all((array == i).all() for i, array in enumerate(held))


@pytest.mark.case("AL-1")
def test_results_of_go_are_aligned_row_major_and_writable() -> None:
    for tensor in results(0):
        assert tensor.data_ptr % 64 == 0
        assert tensor.is_contiguous
        assert not tensor.readonly
        assert tensor.device == (1, 0)


@pytest.mark.case("C-5")
def test_results_of_go_are_freed() -> None:
    gc.collect()
    before = dlpackgo._core._live()
    for seed in range(20):
        results(seed)
    assert dlpackgo._core._live() == before


@pytest.mark.case("C-9")
def test_failing_calls_leave_nothing_behind() -> None:
    before = dlpackgo._core._live()
    wrong: tuple[Any, ...] = (np.zeros((2, 3)), np.zeros(3), np.array(["a"]), None, 3, np.zeros((3, 3), object))
    for _ in range(50):
        for argument in wrong:
            with pytest.raises((TypeError, ValueError, BufferError)):
                dlpackgo.linalg.solve(argument, np.zeros((7, 1)))
    gc.collect()
    assert dlpackgo._core._live() == before


def test_the_gil_is_released_while_go_works() -> None:
    size = 700
    array = np.random.default_rng(0).normal(size=(size, size))
    counts: list[int] = []
    stop = threading.Event()

    def count() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            time.sleep(0)
        counts.append(n)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        dlpackgo.linalg.matmul(array, array)
    stop.set()
    thread.join()
    # Held, the GIL would change hands once per product: a few dozen times in all.
    assert counts[0] > 1000


@pytest.mark.case("G-3")
def test_go_functions_may_be_called_from_many_threads() -> None:
    array = np.random.default_rng(0).normal(size=(40, 40))
    want = array @ array

    def work() -> None:
        for _ in range(30):
            assert np.allclose(np.from_dlpack(dlpackgo.linalg.matmul(array, array)), want)
            assert abs(float(dlpackgo.stats.mean(array)) - array.mean()) < 1e-12

    together(work, 8)


@pytest.mark.case("G-3")
def test_releases_in_python_and_work_in_go_do_not_disturb_each_other() -> None:
    array = np.arange(10_000.0)
    with repeated_in_threads(lambda: dlpackgo.stats.mean(array)):
        for _ in range(2000):
            tensor = dlpackgo.from_dlpack(array)
            view = tensor[1:]
            assert view.size == 9999
            del tensor, view

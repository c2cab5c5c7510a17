"""Swap the library that computes linear algebra while the program runs: gonum, which is built in, and OpenBLAS.

    pip install scipy-openblas32

Both give the same product of the same matrices, in memory that NumPy reads without a copy; only the time differs.
"""

import time

import numpy as np

import dlpackgo


def best_time(a: np.ndarray, b: np.ndarray, repetitions: int = 3) -> tuple[dlpackgo.Tensor, float]:
    """The product, and the shortest time it took, in seconds."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        product = dlpackgo.linalg.matmul(a, b)
        times.append(time.perf_counter() - start)
    return product, min(times)


def main() -> None:
    """Multiply with each backend that is installed, and compare with NumPy."""
    a, b = np.random.default_rng(0).normal(size=(2, 400, 400))
    expected = a @ b
    for name in ("gonum", "openblas", "gonum"):
        try:
            in_use = dlpackgo.linalg.backend(name)
        except ImportError as error:
            print(f"{name}: {error}")
            continue
        product, seconds = best_time(a, b)
        result = np.from_dlpack(product)
        assert result.ctypes.data == product.data_ptr
        assert np.allclose(result, expected)
        print(f"{in_use.partition('(')[0]:30.30} {seconds * 1e3:7.1f} ms")


if __name__ == "__main__":
    main()

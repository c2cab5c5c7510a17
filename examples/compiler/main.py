"""Compile formulas with a backend in Go, and run them over arrays of whatever framework they lie in."""

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from _core import compiler

FORMULA = "max(a, 0) * b + exp(-abs(a))"


def formula(source: str) -> Callable[..., Any]:
    """A function of arrays that computes a formula; its result is an array of the first one's framework."""

    def compute(first: Any, *others: Any) -> Any:
        library = importlib.import_module(type(first).__module__.partition(".")[0])
        tensor = compiler.run(source, first, *others)
        return library.from_dlpack(tensor) if hasattr(library, "from_dlpack") else tensor

    return compute


def main() -> None:
    """Run one formula over NumPy and PyTorch arrays, strided and mixed, and compare with NumPy."""
    f = formula(FORMULA)
    a, b = np.random.default_rng(0).normal(size=(2, 100, 50))
    want = np.maximum(a, 0) * b + np.exp(-np.abs(a))
    assert np.allclose(f(a, b), want)
    assert np.allclose(f(a.T, b.T), want.T)  # strides are read where they are
    print(f"{FORMULA!r} agrees with NumPy on {a.size} elements")
    if find_spec("torch"):
        import torch

        mixed = f(torch.from_numpy(a), b)  # PyTorch and NumPy in one call
        assert isinstance(mixed, torch.Tensor) and np.allclose(mixed.numpy(), want)
        print("and on arrays of PyTorch and NumPy in one call")
    for wrong in ("a +", "a % b", "sinh(a)", "d"):
        try:
            compiler.run(wrong, a, b)
        except ValueError as error:
            print(f"{wrong!r} is refused: {error}")


if __name__ == "__main__":
    main()

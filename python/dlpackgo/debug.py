"""What is alive right now, for tests and for the search for leaks."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from . import _core

__all__ = ["live", "no_leaks"]


def live() -> dict[str, int]:
    """Count what this process holds right now.

    owners: blocks of memory, of our own and lent by other libraries, with tensors or exports on them.
    bytes: of memory that dlpackgo allocated. tensors: Tensor objects.
    """
    return _core._live()


@contextmanager
def no_leaks() -> Iterator[None]:
    """Raise AssertionError at the end of the block when more is alive than at its start.

    >>> import dlpackgo
    >>> with dlpackgo.debug.no_leaks():
    ...     total = sum(dlpackgo.arange(4).tolist())
    """
    gc.collect()
    before = live()
    yield
    gc.collect()
    after = live()
    grown = {name: (before[name], after[name]) for name in before if after[name] > before[name]}
    if grown:
        raise AssertionError(f"still alive (before, after): {grown}")

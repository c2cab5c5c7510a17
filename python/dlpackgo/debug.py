"""What is alive right now, for tests and for the search for leaks.

To learn where living tensors were made, switch tracing on with ``trace(True)``, or set DLPACKGO_TRACE=1 before Python
starts. Python's ``tracemalloc`` shows memory that dlpackgo allocated under the domain ``tracemalloc_domain``.
"""

from __future__ import annotations

import gc

from . import _core

TYPE_CHECKING = False  # type checkers know this name
if TYPE_CHECKING:
    from ._records import LiveTensor

__all__ = ["LiveTensor", "live", "live_tensors", "no_leaks", "trace", "tracemalloc_domain"]

tracemalloc_domain: int = _core._tracemalloc_domain
"""The domain of memory that dlpackgo allocated, in Python's tracemalloc: 6581360. That of NumPy is 389047."""


def live() -> dict[str, int]:
    """Count what this process holds right now.

    owners: blocks of memory, of our own and lent by other libraries, with tensors or exports on them.
    bytes: of memory that dlpackgo allocated. tensors: Tensor objects.
    """
    return _core._live()


def trace(on: bool) -> bool:
    """Switch the tracing of tensors on or off, and tell whether it was on.

    Tensors made while it is off are not known to ``live_tensors``; switching it off forgets those that are.
    """
    return _core._trace(on)


def live_tensors() -> list[LiveTensor]:
    """List the living tensors that were made while tracing was on, oldest first.

    >>> import dlpackgo
    >>> before = dlpackgo.debug.trace(True)
    >>> kept = dlpackgo.zeros((2, 3), dtype="float32")
    >>> [(tensor.nbytes, tensor.shape, str(tensor.dtype)) for tensor in dlpackgo.debug.live_tensors()]
    [(24, (2, 3), 'float32')]
    >>> dlpackgo.debug.trace(before)
    True
    """
    from ._records import LiveTensor

    return [
        LiveTensor(nbytes, shape, dtype, None if place is None else f"{place[0]}:{place[1]}")
        for nbytes, shape, dtype, place in _core._live_tensors()
    ]


class no_leaks:
    """Raise AssertionError at the end of the block when more is alive than at its start.

    With tracing on, the error says where the tensors were made that are still alive.

    >>> import dlpackgo
    >>> with dlpackgo.debug.no_leaks():
    ...     total = sum(dlpackgo.arange(4).tolist())
    """

    def __enter__(self) -> None:
        """Note what is alive."""
        gc.collect()
        self._before = live()

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Compare, unless the block raised."""
        if kind is not None:
            return
        gc.collect()
        after = live()
        grown = {name: (count, after[name]) for name, count in self._before.items() if after[name] > count}
        if grown:
            places = sorted({tensor.place for tensor in live_tensors() if tensor.place is not None})
            made = f"; living tensors were made at {', '.join(places)}" if places else ""
            raise AssertionError(f"still alive (before, after): {grown}{made}")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "LiveTensor":
            from ._records import LiveTensor

            return LiveTensor
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

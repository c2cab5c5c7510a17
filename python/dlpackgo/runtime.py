"""The Go runtime inside this process: how much memory its heap may take, how often it collects, how many threads it uses.

Go reads GOMEMLIMIT, GOGC and GOMAXPROCS from the environment that the process was started with. A change of
``os.environ``, even before the first import of dlpackgo, may not reach it; these functions do.

The heap of Go is what Go functions allocate for themselves. Memory of tensors lies outside of it, see
``dlpackgo.debug.live`` and ``tracemalloc``.
"""

from __future__ import annotations

from ._core import runtime as _functions

TYPE_CHECKING = False  # type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from ._records import Stats

__all__ = ["Stats", "collect", "gc_percent", "max_procs", "memory_limit", "stats"]

collect: Callable[[], None] = _functions.collect
max_procs: Callable[..., int] = _functions.max_procs


def memory_limit(limit: int | Literal["off"] | None = None) -> int | Literal["off"]:
    """Set how many bytes of memory the Go runtime should keep to, or tell how many: GOMEMLIMIT.

    The limit is a soft one. Near to it Go collects more often and gives memory back sooner; it never refuses to
    allocate, and what is in use may exceed it. What counts is all memory of the runtime, ``stats().limited``.

    Parameters
    ----------
    limit : int or "off", optional
        Bytes, 1 or more. Without it nothing changes.

    Returns
    -------
    int or "off"
        What holds now, in the form in which it can be set again. From the start there is no limit.

    Raises
    ------
    ValueError
        If limit is below 1.

    """
    return _setting(_functions.memory_limit, "limit", limit)


def gc_percent(percent: int | Literal["off"] | None = None) -> int | Literal["off"]:
    """Set by how many percent the Go heap grows until it is collected again, or tell it: GOGC.

    Parameters
    ----------
    percent : int or "off", optional
        Of what was alive after the last collection; 0 or more. Less costs more time and takes less memory. "off" collects
        only where the memory limit asks for it. Without it nothing changes.

    Returns
    -------
    int or "off"
        What holds now, in the form in which it can be set again. From the start it is 100.

    Raises
    ------
    ValueError
        If percent is negative, or 2**31 or more.

    """
    return _setting(_functions.gc_percent, "percent", percent)


def _setting(function: Any, name: str, wanted: int | str | None) -> int | Literal["off"]:
    if not isinstance(wanted, str):
        value, off = function(wanted)
    elif wanted == "off":
        value, off = function(None, True)
    else:
        raise ValueError(f'runtime.{function.__name__}(): {name} is {wanted!r}; an int is accepted, or "off"')
    return "off" if off else int(value)


def stats() -> Stats:
    """Ask the Go runtime what it does with memory. Stops all Go code for some microseconds."""
    from ._records import Stats

    return Stats(*_functions.stats().tolist())


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "Stats":
            from ._records import Stats

            return Stats
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

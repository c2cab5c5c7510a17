"""What ``runtime.stats`` and ``debug.live_tensors`` return. On their own because typing takes longer to import than dlpackgo."""

from typing import NamedTuple

from ._core import DType


class LiveTensor(NamedTuple):
    """A tensor that is alive, as ``debug.live_tensors`` reports it."""

    nbytes: int
    """Bytes of its elements; views of one memory report theirs each."""
    shape: tuple[int, ...]
    dtype: DType
    place: str | None
    """The line of Python that made it, as ``file:line``; None for one that was made without Python."""


class Stats(NamedTuple):
    """What the Go runtime does with memory; the names are those of Go's runtime.MemStats. Sizes are in bytes."""

    heap_alloc: int
    """Objects of the heap: alive, or dead and not yet collected."""
    heap_objects: int
    """How many these are."""
    heap_sys: int
    """Address space that the heap has taken."""
    heap_released: int
    """What of it was given back to the operating system."""
    sys: int
    """Address space of heap, stacks and the runtime's own structures together."""
    total_alloc: int
    """What was allocated on the heap since the start, freed or not."""
    num_gc: int
    """How many collections there were."""
    pause_total_ns: int
    """Nanoseconds for which these stopped all Go code."""
    num_goroutine: int
    """How many goroutines there are now."""

    @property
    def limited(self) -> int:
        """The memory that ``runtime.memory_limit`` is about: sys without what was given back."""
        return self.sys - self.heap_released

"""Order between streams: what a consumer reads on its stream is what the producer wrote on its own."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from cuda_libraries import CUPY, TORCH, Library
from cuda_variants import Cuda, require, waits_of

import dlpackgo


class Asked:
    """A producer that notes what it is asked with, and passes it on."""

    def __init__(self, array: Any) -> None:
        self.array, self.keywords = array, dict[str, Any]()

    def __dlpack__(self, **keywords: Any) -> Any:
        self.keywords = keywords
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_a_consumer_passes_its_current_stream(consumer: Library) -> None:
    asked = Asked(dlpackgo.from_dlpack(consumer.numbered(4)))
    consumer.take(asked)
    assert asked.keywords["stream"] == 1
    stream = consumer.new_stream()
    with consumer.using(stream):
        consumer.take(asked)
    assert asked.keywords["stream"] == consumer.handle(stream)


def test_an_import_makes_the_legacy_stream_wait_for_the_producer(library: Library, cuda: Cuda) -> None:
    array, stream = library.numbered(4), library.new_stream()
    with library.using(stream), cuda.record() as calls:
        dlpackgo.from_dlpack(array)
    assert calls == waits_of(library.handle(stream), None)


def test_an_import_from_the_legacy_stream_has_nothing_to_wait_for(library: Library, cuda: Cuda) -> None:
    array = library.numbered(4)
    with cuda.record() as calls:
        dlpackgo.from_dlpack(array)
    assert calls == []


@pytest.mark.parametrize("view", [lambda t: t, lambda t: t[1:], dlpackgo.from_dlpack], ids=["whole", "view", "again"])
def test_an_export_makes_the_consumers_stream_wait(
    library: Library, consumer: Library, cuda: Cuda, view: Callable[[Any], Any]
) -> None:
    skip_one_library(library, consumer)
    tensor = view(dlpackgo.from_dlpack(library.numbered(4)))
    theirs, ours = library.new_stream(), consumer.new_stream()
    with library.using(theirs), consumer.using(ours), cuda.record() as calls:
        consumer.take(tensor)
    assert calls == waits_of(library.handle(theirs), consumer.handle(ours))


@pytest.mark.parametrize("request_stream", [-1, "same"], ids=str)
def test_no_wait_is_added_where_none_is_asked_or_needed(library: Library, cuda: Cuda, request_stream: Any) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(4))
    stream = library.new_stream()
    with library.using(stream), cuda.record() as calls:
        tensor.__dlpack__(stream=library.handle(stream) if request_stream == "same" else request_stream)
    assert calls in ([], waits_of(library.handle(stream), library.handle(stream)))  # torch waits for itself


@pytest.mark.parametrize("stream", [None, 1])
def test_the_legacy_stream_is_made_to_wait(library: Library, cuda: Cuda, stream: Any) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(4))
    current = library.new_stream()
    with library.using(current), cuda.record() as calls:
        tensor.__dlpack__(stream=stream)
    assert calls == waits_of(library.handle(current), None)


@pytest.mark.parametrize("stream", [0, -2, -(2**63)])
def test_streams_that_cuda_forbids_are_refused(library: Library, stream: int) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(4))
    with pytest.raises(ValueError, match="stream"):
        tensor.__dlpack__(stream=stream)


def test_the_per_thread_stream_is_the_producers_to_grant(cuda: Cuda) -> None:
    tensor = dlpackgo.from_dlpack(require(CUPY).numbered(4))
    with cuda.record() as calls:
        tensor.__dlpack__(stream=2)
    assert calls == waits_of(None, 2)
    with pytest.raises(BufferError, match="per-thread"):
        dlpackgo.from_dlpack(require(TORCH).numbered(4)).__dlpack__(stream=2)


def test_the_producers_word_on_a_stale_stream_is_passed_on(standin: Any) -> None:
    tensor = dlpackgo.from_dlpack(require(CUPY).numbered(4))
    with pytest.raises(CUPY.module.cuda.runtime.CUDARuntimeError, match="InvalidResourceHandle"):
        tensor.__dlpack__(stream=12345)


def test_a_raw_capsule_is_ready_on_the_legacy_stream_only(library: Library, consumer: Library) -> None:
    """Nobody is known who could make another stream wait."""
    tensor = dlpackgo.from_dlpack(library.numbered(4).__dlpack__(max_version=(1, 0), stream=None))
    assert consumer.address(consumer.take(tensor)) == tensor.data_ptr
    for stream in (None, 1, -1):
        tensor.__dlpack__(stream=stream)
    with consumer.using(consumer.new_stream()), pytest.raises(BufferError, match="stream"):
        consumer.take(tensor)


@pytest.mark.parametrize("exported_on_stream", [True, False], ids=["exported on it", "exported off it"])
def test_a_consumer_reads_what_the_producer_wrote(
    library: Library, consumer: Library, cuda: Cuda, exported_on_stream: bool
) -> None:
    """In deferred mode, and behind a pause on a real device, a missing wait would show as zeros."""
    skip_one_library(library, consumer)
    array = library.array(np.zeros(1000, np.float32))
    fives = pinned_fives(library)
    theirs, ours = library.new_stream(), consumer.new_stream()
    library.read(array)
    with cuda.late_work():
        cuda.hold_up(library.handle(theirs))
        with library.using(theirs):
            library.copy_async(array, fives)
            tensor = dlpackgo.from_dlpack(array)
        with library.using(theirs) if exported_on_stream else nullcontext(), consumer.using(ours):
            assert set(consumer.read(consumer.take(tensor)).tolist()) == {5}


def test_work_after_the_import_is_waited_for_too(library: Library, consumer: Library, cuda: Cuda) -> None:
    """The tensor was imported long ago; what its library writes before the export counts as well."""
    skip_one_library(library, consumer)
    array = library.array(np.zeros(1000, np.float32))
    tensor = dlpackgo.from_dlpack(array)
    fives = pinned_fives(library)
    theirs, ours = library.new_stream(), consumer.new_stream()
    with cuda.late_work():
        cuda.hold_up(library.handle(theirs))
        with library.using(theirs):
            library.copy_async(array, fives)
            with consumer.using(ours):
                assert set(consumer.read(consumer.take(tensor)).tolist()) == {5}


def test_without_a_wait_the_consumer_would_read_old_data(library: Library, consumer: Library, standin: Any) -> None:
    """The tests above can fail: with stream=-1 nobody waits, and the old zeros are what is read."""
    array = library.array(np.zeros(1000, np.float32))
    fives = pinned_fives(library)
    theirs, ours = library.new_stream(), consumer.new_stream()
    tensor = dlpackgo.from_dlpack(array)
    capsule = tensor.__dlpack__(stream=-1, max_version=(1, 0))
    hands = type("Hands", (), {"__dlpack__": lambda self, **_: capsule, "__dlpack_device__": lambda self: (2, 0)})()
    with standin.deferred():
        with library.using(theirs):
            library.copy_async(array, fives)
        with consumer.using(ours):
            assert set(consumer.read(consumer.take(hands)).tolist()) == {0}


def skip_one_library(library: Library, consumer: Library) -> None:
    if library is consumer:
        pytest.skip("within one library the current stream is the producer's and the consumer's: it waits for itself")


def pinned_fives(library: Library) -> Any:
    if library is TORCH:
        return library.module.full((1000,), 5.0).pin_memory()
    cupyx = pytest.importorskip("cupyx")
    fives = cupyx.empty_pinned((1000,), np.float32)
    fives[:] = 5
    return fives

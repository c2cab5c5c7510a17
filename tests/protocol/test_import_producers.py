"""Producers that refuse, fail, lie or are old: their errors surface, what was taken is released once."""

import functools
import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness.abi import CPU, CUDA, READ_ONLY
from harness.capsules import name_of
from harness.producers import Hands, OldProducer, Producer

import dlpackgo

# The type checker refuses most of what is handed over here, and is right.
from_dlpack: Any = dlpackgo.from_dlpack

KEYWORDS: tuple[dict[str, Any], ...] = ({}, {"copy": True}, {"copy": False}, {"device": (1, 0)})


# --- what is asked of a producer ---


@pytest.mark.case("RO-1", "ST-1")
def test_a_producer_is_asked_once_with_max_version_and_without_a_stream() -> None:
    for keywords in KEYWORDS:
        producer = Producer((3,), flags=READ_ONLY)
        assert from_dlpack(producer, **keywords).tolist() == [0, 1, 2]
        (asked,) = producer.asked
        assert asked["max_version"] >= (1, 0)
        assert asked.get("stream") is None
        assert asked.get("copy") == keywords.get("copy")
        if "device" not in keywords:
            assert asked.get("dl_device") is None
        assert set(asked) <= {"max_version", "stream", "dl_device", "copy"}
        assert producer.settle() == 1


@pytest.mark.case("RO-1")
def test_a_read_only_producer_that_refuses_legacy_requests_is_reached() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    tensor = from_dlpack(array)
    assert tensor.readonly
    assert tensor.data_ptr == array.ctypes.data


# --- producers that raise ---


class Meddling(Exception):
    pass


@pytest.mark.case("P-1", "V-2")
@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
@pytest.mark.parametrize(
    "error",
    [BufferError("requires grad; detach it first"), TypeError("the dtype table is broken"), ValueError("no"),
     RuntimeError("detach"), KeyError("x"), AttributeError("__array__"), NotImplementedError("later"), Meddling("mine"),
     StopIteration(3), RecursionError("deep"), MemoryError(), KeyboardInterrupt(), SystemExit(3), OSError(5, "io")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_a_producers_error_reaches_the_caller_and_no_side_door_is_tried(error: BaseException, keywords: Any) -> None:
    opened: list[str] = []
    memory = np.ones(3, np.float32)

    class Parameter:
        """Refuses DLPack, and leaves other ways to its memory open."""

        calls = 0

        def __dlpack__(self, **_: Any) -> Any:
            self.calls += 1
            raise error

        def __dlpack_device__(self) -> tuple[int, int]:
            return (CPU, 0)

        def __array__(self, *_: Any, **__: Any) -> Any:
            opened.append("__array__")
            return memory

        @property
        def __array_interface__(self) -> Any:
            opened.append("__array_interface__")
            return memory.__array_interface__

        def __buffer__(self, flags: int) -> memoryview:
            opened.append("__buffer__")
            return memoryview(memory)

        def tolist(self) -> list[float]:
            opened.append("tolist")
            return [1.0]

    parameter = Parameter()
    with pytest.raises(type(error)) as raised:
        from_dlpack(parameter, **keywords)
    assert raised.value is error
    assert error.__cause__ is None
    assert opened == []
    assert parameter.calls == 1
    error.__traceback__ = None


@pytest.mark.case("P-1")
def test_an_error_from_dlpack_device_reaches_the_caller() -> None:
    class Lost(Producer):
        def __dlpack_device__(self) -> Any:
            raise Meddling("which device?")

    for keywords in KEYWORDS:
        producer = Lost((3,))
        try:
            tensor = from_dlpack(producer, **keywords)
        except Meddling:
            pass
        else:  # it was not asked
            assert tensor.tolist() == [0, 1, 2]
            del tensor
        assert producer.settle() == len(producer.asked)


@pytest.mark.case("P-1")
def test_an_attribute_that_raises_on_the_way_to_dlpack_reaches_the_caller() -> None:
    class Guarded:
        @property
        def __dlpack__(self) -> Any:
            raise Meddling("not while training")

        def __dlpack_device__(self) -> Any:
            return (CPU, 0)

    with pytest.raises(Meddling, match="training"):
        from_dlpack(Guarded())


@pytest.mark.case("V-2")
def test_a_type_error_from_inside_the_producer_surfaces_after_one_call() -> None:
    class Deep(Producer):
        def inner(self) -> Any:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")

        def __dlpack__(self, **keywords: Any) -> Any:
            self.asked.append(keywords)
            return self.inner()

    for keywords in KEYWORDS:
        deep = Deep()
        with pytest.raises(TypeError, match="unexpected keyword"):
            from_dlpack(deep, **keywords)
        assert len(deep.asked) == 1


@pytest.mark.case("V-2")
def test_a_keyword_that_something_else_does_not_know_is_the_producers_own_error() -> None:
    class Stale(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            self.asked.append(keywords)
            return Producer((3,), layout="row")  # type: ignore[call-arg]

    for keywords in KEYWORDS:
        stale = Stale()
        with pytest.raises(TypeError, match="unexpected keyword argument 'layout'"):
            from_dlpack(stale, **keywords)
        assert len(stale.asked) == 1


@pytest.mark.case("V-2")
def test_a_type_error_of_a_builtin_called_by_the_producer_surfaces_after_one_call() -> None:
    class Adds(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            self.asked.append(keywords)
            return len(3)  # type: ignore[arg-type]

    adds = Adds()
    with pytest.raises(TypeError, match="len"):
        from_dlpack(adds)
    assert len(adds.asked) == 1


def test_a_class_whose_dlpack_is_none_has_no_dlpack() -> None:
    """As __hash__ = None, it is how a subclass takes back what its base has."""

    class Closed(Producer):
        __dlpack__ = None  # type: ignore[assignment]

    class Opaque(np.ndarray):
        __dlpack__ = None  # type: ignore[assignment]

    array = np.ones(2).view(Opaque)
    for closed in (Closed(), array):
        with pytest.raises(TypeError, match="no __dlpack__ method"):
            from_dlpack(closed)
    with pytest.raises(TypeError, match="cannot become a tensor"):
        dlpackgo.asarray(type("Nothing", (), {"__dlpack__": None})())
    assert dlpackgo.asarray(array).data_ptr == array.ctypes.data  # by what it has besides


# --- old signatures ---


def old_signatures() -> dict[str, Callable[[Producer], Any]]:
    class NoArguments(Producer):
        def __dlpack__(self) -> Any:  # type: ignore[override]
            return self.capsule()

    class OnlyStream(Producer):
        def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
            return self.capsule()

    class PositionalOnly(Producer):
        def __dlpack__(self, stream: Any = None, /) -> Any:  # type: ignore[override]
            return self.capsule()

    class OnlyVersion(Producer):
        """Half way: knows max_version and neither dl_device nor copy."""

        def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:  # type: ignore[override]
            return self.capsule(max_version)

    class InC(Producer):
        """list.pop takes no keywords, and being written in C leaves no frame in the traceback."""

        @functools.cached_property
        def __dlpack__(self) -> Any:
            return [self.capsule()].pop

    class Static(Producer):
        @functools.cached_property
        def __dlpack__(self) -> Any:
            return lambda: self.capsule()

    class InCython(Producer):
        """What Cython refuses has a frame of its own in the traceback: old PyArrow, CuPy and dpctl."""

        def __dlpack__(self, stream: Any = None, **unknown: Any) -> Any:
            for name in unknown:
                raise TypeError(f"__dlpack__() got an unexpected keyword argument '{name}'")
            return self.capsule()

    class PassesOn(Producer):
        """A wrapper around an array of before max_version."""

        def __dlpack__(self, **keywords: Any) -> Any:
            return self.old(**keywords)

        def old(self, stream: Any = None) -> Any:
            return self.capsule()

    class PassesOnToC(Producer):
        """The same around an object that is written in C."""

        refusal = "core.Array.__dlpack__() takes no keyword arguments"

        def __dlpack__(self, **keywords: Any) -> Any:
            if keywords:
                raise TypeError(self.refusal)
            return self.capsule()

    class PassesOnToPybind(PassesOnToC):
        refusal = (
            "__dlpack__(): incompatible function arguments. The following argument types are supported:\n"
            "    1. (self: core.Array) -> types.CapsuleType\n\nInvoked with: <core.Array>; kwargs: max_version=(1, 3)"
        )

    kinds = (
        OldProducer, NoArguments, OnlyStream, PositionalOnly, OnlyVersion, InC, Static, InCython, PassesOn, PassesOnToC,
        PassesOnToPybind,
    )  # fmt: skip
    return {kind.__name__: kind for kind in kinds}  # type: ignore[misc]


@pytest.mark.case("V-2")
@pytest.mark.parametrize("kind", old_signatures())
@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_a_producer_with_an_old_signature_is_asked_again_and_no_keyword_is_dropped(kind: str, keywords: Any) -> None:
    producer: Any = old_signatures()[kind]((3,))  # type: ignore[arg-type]
    tensor = from_dlpack(producer, **keywords)
    assert tensor.tolist() == [0, 1, 2]
    assert (tensor.data_ptr == producer.address) == (keywords.get("copy") is not True)
    # The others have no way to say that their memory is writable.
    assert tensor.readonly == (kind != "OnlyVersion" and keywords.get("copy") is not True)
    del tensor
    assert producer.settle() == producer.deleted == 1


@pytest.mark.case("V-2")
def test_a_signature_that_fits_no_request_is_a_type_error_after_two_calls() -> None:
    class Demanding(Producer):
        def __dlpack__(self, please: Any) -> Any:  # type: ignore[override]
            return self.capsule()

    with pytest.raises(TypeError, match="please"):
        from_dlpack(Demanding())


@pytest.mark.case("V-2")
def test_an_old_producers_refusal_at_the_second_asking_reaches_the_caller() -> None:
    class OldAndRefusing(Producer):
        def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
            raise BufferError("requires grad")

    with pytest.raises(BufferError, match="requires grad"):
        from_dlpack(OldAndRefusing())


# --- producers that lie ---


@pytest.mark.case("V-1")
@pytest.mark.parametrize("given", [None, 7, "dltensor", b"", (), object(), np.arange(3.0), NotImplemented], ids=repr)
def test_something_else_than_a_capsule_is_a_buffer_error_that_names_it(given: Any) -> None:
    for keywords in KEYWORDS:
        with pytest.raises(BufferError, match=type(given).__name__):
            from_dlpack(Hands(given), **keywords)


@pytest.mark.case("V-1")
@pytest.mark.parametrize("device", [None, 7, "cpu", (), (1,), (1, 0, 0), ("a", 0), (1.5, 0), object()], ids=repr)
def test_a_malformed_dlpack_device_is_refused_or_not_asked_for(device: Any) -> None:
    for keywords in KEYWORDS:
        producer = Producer((3,))
        hands = Hands(producer.capsule((1, 0)), device)
        try:
            tensor = from_dlpack(hands, **keywords)
        except (BufferError, TypeError, ValueError):
            pass
        else:
            assert tensor.tolist() == [0, 1, 2]
            del tensor
        assert producer.settle() == 1


@pytest.mark.case("V-1")
def test_a_producer_whose_device_disagrees_with_its_descriptor_is_never_believed_blindly() -> None:
    for announced, real in (((CPU, 0), (CUDA, 0)), ((CUDA, 0), (CPU, 0)), ((CPU, 0), (CPU, 1))):
        producer = Producer((3,), device=real)
        try:
            tensor = from_dlpack(Hands(producer.capsule((1, 0)), announced))
        except (BufferError, RuntimeError):
            pass
        else:
            assert tuple(tensor.device) == real
            del tensor
        assert producer.settle() == 1


@pytest.mark.case("K-1")
def test_a_producer_that_answers_with_another_device_than_asked_for_is_refused() -> None:
    producer = Producer((3,), device=(CUDA, 0))
    with pytest.raises(BufferError):
        from_dlpack(Hands(producer.capsule((1, 0)), (CPU, 0)), device=(CPU, 0))
    assert producer.settle() == 1


def test_a_producer_without_dlpack_device_is_taken_or_refused_in_words() -> None:
    producer = Producer((3,))

    class Half:
        def __dlpack__(self, **keywords: Any) -> Any:
            return producer.__dlpack__(**keywords)

    try:
        tensor = from_dlpack(Half())
    except (TypeError, AttributeError, BufferError) as refusal:
        assert "__dlpack_device__" in str(refusal)
    else:
        assert tensor.tolist() == [0, 1, 2]
        del tensor
    assert producer.settle() == len(producer.asked)


def test_a_proxy_that_offers_dlpack_through_getattr_is_a_producer() -> None:
    class Proxy:
        def __init__(self, wrapped: Any) -> None:
            self.wrapped = wrapped

        def __getattr__(self, name: str) -> Any:
            return getattr(self.wrapped, name)

    array = np.arange(3.0)
    assert from_dlpack(Proxy(array)).data_ptr == array.ctypes.data


@pytest.mark.case("V-2")
def test_a_producer_that_imports_itself_ends_in_a_recursion_error() -> None:
    class Endless(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            return from_dlpack(self)

    with pytest.raises(RecursionError):
        from_dlpack(Endless())


def test_a_producer_may_call_back_into_us() -> None:
    class Relay(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            inner = from_dlpack(np.arange(4.0))
            gc.collect()
            from_dlpack(self.capsule((1, 0)))
            return inner[1:].__dlpack__(**keywords)

    relay = Relay((3,))
    tensor = from_dlpack(relay)
    assert tensor.tolist() == [1, 2, 3]
    assert relay.settle() == 1


def test_a_deleter_may_call_back_into_us() -> None:
    seen: list[Any] = []

    class Talkative(Producer):
        @property
        def deleted(self) -> int:
            return self._deleted

        @deleted.setter
        def deleted(self, count: int) -> None:
            self._deleted = count
            if count:
                seen.append(from_dlpack(np.arange(3.0)).tolist())
                gc.collect()

    producer = Talkative((3,))
    tensor = from_dlpack(producer)
    del tensor
    assert producer.settle() == 1
    assert seen == [[0, 1, 2]]


def test_a_producer_may_drop_its_own_array_and_itself() -> None:
    class Throwaway:
        def __init__(self) -> None:
            self.array: Any = np.arange(1000.0)

        def __dlpack__(self, **keywords: Any) -> Any:
            array, self.array = self.array, None
            return array.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (CPU, 0)

    throwaway = Throwaway()
    gone = weakref.ref(throwaway)
    tensor = from_dlpack(throwaway)
    del throwaway
    gc.collect()
    assert gone() is None
    churn = [np.full(1000, 7.0) for _ in range(100)]
    assert tensor.tolist() == list(range(1000))
    del churn


def test_a_producer_that_returns_a_capsule_it_consumed_itself_is_refused() -> None:
    class Greedy(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            capsule = self.capsule((1, 0))
            self.mine = np.from_dlpack(Hands(capsule))
            return capsule

    greedy = Greedy((3,))
    with pytest.raises(BufferError):
        from_dlpack(greedy)
    del greedy.mine
    assert greedy.settle() == 1


def test_an_array_whose_memory_is_shared_cannot_be_resized() -> None:
    array = np.arange(6.0)
    tensor = from_dlpack(array)
    with pytest.raises(ValueError, match="resize|reference"):
        array.resize((100,), refcheck=True)
    assert tensor.tolist() == [0, 1, 2, 3, 4, 5]


# --- not a producer ---


@pytest.mark.parametrize("thing", [None, 3, 1.5, "text", [1.0], {}, object(), int, dlpackgo], ids=repr)
def test_an_object_without_dlpack_is_a_type_error_that_names_it_and_what_is_accepted(thing: Any) -> None:
    for keywords in KEYWORDS:
        with pytest.raises(TypeError) as refusal:
            from_dlpack(thing, **keywords)
        assert type(thing).__name__ in str(refusal.value)
        assert "__dlpack__" in str(refusal.value)


def test_a_dlpack_that_cannot_be_called_is_a_type_error() -> None:
    class Pretends:
        __dlpack__ = None

        def __dlpack_device__(self) -> Any:
            return (CPU, 0)

    with pytest.raises(TypeError):
        from_dlpack(Pretends())


def test_a_class_is_no_producer() -> None:
    with pytest.raises(TypeError):
        from_dlpack(np.ndarray)
    with pytest.raises(TypeError):
        from_dlpack(dlpackgo.Tensor)


def test_no_reference_to_a_producer_is_left_over() -> None:
    class Raising:
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("no")

        def __dlpack_device__(self) -> Any:
            return (CPU, 0)

    array, raising, odd = np.arange(3.0), Raising(), Hands(7)
    before = [sys.getrefcount(x) for x in (array, raising, odd)]
    for _ in range(100):
        for keywords in KEYWORDS:
            from_dlpack(array, **keywords)
            with pytest.raises(BufferError):
                from_dlpack(raising, **keywords)
            with pytest.raises(BufferError):
                from_dlpack(odd, **keywords)
    gc.collect()
    assert [sys.getrefcount(x) for x in (array, raising, odd)] == before


def test_a_refused_capsule_keeps_its_name() -> None:
    producer = Producer((3,), dtype=(99, 8, 1))
    with pytest.raises(BufferError):
        from_dlpack(producer)
    assert name_of(producer.capsules[0]) == "dltensor_versioned"
    assert producer.settle() == 1


# --- what is asked of an object before __dlpack__ is called ---


@pytest.mark.case("P-1")
@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt, SystemExit, GeneratorExit, Meddling, MemoryError, RecursionError, ValueError, TypeError],
)
def test_an_error_while_looking_for_the_protocol_reaches_the_caller(error: type[BaseException]) -> None:
    class Proxy:
        def __getattr__(self, name: str) -> Any:
            raise error

    class Metaclass(type):
        def __getattribute__(cls, name: str) -> Any:
            if name == "__dlpack__":
                raise error
            return super().__getattribute__(name)

    class WithMetaclass(metaclass=Metaclass):
        pass

    class Lost(Producer):
        def __dlpack_device__(self) -> Any:
            raise error

    for thing in (Proxy(), WithMetaclass()):
        with pytest.raises(error):
            from_dlpack(thing)
        with pytest.raises(error):
            dlpackgo.asarray(thing)
        with pytest.raises(error):
            dlpackgo.stats.mean(thing)  # type: ignore[arg-type]
    lost = Lost((3,))
    with pytest.raises(error):
        from_dlpack(lost, device="cpu")
    assert lost.asked == []


@pytest.mark.case("P-1")
def test_a_subclass_of_buffer_error_stays_what_it_is_and_is_told_which_argument_it_was() -> None:
    class NeedsDetach(BufferError):
        pass

    class Parameter:
        def __dlpack__(self, **_: Any) -> Any:
            raise NeedsDetach("requires grad")

        def __dlpack_device__(self) -> Any:
            return (CPU, 0)

    with pytest.raises(NeedsDetach, match="requires grad") as raised:
        dlpackgo.stats.mean(Parameter())
    assert (str(raised.value), raised.value.__notes__) == ("requires grad", ["raised for stats.mean() argument x"])


@pytest.mark.case("P-1")
def test_a_proxy_is_asked_for_dlpack_before_any_side_door_is_tried() -> None:
    class Parameter:
        __array_interface__ = np.ones(3).__array_interface__

        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("detach it first")

        def __dlpack_device__(self) -> Any:
            return (CPU, 0)

    class Proxy:
        def __init__(self, wrapped: Any) -> None:
            self.wrapped = wrapped

        def __getattr__(self, name: str) -> Any:
            return getattr(self.wrapped, name)

    for take in (from_dlpack, dlpackgo.asarray, dlpackgo.stats.mean):
        with pytest.raises(BufferError, match="detach"):
            take(Proxy(Parameter()))
    assert dlpackgo.stats.mean(Proxy(np.arange(3.0))) == 1


def test_what_an_object_learns_later_is_seen() -> None:
    class Thing:
        pass

    thing: Any = Thing()
    with pytest.raises(TypeError):
        dlpackgo.asarray(thing)
    array = np.zeros(3)
    thing.__array_interface__ = array.__array_interface__
    assert dlpackgo.asarray(thing).data_ptr == array.ctypes.data
    thing.__dlpack__ = np.zeros(4).__dlpack__
    assert dlpackgo.asarray(thing).shape == (4,)
    del thing.__dlpack__
    Thing.__dlpack__ = lambda self, **_: np.zeros(5).__dlpack__()  # type: ignore[attr-defined]
    assert dlpackgo.asarray(thing).shape == (5,)

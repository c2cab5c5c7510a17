"""Device memory, whose producer alone can order streams and move the memory. Without a device: memory that nobody reads.

tests/cuda_standin has the same with CuPy and PyTorch.
"""

import sysconfig
import weakref
from typing import Any

import pytest
from harness.abi import CPU, CUDA, CUDA_MANAGED, METAL, ONE_API, ROCM, Device
from harness.capsules import peek
from harness.producers import Producer

import dlpackgo

IS_COPIED = 2
LATEST = (1, 3)


class Accelerator(Producer):
    """A library of a device: copies to the host when dl_device asks, and on the device when copy does."""

    flags_of_copies = 0

    def __init__(self, device: Device = (CUDA, 0), **options: Any) -> None:
        super().__init__((2, 3), device=device, **options)
        self.copies: list[Producer] = []

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        where = keywords.get("dl_device") or self.device
        if where == self.device and not keywords.get("copy"):
            return self.capsule(keywords.get("max_version"))
        self.copies.append(Producer((2, 3), device=where, flags=self.flags_of_copies))
        return self.copies[-1].capsule(keywords.get("max_version"))

    def take_asked(self) -> list[dict[str, Any]]:
        asked, self.asked = self.asked, []
        return asked


def imported(producer: Producer) -> Any:
    tensor = dlpackgo.from_dlpack(producer)
    producer.asked.clear()
    return tensor


# --- streams ---


@pytest.mark.case("ST-2")
@pytest.mark.parametrize(
    ("device", "stream"),
    [
        *((device, stream) for device in (CUDA, CUDA_MANAGED) for stream in (None, 1, 2, 3, 140737488355328, 2**64)),
        *((ROCM, stream) for stream in (None, 0, 3, 140737488355328)),
        (ONE_API, None), (ONE_API, "queue"), (ONE_API, 7), (METAL, 5),
    ],
)  # fmt: skip
def test_the_producer_is_asked_to_make_the_consumers_stream_wait(device: int, stream: Any) -> None:
    producer = Accelerator((device, 0))
    tensor = imported(producer)
    for exported in (tensor, tensor[1:], tensor.T, dlpackgo.from_dlpack(tensor)):
        fields = peek(exported.__dlpack__(stream=stream, max_version=LATEST))
        assert fields.device == (device, 0)
        (asked,) = producer.take_asked()
        assert asked["stream"] is stream
        assert asked["max_version"] >= (1, 0)
        assert set(asked) == {"stream", "max_version"}


def test_without_a_stream_the_producer_is_asked_for_the_default_one() -> None:
    producer = Accelerator()
    imported(producer).__dlpack__()
    assert producer.take_asked() == [{"stream": None, "max_version": LATEST}]


@pytest.mark.parametrize("device", [CUDA, CUDA_MANAGED, ROCM, ONE_API, METAL])
def test_minus_1_asks_for_no_order_and_nobody_is_asked(device: int) -> None:
    producer = Accelerator((device, 0))
    imported(producer).__dlpack__(stream=-1, max_version=LATEST)
    assert producer.asked == []


def test_host_memory_asks_its_producer_nothing() -> None:
    producer = Accelerator((CPU, 0))
    tensor = imported(producer)
    tensor.__dlpack__(stream=None, max_version=LATEST)
    tensor.__dlpack__(copy=True)
    assert producer.asked == []


def test_a_producer_from_before_max_version_is_asked_with_the_stream_alone() -> None:
    class Old(Producer):
        def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
            self.asked.append(stream)
            return self.capsule(None)

    class InCython(Old):
        """CuPy's, say: what Cython refuses has a frame of its own in the traceback."""

        def __dlpack__(self, stream: Any = None, **unknown: Any) -> Any:
            for name in unknown:
                raise TypeError(f"__dlpack__() got an unexpected keyword argument '{name}'")
            return super().__dlpack__(stream)

    for kind in (Old, InCython):
        producer = kind((3,), device=(CUDA, 0))
        tensor = imported(producer)
        tensor.__dlpack__(stream=7, max_version=LATEST)
        assert producer.asked == [7]


def test_a_producer_that_takes_no_stream_is_never_asked_without_one() -> None:
    class Streamless(Producer):
        def __dlpack__(self) -> Any:  # type: ignore[override]
            self.asked.append({})
            return self.capsule(None)

    producer = Streamless((3,), device=(CUDA, 0))
    tensor = imported(producer)
    with pytest.raises(TypeError, match="stream"):
        tensor.__dlpack__(stream=7, max_version=LATEST)
    assert producer.asked == []


@pytest.mark.parametrize("kind", [BufferError, RuntimeError, TypeError])
def test_the_producers_own_error_reaches_the_consumer_unchanged(kind: type[Exception]) -> None:
    errors = [kind("stream 2")]

    class Refusing(Accelerator):
        def __dlpack__(self, **keywords: Any) -> Any:
            if "stream" in keywords:
                self.asked.append(keywords)
                raise errors[0]
            return super().__dlpack__(**keywords)

    producer = Refusing()
    tensor = imported(producer)
    with pytest.raises(kind) as raised:
        tensor.__dlpack__(stream=2, max_version=LATEST)
    assert raised.value is errors[0]
    assert len(producer.asked) == 1
    del raised
    errors.clear()  # its traceback holds the tensor


@pytest.mark.parametrize(("device", "default", "others"), [(CUDA, 1, (2, 7)), (CUDA_MANAGED, 1, (2,)), (ROCM, 0, (7,)),
                                                           (ONE_API, None, ("queue", 7)), (METAL, None, (5,))])  # fmt: skip
def test_memory_without_a_producer_serves_the_default_stream_only(device: int, default: Any, others: Any) -> None:
    producer = Producer((3,), device=(device, 0))
    tensor: Any = dlpackgo.from_dlpack(producer.capsule(LATEST))
    for stream in (None, -1, default):
        assert peek(tensor.__dlpack__(stream=stream, max_version=LATEST)).data == producer.address
    for stream in others:
        with pytest.raises(BufferError, match="stream=-1"):
            tensor.__dlpack__(stream=stream, max_version=LATEST)
    del tensor
    assert producer.settle() == 1


def test_a_producer_that_closes_the_tensor_meanwhile_does_no_harm() -> None:
    class Closing(Accelerator):
        tensor: Any = None

        def __dlpack__(self, **keywords: Any) -> Any:
            if self.tensor is not None:
                self.tensor.close()
            return super().__dlpack__(**keywords)

    for keywords in ({"stream": 1}, {"dl_device": (CPU, 0)}, {"copy": True}):
        producer = Closing()
        tensor = producer.tensor = imported(producer)
        try:
            tensor.__dlpack__(max_version=LATEST, **keywords)
        except ValueError as refusal:
            assert "closed" in str(refusal)
        producer.tensor = None
        del tensor


class Front:
    """A producer that nothing but its users keeps alive; the memory is another one's."""

    def __init__(self, memory: Producer) -> None:
        self.memory = memory

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.memory.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Device:
        return self.memory.device


def test_tensors_keep_the_producer_and_exports_only_its_memory() -> None:
    memory = Accelerator()
    producer = Front(memory)
    gone = weakref.ref(producer)
    tensor: Any = dlpackgo.from_dlpack(producer)
    part = tensor[1:]
    del producer, tensor
    assert gone() is not None
    capsule = part.__dlpack__(max_version=LATEST)
    del part
    assert gone() is None
    deleted = memory.deleted
    del capsule
    assert memory.deleted == deleted + 1


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="memory goes with the last reference there"
)
def test_closing_lets_the_producer_go() -> None:
    producer = Front(Accelerator())
    gone = weakref.ref(producer)
    tensor: Any = dlpackgo.from_dlpack(producer)
    del producer
    assert gone() is not None
    tensor.close()
    assert gone() is None


# --- to the host ---


@pytest.mark.parametrize("copy", [None, True])
def test_a_consumer_on_the_host_gets_the_producers_copy(copy: bool | None) -> None:
    producer = Accelerator()
    tensor = imported(producer)
    for exported in (tensor, dlpackgo.from_dlpack(tensor)):
        producer.asked.clear()
        fields = peek(exported.__dlpack__(dl_device=(CPU, 0), copy=copy, max_version=LATEST))
        (asked,) = producer.take_asked()
        assert asked["dl_device"] == (CPU, 0)
        assert asked.get("copy") is copy
        assert asked.get("stream") is None
        assert (fields.device, (fields.flags or 0) & IS_COPIED) == ((CPU, 0), IS_COPIED)
        if copy is None:
            assert fields.data == producer.copies[-1].address


@pytest.mark.parametrize("stream", [1, 2, 7])
def test_the_consumers_stream_is_nothing_to_memory_on_the_host(stream: int) -> None:
    producer = Accelerator()
    tensor = imported(producer)
    assert peek(tensor.__dlpack__(dl_device=(CPU, 0), stream=stream, max_version=LATEST)).device == (CPU, 0)
    assert [asked.get("stream") for asked in producer.take_asked()] == [None]


def test_from_dlpack_brings_our_own_device_tensor_to_the_host() -> None:
    producer = Accelerator()
    tensor = imported(producer)
    for copy in (None, True):
        came = dlpackgo.from_dlpack(tensor, device="cpu", copy=copy)
        assert came.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError):
        dlpackgo.from_dlpack(tensor, device="cpu", copy=False)


def test_without_a_copy_device_memory_does_not_come_to_the_host() -> None:
    producer = Accelerator()
    with pytest.raises(BufferError):
        imported(producer).__dlpack__(dl_device=(CPU, 0), copy=False, max_version=LATEST)
    assert producer.copies == []


def test_a_view_of_device_memory_is_not_moved() -> None:
    producer = Accelerator()
    tensor = imported(producer)
    for part in (tensor[1:], tensor.T, tensor.reshape(6), dlpackgo.from_dlpack(tensor[0])):
        with pytest.raises(BufferError, match=r"device='cpu'"):
            part.__dlpack__(dl_device=(CPU, 0), max_version=LATEST)
        with pytest.raises(BufferError):
            dlpackgo.from_dlpack(part, device="cpu")
    assert producer.copies == []


def test_memory_without_a_producer_is_not_moved() -> None:
    producer = Producer((3,), device=(CUDA, 0))
    tensor: Any = dlpackgo.from_dlpack(producer.capsule(LATEST))
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(CPU, 0), max_version=LATEST)
    del tensor
    assert producer.settle() == 1


@pytest.mark.parametrize("device", [CUDA, ROCM, METAL])
def test_a_producer_that_leaves_the_memory_where_it_is_is_found_out(device: int) -> None:
    producer = Producer((3,), device=(device, 0))
    tensor = imported(producer)
    with pytest.raises(BufferError, match="was asked for"):
        tensor.__dlpack__(dl_device=(CPU, 0), max_version=LATEST)
    del tensor
    assert producer.settle() == len(producer.asked) + 1


# --- copies on the device ---


@pytest.mark.case("S-6")
@pytest.mark.parametrize("flag", [0, IS_COPIED])
def test_a_copy_on_the_device_is_believed_when_it_lies_elsewhere(flag: int) -> None:
    producer = Accelerator()
    producer.flags_of_copies = flag
    tensor = dlpackgo.from_dlpack(producer, copy=True)
    assert tensor.data_ptr == producer.copies[0].address
    assert tuple(tensor.device) == (CUDA, 0)
    producer.asked.clear()
    fields = peek(imported(producer).__dlpack__(copy=True, max_version=LATEST))
    assert (fields.device, fields.data) == ((CUDA, 0), producer.copies[-1].address)
    assert (fields.flags or 0) & IS_COPIED


@pytest.mark.case("S-6")
def test_memory_that_was_not_copied_is_not_passed_off_as_a_copy() -> None:
    producer = Producer((3,), device=(CUDA, 0))
    with pytest.raises(BufferError, match="copy=True"):
        dlpackgo.from_dlpack(producer, copy=True)
    assert producer.settle() == len(producer.asked)


# --- torch ---


def test_torch_is_told_that_the_stream_is_none_since_a_missing_one_means_no_order_there() -> None:
    def is_false(_: Any) -> bool:
        return False

    torch_like = type("Tensor", (Accelerator,), {"requires_grad": False, "is_conj": is_false, "is_neg": is_false})
    torch_like.__module__ = "torch"
    producer: Any = torch_like()
    dlpackgo.from_dlpack(producer)
    assert producer.take_asked() == [{"max_version": LATEST, "stream": None}]

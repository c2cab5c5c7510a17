"""``from_dlpack(x, /, *, device=None, copy=None)``."""

import ctypes
from typing import Any

import numpy as np
import pytest
from harness.abi import CPU, CUDA, CUDA_HOST, IS_COPIED, READ_ONLY, ROCM, DTypeTriple
from harness.capsules import peek
from harness.dtypes import RARE
from harness.exchange import type_with_table
from harness.producers import OldProducer, Producer, row_major

import dlpackgo


def copying_producer(shape: tuple[int, ...]) -> Producer:
    """A producer that honours copy=True: fresh memory, and the flag that says so."""

    class Copies(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            self.asked.append(keywords)
            self.flags = IS_COPIED if keywords.get("copy") else 0
            return self.capsule(keywords.get("max_version"))

    return Copies(shape)


@pytest.mark.case("K-2")
@pytest.mark.parametrize("kind", [Producer, OldProducer])
def test_a_copy_never_aliases_even_when_the_producer_ignores_the_request(kind: type[Producer]) -> None:
    producer = kind((2, 3), (8, 2), offset=8)
    tensor = dlpackgo.from_dlpack(producer, copy=True)
    assert tensor.tolist() == [[2, 4, 6], [10, 12, 14]]
    assert tensor.strides == (3, 1)
    assert not tensor.readonly
    assert tensor.data_ptr % 64 == 0
    producer.buffer[:] = [-1.0] * len(producer.buffer)
    assert tensor.tolist() == [[2, 4, 6], [10, 12, 14]]
    assert producer.settle() == 1, "the producer's memory is given back at once"
    if kind is Producer:
        assert producer.asked[0]["copy"] is True


@pytest.mark.case("K-2")
def test_a_copy_made_by_the_producer_is_not_copied_again() -> None:
    producer = copying_producer((3,))
    tensor = dlpackgo.from_dlpack(producer, copy=True)
    assert tensor.data_ptr == producer.address
    assert not tensor.readonly
    assert producer.deleted == 0
    del tensor
    assert producer.settle() == 1


class Meddling(Exception):
    pass


REFUSALS: dict[str, tuple[type[Exception], str]] = {
    "in the standard's way": (BufferError, "copy not yet supported"),
    "in TensorFlow's way": (RuntimeError, "no support for DLPack export with copy=True"),
    "for now": (NotImplementedError, "Copying is for later"),
    "in what it wraps": (TypeError, "__dlpack__() got an unexpected keyword argument 'copy'"),
}


class RefusesCopies(Producer):
    """Knows the keyword and answers it with an error; shares when it is asked to."""

    error: tuple[type[BaseException], str]

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        if keywords.get("copy"):
            raise self.error[0](self.error[1])
        return self.capsule(keywords.get("max_version"))


@pytest.mark.case("K-2", "V-2")
@pytest.mark.parametrize("keywords", [{"copy": True}, {"copy": True, "device": "cpu"}], ids=str)
@pytest.mark.parametrize("way", REFUSALS)
def test_what_a_producer_of_host_memory_refuses_to_copy_is_copied_here(way: str, keywords: dict[str, Any]) -> None:
    producer = RefusesCopies((2, 3), (8, 2), flags=READ_ONLY)
    producer.error = REFUSALS[way]
    tensor = dlpackgo.from_dlpack(producer, **keywords)
    assert tensor.tolist() == [[0, 2, 4], [8, 10, 12]]
    assert (tensor.strides, tensor.readonly) == ((3, 1), False)
    assert tensor.data_ptr != producer.address
    assert [asked.get("copy") for asked in producer.asked] == [True, None]
    assert producer.asked[1]["max_version"] >= (1, 0)
    assert producer.settle() == 1, "the producer's memory is given back at once"


@pytest.mark.case("K-2", "P-1")
@pytest.mark.parametrize(
    "error", [(BufferError, "requires grad"), (Meddling, "no"), (KeyboardInterrupt, "copy"), (OSError, "full")], ids=str
)
def test_an_error_that_is_not_about_the_copy_reaches_the_caller_after_one_call(error: Any) -> None:
    producer = RefusesCopies((3,))
    producer.error = error
    with pytest.raises(error[0], match=error[1]):
        dlpackgo.from_dlpack(producer, copy=True)
    assert len(producer.asked) == 1


@pytest.mark.case("K-2", "P-1")
def test_the_first_error_reaches_the_caller_where_sharing_is_refused_too() -> None:
    class Refuses(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            self.asked.append(keywords)
            raise BufferError("cannot copy what needs a gradient" if keywords.get("copy") else "needs a gradient")

    producer = Refuses((3,))
    with pytest.raises(BufferError, match="^cannot copy"):
        dlpackgo.from_dlpack(producer, copy=True)
    assert len(producer.asked) == 2


@pytest.mark.case("K-2")
@pytest.mark.parametrize("device", [(CUDA, 0), None], ids=str)
def test_a_refusal_to_copy_memory_that_is_not_known_to_be_the_hosts_is_final(device: Any) -> None:
    producer = RefusesCopies((3,), device=(CUDA, 0))
    producer.error = (BufferError, "copy not yet supported")
    producer.__dlpack_device__ = lambda: device  # type: ignore[method-assign]
    with pytest.raises(BufferError, match="copy not yet supported"):
        dlpackgo.from_dlpack(producer, copy=True)
    assert len(producer.asked) == 1


@pytest.mark.case("K-1")
def test_host_memory_of_a_device_is_copied_to_the_cpu_where_its_producer_refuses_to() -> None:
    class Pinned(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            self.asked.append(keywords)
            if "dl_device" in keywords:
                raise BufferError("only dl_device=None is supported")
            return self.capsule(keywords.get("max_version"))

    producer = Pinned((3,), device=(CUDA_HOST, 0))
    tensor = dlpackgo.from_dlpack(producer, device="cpu")
    assert (tuple(tensor.device), tensor.tolist()) == ((CPU, 0), [0, 1, 2])
    assert tensor.data_ptr != producer.address
    assert producer.settle() == 1
    with pytest.raises(BufferError, match="dl_device=None"):
        dlpackgo.from_dlpack(producer, device="cpu", copy=False)


@pytest.mark.case("K-2")
def test_copy_false_refuses_what_its_producer_copied_all_the_same() -> None:
    class Copies(Producer):
        def __dlpack__(self, *, max_version: Any = None) -> Any:  # type: ignore[override]
            return self.capsule(max_version)

    producer = Copies((3,), flags=IS_COPIED)
    with pytest.raises(BufferError, match="copy=False"):
        dlpackgo.from_dlpack(producer, copy=False)
    assert dlpackgo.from_dlpack(producer).tolist() == [0, 1, 2]
    assert producer.settle() == 2


@pytest.mark.case("K-2")
def test_a_capsule_made_as_a_copy_is_taken_without_another_one() -> None:
    capsule = dlpackgo.ones(3).__dlpack__(max_version=(1, 3), copy=True)
    assert dlpackgo.from_dlpack(capsule, copy=False).tolist() == [1, 1, 1]


@pytest.mark.case("V-2")
@pytest.mark.parametrize("keywords", [{"copy": True}, {"copy": False}, {"device": "cpu", "copy": False}], ids=str)
def test_a_producer_that_knows_max_version_alone_keeps_being_asked_for_it(keywords: dict[str, Any]) -> None:
    class OnlyVersion(Producer):
        def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:  # type: ignore[override]
            self.asked.append(max_version)
            return self.capsule(max_version)

    producer = OnlyVersion((3,))
    assert not dlpackgo.from_dlpack(producer, **keywords).readonly
    (asked,) = producer.asked
    assert asked >= (1, 0)
    assert producer.settle() == 1


@pytest.mark.case("K-2")
def test_copy_false_and_none_share() -> None:
    requests: tuple[dict[str, Any], ...] = ({}, {"copy": None}, {"copy": False})
    for keywords in requests:
        producer = Producer((3,))
        tensor = dlpackgo.from_dlpack(producer, **keywords)
        assert tensor.data_ptr == producer.address
        del tensor
        assert producer.settle() == 1


@pytest.mark.case("K-2")
def test_a_copy_of_read_only_memory_is_writable() -> None:
    producer = Producer((3,), flags=READ_ONLY)
    tensor = dlpackgo.from_dlpack(producer, copy=True)
    assert not tensor.readonly
    fields = peek(tensor.__dlpack__())
    assert fields.version is None
    assert producer.settle() == 1


@pytest.mark.case("K-2")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("rank", range(9))
def test_a_copy_keeps_the_dtype_and_packs_to_row_major(dtype: str, rank: int) -> None:
    array = (np.arange(2**rank) % 2).astype(dtype).reshape((2,) * rank).T[::-1] if rank else np.ones((), dtype)
    tensor = dlpackgo.from_dlpack(array, copy=True)
    assert tensor.dtype == dtype
    assert tensor.strides == tuple(row_major(array.shape))
    assert tensor.is_contiguous
    assert tensor.tolist() == array.tolist()
    assert tensor.data_ptr != array.ctypes.data


@pytest.mark.case("K-2", "T-3", "T-4")
@pytest.mark.parametrize("dtype", RARE, ids=str)
def test_a_copy_of_a_rare_type_keeps_every_bit(dtype: DTypeTriple) -> None:
    count = 8 if dtype[2] < 100 else 0
    producer = Producer((count,), dtype=dtype)
    try:
        tensor = dlpackgo.from_dlpack(producer)
    except BufferError:
        assert producer.settle() == 1
        return
    before = bytes(producer.buffer)[: tensor.nbytes]
    copies = (tensor.copy(), dlpackgo.from_dlpack(tensor, copy=True), dlpackgo.from_dlpack(producer, copy=True))
    for copied in copies:
        assert (copied.dtype, copied.nbytes, copied.readonly) == (tensor.dtype, tensor.nbytes, False)
        if count:
            assert copied.data_ptr != producer.address
            assert ctypes.string_at(copied.data_ptr, copied.nbytes) == before
    capsule = tensor.__dlpack__(copy=True, max_version=(1, 3))
    exported = peek(capsule)
    assert exported.dtype == dtype
    if count:
        assert ctypes.string_at(exported.data or 0, tensor.nbytes) == before
    del tensor, capsule
    assert producer.settle() == producer.described


@pytest.mark.case("K-2")
@pytest.mark.parametrize("dtype", [(4, 16, 1), (10, 8, 1), (2, 32, 4), (18, 32, 1)], ids=str)
def test_a_strided_copy_of_a_rare_type_takes_the_right_elements(dtype: DTypeTriple) -> None:
    size = dtype[1] * dtype[2] // 8
    producer = Producer((3,), (-2,), dtype, offset=4 * size)
    source = bytes(producer.buffer)
    copied = dlpackgo.from_dlpack(producer, copy=True)
    want = b"".join(source[i * size : (i + 1) * size] for i in (4, 2, 0))
    assert ctypes.string_at(copied.data_ptr, 3 * size) == want
    assert producer.settle() == 1


@pytest.mark.case("K-2", "Z-2")
def test_a_copy_of_an_empty_tensor_is_empty() -> None:
    tensor = dlpackgo.from_dlpack(Producer((0, 4), (9, 1), data=None), copy=True)
    assert (tensor.shape, tensor.tolist(), tensor.readonly) == ((0, 4), [], False)


@pytest.mark.case("K-2")
def test_a_copy_of_our_own_tensor_has_its_own_memory() -> None:
    tensor = dlpackgo.ones((3,))
    copied = dlpackgo.from_dlpack(tensor, copy=True)
    assert copied.data_ptr != tensor.data_ptr
    assert dlpackgo.from_dlpack(tensor).data_ptr == tensor.data_ptr
    assert dlpackgo.from_dlpack(tensor, copy=False).data_ptr == tensor.data_ptr


@pytest.mark.case("K-1")
def test_the_device_where_the_memory_lies_is_accepted_in_every_spelling() -> None:
    array = np.arange(3.0)
    here = dlpackgo.from_dlpack(array)
    spellings: tuple[Any, ...] = (None, (1, 0), here.device, "cpu", "cpu:0", (np.int32(1), np.int64(0)))
    for device in spellings:
        assert dlpackgo.from_dlpack(array, device=device).data_ptr == array.ctypes.data


@pytest.mark.case("K-1")
@pytest.mark.parametrize("device", [(CUDA, 0), (3, 99), (8, 0), (99, 0), (CPU, 1), (ROCM, 0)], ids=str)
@pytest.mark.parametrize("copy", [None, False, True])
def test_a_device_out_of_reach_is_a_buffer_error(device: tuple[int, int], copy: Any) -> None:
    for producer in (np.arange(3.0), dlpackgo.zeros((3,)), Producer((3,))):
        with pytest.raises(BufferError):
            dlpackgo.from_dlpack(producer, device=device, copy=copy)
        if isinstance(producer, Producer):
            assert producer.settle() == len(producer.asked)


@pytest.mark.case("K-1")
@pytest.mark.parametrize(
    "keywords",
    [*({"device": d} for d in (7, 1.0, "gpu?", (), (1,), (1, 0, 0), ("a", 0), (1, "b"), (1.0, 0), object())),
     {"device": "cpu:x"}, {"device": ""},
     *({"copy": c} for c in ("yes", "", 1.0, [], object(), 2)),
     {"bogus": 1}, {"stream": None}, {"x": 1}],
    ids=str,
)  # fmt: skip
def test_malformed_keywords_are_refused_before_the_producer_is_asked(keywords: Any) -> None:
    producer = Producer((3,))
    with pytest.raises((TypeError, ValueError)):
        dlpackgo.from_dlpack(producer, **keywords)
    assert producer.asked == []


def test_the_producer_is_positional_only_and_the_rest_by_keyword() -> None:
    call: Any = dlpackgo.from_dlpack
    for arguments, keywords in (((), {}), ((), {"x": np.zeros(1)}), ((np.zeros(1), (1, 0)), {}), ((1, 2, 3), {})):
        with pytest.raises(TypeError):
            call(*arguments, **keywords)


@pytest.mark.case("K-2")
@pytest.mark.parametrize("flags", [IS_COPIED, IS_COPIED | READ_ONLY])
def test_a_producer_that_copies_although_it_must_not_is_refused(flags: int) -> None:
    def by_capsule(producer: Producer) -> Any:
        return producer

    def by_table(producer: Producer) -> Any:
        return type_with_table(producer)()

    for lane in (by_capsule, by_table):
        producer = Producer((3,), flags=flags)
        with pytest.raises(BufferError, match="copy=False"):
            dlpackgo.from_dlpack(lane(producer), copy=False)
        assert producer.settle() == 1
        tensor = dlpackgo.from_dlpack(lane(producer))
        assert tensor.tolist() == [0, 1, 2]
        del tensor
        assert producer.settle() == 2


def test_a_capsule_made_with_a_copy_is_no_copy_of_the_importer() -> None:
    capsule = dlpackgo.ones((2,)).__dlpack__(copy=True, max_version=(1, 0))
    assert dlpackgo.from_dlpack(capsule, copy=False).tolist() == [1, 1]


@pytest.mark.case("K-2")
def test_a_copy_is_writable_even_when_the_producers_copy_is_not() -> None:
    producer = Producer((3,), flags=IS_COPIED | READ_ONLY)
    tensor = dlpackgo.from_dlpack(producer, copy=True)
    assert (tensor.readonly, tensor.data_ptr == producer.address) == (False, False)
    assert producer.settle() == 1


@pytest.mark.case("K-1")
@pytest.mark.parametrize(
    "name", ["cpu\0", "cpu\0x", "cpu:0\0", "cpu:+0", "cpu: 0", "cpu:-0", "cpu:-1", "cpu:0 ", " cpu", "CPU", ":0", "cpu:",
             "cpu:0:0", "cpu:0x0", "cpu:2147483648", "cpu:99999999999999999999", "\ud800"]
)  # fmt: skip
def test_a_device_name_is_read_to_its_end(name: str) -> None:
    with pytest.raises(ValueError, match="device|surrogates"):
        dlpackgo.from_dlpack(np.zeros(3), device=name)

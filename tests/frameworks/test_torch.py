"""PyTorch: one memory seen from both sides, and the tensors whose meaning is not in their memory."""

import gc
from typing import Any

import numpy as np
import pytest
from harness.dtypes import RARE, ROWS, TORCH_ROWS, Row
from harness.processes import run_python
from quirks_tests import QuirksTests

import dlpackgo
import dlpackgo.debug

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

SHAPE = (2, 3, 2, 1, 2, 2, 1, 2)
VIEWS: dict[str, Any] = {
    "whole": lambda a: a,
    "sliced": lambda a: a[(*[slice(None, None, 2)] * a.ndim, ...)],
    "transposed": lambda a: a.permute(tuple(reversed(range(a.ndim)))),
    "offset": lambda a: a[(*[slice(1, None)] * a.ndim, ...)],
    "repeated": lambda a: a.expand(2, *a.shape),
    "new axes": lambda a: a[None, ..., None],
}


def filled(shape: tuple[int, ...], row: Row) -> Any:
    count = int(np.prod(shape))
    values = torch.arange(count) % 2
    if row.name in ("float8_e8m0fnu",):  # has no zero
        values = values + 1
    return values.to(getattr(torch, row.name)).reshape(shape)


def torch_dtype(row: Row) -> Any:
    if not hasattr(torch, row.name):
        pytest.skip(f"this PyTorch has no {row.name}")
    try:
        torch.zeros(1, dtype=torch.uint8).view(
            getattr(torch, row.name) if row.itemsize == 1 else torch.uint8
        ).__dlpack__()
    except (BufferError, RuntimeError):
        pytest.skip(f"this PyTorch does not exchange {row.name}")
    return getattr(torch, row.name)


@pytest.mark.case("T-3", "T-4")
@pytest.mark.parametrize("row", TORCH_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("view", VIEWS)
def test_a_tensor_of_any_rank_is_shared_both_ways(view: str, row: Row) -> None:
    dtype = torch_dtype(row)
    for rank in range(9):
        theirs = VIEWS[view](filled(SHAPE[:rank], row))
        ours = dlpackgo.from_dlpack(theirs)
        assert ours.shape == tuple(theirs.shape)
        assert ours.dtype == dtype
        assert not ours.readonly
        if theirs.numel():
            assert ours.data_ptr == theirs.data_ptr()
            assert all(n < 2 or s == t for n, s, t in zip(theirs.shape, ours.strides, theirs.stride(), strict=True))
        for back in (torch.from_dlpack(ours), ours.torch()):
            assert (back.dtype, back.shape) == (dtype, theirs.shape)
            if theirs.numel():
                assert back.data_ptr() == theirs.data_ptr()


@pytest.mark.parametrize("row", TORCH_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 2)], ids=str)
def test_a_tensor_without_elements_is_shared_both_ways(shape: tuple[int, ...], row: Row) -> None:
    dtype = torch_dtype(row)
    ours = dlpackgo.from_dlpack(torch.empty(shape, dtype=dtype))
    assert (ours.shape, ours.dtype.name, ours.nbytes) == (shape, row.name, 0)
    assert torch.from_dlpack(ours).shape == shape


@pytest.mark.parametrize(
    "row", [row for row in TORCH_ROWS if row.numpy or row.name == "bfloat16"], ids=lambda r: r.name
)
def test_values_are_those_torch_reads(row: Row) -> None:
    dtype = torch_dtype(row)
    theirs = filled((3, 4), row)
    ours = dlpackgo.from_dlpack(theirs)
    assert ours.tolist() == theirs.tolist()
    assert ours[::2, 1].tolist() == theirs[::2, 1].tolist()
    assert dlpackgo.from_dlpack(theirs, copy=True).torch().dtype == dtype


@pytest.mark.parametrize("row", [row for row in TORCH_ROWS if row.numpy], ids=lambda row: row.name)
def test_our_tensors_are_torch_tensors_on_our_memory(row: Row) -> None:
    torch_dtype(row)
    for rank in range(9):
        ours = dlpackgo.zeros(SHAPE[:rank], dtype=row.name)
        theirs = torch.from_dlpack(ours)
        assert theirs.data_ptr() == ours.data_ptr
        theirs.fill_(1)
        assert set(np.asarray(ours).reshape(-1).tolist()) == {1}


@pytest.mark.case("C-5")
def test_either_side_keeps_the_memory_alive() -> None:
    theirs = torch.from_dlpack(dlpackgo.ones((1000,)))
    ours = dlpackgo.from_dlpack(torch.ones(1000))
    churn = [np.full(1000, 7.0) for _ in range(100)]
    assert set(theirs.tolist()) == {1.0}
    assert set(ours.tolist()) == {1.0}
    del churn


def test_memory_travels_from_numpy_through_us_to_torch_and_back() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    theirs = torch.from_dlpack(dlpackgo.from_dlpack(array))
    theirs[0, 0] = 42
    assert array[0, 0] == 42
    assert np.from_dlpack(dlpackgo.from_dlpack(theirs)).ctypes.data == array.ctypes.data


@pytest.mark.case("P-2")
def test_a_lazily_negated_tensor_is_never_read_with_the_wrong_sign() -> None:
    lazy = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert (lazy.is_neg(), lazy.tolist()) == (True, [-2, 4])
    for view, values in ((lazy, [-2, 4]), (lazy[1:], [4]), (torch._neg_view(torch.ones(2)), [-1, -1])):
        for copy in (None, True):
            try:
                got = dlpackgo.from_dlpack(view, copy=copy).tolist()
            except BufferError as refusal:
                assert "neg" in str(refusal)
            else:
                assert got == values


@pytest.mark.case("P-2")
@pytest.mark.parametrize("keywords", [{}, {"copy": True}, {"copy": False}], ids=str)
def test_a_lazily_conjugated_tensor_is_never_read_with_the_wrong_sign(keywords: dict[str, Any]) -> None:
    lazy = torch.tensor([1 + 2j]).conj()
    try:
        got = dlpackgo.from_dlpack(lazy, **keywords).tolist()
    except BufferError as refusal:
        assert "conj" in str(refusal)
    else:
        assert got == [1 - 2j]
    assert dlpackgo.from_dlpack(lazy.resolve_conj()).tolist() == [1 - 2j]


@pytest.mark.case("P-2")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, requires_grad=True),
        lambda: torch.nn.Parameter(torch.ones(2)),
        lambda: torch.ones(2, requires_grad=True) * 2,
        lambda: torch.nn.Linear(2, 2).weight,
    ],
    ids=["leaf", "parameter", "result", "weight"],
)
def test_a_tensor_that_needs_grad_is_refused_until_detached(make: Any) -> None:
    tensor = make()
    for copy in (None, True, False):
        with pytest.raises(BufferError, match="grad"):
            dlpackgo.from_dlpack(tensor, copy=copy)
    with pytest.raises(BufferError, match="grad"):
        dlpackgo.stats.mean(tensor)
    assert dlpackgo.from_dlpack(tensor.detach()).data_ptr == tensor.data_ptr()
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    assert dlpackgo.from_dlpack(frozen).data_ptr == frozen.data_ptr()


@pytest.mark.case("E-1")
def test_a_torch_subclass_that_refuses_is_not_bypassed() -> None:
    class Refusing(torch.Tensor):  # type: ignore[misc,name-defined]
        def __dlpack__(self, *_: Any, **__: Any) -> Any:
            raise BufferError("not this one")

    dlpackgo.from_dlpack(torch.ones(2))
    with pytest.raises(BufferError, match="not this one"):
        dlpackgo.from_dlpack(torch.ones(2).as_subclass(Refusing))


@pytest.mark.case("S-4")
def test_a_reversed_tensor_reaches_torch_as_an_error_or_with_the_right_values() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(4.0)[::-1])
    try:
        theirs = tensor.torch()
    except (BufferError, RuntimeError, ValueError):
        return
    assert theirs.tolist() == [3, 2, 1, 0]


@pytest.mark.case("RO-3")
def test_read_only_memory_is_refused_by_torch_or_not_written() -> None:
    array = np.arange(4.0)
    array.flags.writeable = False
    tensor = dlpackgo.from_dlpack(array)
    try:
        theirs = tensor.torch()
    except (BufferError, RuntimeError):
        return
    assert theirs.tolist() == [0, 1, 2, 3]  # torch has no read-only tensors; it warns, or says nothing


def test_torchs_own_keywords_reach_us() -> None:
    tensor = dlpackgo.ones((3,))
    try:
        copied = torch.from_dlpack(tensor, copy=True)
    except TypeError:
        pytest.skip("this torch.from_dlpack has no copy=")
    assert copied.data_ptr() != tensor.data_ptr
    assert torch.from_dlpack(tensor, copy=False).data_ptr() == tensor.data_ptr
    assert torch.from_dlpack(tensor, device="cpu").data_ptr() == tensor.data_ptr


def test_torch_memory_is_freed_with_the_last_tensor() -> None:
    import weakref

    theirs = torch.ones(10)
    gone = weakref.ref(theirs)
    storage = theirs.untyped_storage()._weak_ref() if hasattr(theirs.untyped_storage(), "_weak_ref") else None
    ours = dlpackgo.from_dlpack(theirs)
    del theirs
    assert ours.tolist() == [1.0] * 10
    del ours
    assert gone() is None
    if storage is not None:
        assert torch.UntypedStorage._expired(storage)
        torch.UntypedStorage._free_weak_ref(storage)


@pytest.mark.parametrize("setting", ["set_default_dtype(torch.float16)", "set_default_device('meta')"])
def test_the_first_tensor_is_taken_in_silence_whatever_the_defaults_of_torch_are(setting: str) -> None:
    run_python(f"""
import warnings, torch, dlpackgo
first = torch.ones(2, dtype=torch.float32, device="cpu")
torch.{setting}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    assert dlpackgo.from_dlpack(first).tolist() == [1, 1]
assert not said, said[0]
assert "PyTorch" in dlpackgo._core._open_lanes()
""")


def test_an_interrupt_while_the_first_tensor_is_looked_at_is_passed_on() -> None:
    run_python("""
import torch, dlpackgo
from torch.overrides import TorchFunctionMode

class Interrupting(TorchFunctionMode):
    def __torch_function__(self, function, *_):
        raise KeyboardInterrupt

first = torch.ones(2)
try:
    with Interrupting():
        dlpackgo.from_dlpack(first)
except KeyboardInterrupt:
    assert dlpackgo.from_dlpack(first).tolist() == [1, 1]
else:
    raise AssertionError("it was swallowed")
""")


def fake_tensor() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(3)


def wrapper_tensor() -> Any:
    class Wrapper(torch.Tensor):  # type: ignore[misc,name-defined]
        @staticmethod
        def __new__(cls, inner: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        @classmethod
        def __torch_dispatch__(cls, function: Any, *_: Any, **__: Any) -> Any:
            raise NotImplementedError(str(function))

    return Wrapper(torch.ones(3))


def python_functional_tensor() -> Any:
    from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode

    with FunctionalTensorMode():
        return FunctionalTensor.to_functional(torch.ones(3))


def released_tensor() -> Any:
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    return tensor


def uninitialized_buffer() -> Any:
    from torch.nn.parameter import UninitializedBuffer

    return UninitializedBuffer()


# How to make one, and what to do about it as the refusal says.
WITHOUT_MEMORY: dict[str, tuple[Any, str]] = {
    "fake": (fake_tensor, "outside of what is traced"),
    "functional": (lambda: torch._to_functional_tensor(torch.ones(3)), "torch._from_functional_tensor"),
    "functional of Python": (python_functional_tensor, "outside of what is traced"),
    "wrapper": (wrapper_tensor, "the tensor that it wraps"),
    "zero": (lambda: torch._efficientzerotensor(3), "tensor.clone()"),
    "masked": (
        lambda: torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False])),
        "tensor.to_tensor(value) or tensor.get_data()",
    ),
    "released": (released_tensor, "gather it first"),
}
WITHOUT_PLAIN_MEMORY: dict[str, tuple[Any, str]] = {
    "meta": (lambda: torch.ones(2, device="meta"), "torch.empty_like(tensor, device='cpu')"),
    "sparse": (lambda: torch.ones(2, 2).to_sparse(), "tensor.to_dense()"),
    "compressed": (lambda: torch.eye(2).to_sparse_csr(), "tensor.to_dense()"),
    "oneDNN": (lambda: torch.ones(2).to_mkldnn(), "oneDNN, which DLPack cannot say; pass tensor.to_dense()"),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8), "tensor.dequantize()"),
    "bits": (lambda: torch.ones(2, dtype=torch.uint8).view(torch.bits8), "tensor.view(torch.uint8)"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "tensor.unbind()"),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "tensor.unbind()",
    ),
    "uninitialized": (uninitialized_buffer, "call the module once"),
}


def words_of(error: BaseException) -> str:
    return "\n".join((str(error), *getattr(error, "__notes__", ())))


def refusals_of(tensor: Any) -> list[BaseException]:
    refusals: list[BaseException] = []
    for use in (dlpackgo.from_dlpack, dlpackgo.asarray, dlpackgo.stats.mean):
        with pytest.raises((BufferError, RuntimeError, ValueError)) as refused:
            use(tensor)
        refusals.append(refused.value)
    return refusals


def make(kind: str) -> tuple[Any, str]:
    maker, remedy = {**WITHOUT_MEMORY, **WITHOUT_PLAIN_MEMORY}[kind]
    try:
        return maker(), remedy
    except (ImportError, RuntimeError, AttributeError, TypeError):
        pytest.skip("this PyTorch makes no such tensor")


@pytest.mark.case("P-2")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", WITHOUT_MEMORY)
def test_a_tensor_without_memory_of_its_own_is_refused_with_what_to_pass_instead(kind: str) -> None:
    tensor, remedy = make(kind)
    for refusal in refusals_of(tensor):
        assert remedy in words_of(refusal)
        assert "descriptor is broken" not in words_of(refusal)


@pytest.mark.case("P-2")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", WITHOUT_PLAIN_MEMORY)
def test_a_refusal_of_torchs_own_is_kept_and_followed_by_what_to_pass_instead(kind: str) -> None:
    tensor, remedy = make(kind)
    with pytest.raises((BufferError, RuntimeError, ValueError)) as own:
        tensor.__dlpack__()
    for refusal in refusals_of(tensor):
        assert str(own.value).split("\n")[0][:40] in str(refusal) or kind == "uninitialized"
        assert remedy in refusal.__notes__[0]


def test_a_refusal_that_needs_no_more_words_gets_none() -> None:
    with pytest.raises(BufferError) as refused:
        dlpackgo.from_dlpack(torch.ones(2, requires_grad=True))
    assert not hasattr(refused.value, "__notes__")


def test_a_subclass_that_fails_whenever_it_is_asked_anything_gets_torchs_own_refusal() -> None:
    class Mute(torch.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_function__(cls, function: Any, *_: Any, **__: Any) -> Any:
            raise RuntimeError("ask me nothing")

    with pytest.raises(RuntimeError, match="ask me nothing"):
        dlpackgo.from_dlpack(torch.ones(2).as_subclass(Mute))


@pytest.mark.case("P-2")
def test_a_wrapper_that_answers_for_itself_is_copied_when_a_copy_is_asked_for() -> None:
    class Answers(torch.Tensor):  # type: ignore[misc,name-defined]
        @staticmethod
        def __new__(cls, inner: Any) -> Any:
            wrapper = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            wrapper.inner = inner
            return wrapper

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
            return function(*(getattr(a, "inner", a) for a in arguments), **(keywords or {}))

    assert dlpackgo.from_dlpack(Answers(torch.ones(3)), copy=True).tolist() == [1, 1, 1]


def test_a_tensor_under_a_function_transform_is_refused_with_where_to_go() -> None:
    def share(x: Any) -> Any:
        for refusal in refusals_of(x):
            assert "outside" in words_of(refusal)
            assert "torch.func" in words_of(refusal)
        return x.sum()

    torch.func.vmap(share)(torch.ones(2, 3))
    torch.func.functionalize(share)(torch.ones(3))
    torch.func.grad(share)(torch.ones(3))
    torch.func.jvp(share, (torch.ones(3),), (torch.ones(3),))


def test_a_lazy_clone_is_shared_with_a_memory_of_its_own() -> None:
    original = torch.ones(3)
    clone = torch._lazy_clone(original)
    tensor = dlpackgo.from_dlpack(clone)
    np.asarray(tensor)[:] = 5
    assert (clone.tolist(), original.tolist()) == ([5, 5, 5], [1, 1, 1])


@pytest.mark.case("T-3", "T-4")
@pytest.mark.parametrize("triple", [*(row.triple for row in ROWS), *RARE], ids=str)
@pytest.mark.parametrize("shape", [(3,), (0,)], ids=str)
def test_torch_takes_what_from_dlpack_takes_and_leaves_nothing_of_the_rest(shape: Any, triple: Any) -> None:
    """Its exchange API refuses a dtype before it owns the struct, which then nobody would free."""
    gc.collect()
    before = dlpackgo.debug.live()
    ours = dlpackgo.zeros(shape, dtype=triple)
    try:
        theirs = torch.from_dlpack(ours)
    except BufferError:
        for _ in range(3):
            with pytest.raises(BufferError):
                ours.torch()
    else:
        assert ours.torch().dtype == theirs.dtype
        del theirs
    ours.close()
    del ours
    assert dlpackgo.debug.live() == before


@pytest.mark.parametrize(
    "view", [slice(None, None, -1), (slice(None), slice(None, None, -2)), slice(0, 0, -1)], ids=str
)
def test_an_empty_tensor_has_no_direction(view: Any) -> None:
    assert dlpackgo.ones((3, 0))[view].torch().numel() == 0
    assert dlpackgo.ones((0, 3))[view].torch().numel() == 0


DEVICES_OF_NOBODY = """
import sys
from harness.producers import Producer
import dlpackgo, torch
devices = [3, 4, 7, 9, 11, 13, 15, 16, 18, 19, 20]
if not torch.accelerator.is_available():
    devices += [2, 8, 10, 12, 14, 17]
for device in devices:
    producer = Producer((3,), device=(device, 0))
    tensor = dlpackgo.from_dlpack(producer)
    try:
        tensor.torch()
    except BufferError as refused:
        assert "the installed PyTorch cannot use it" in str(refused), refused
    else:
        sys.exit(f"torch took device {device}")
    tensor.close()
    assert producer.settle() == 1, device
print("refused")
"""


def test_memory_on_a_device_that_torch_lacks_is_refused_before_torch_sees_it() -> None:
    """Of OpenCL's it would free the struct twice, which ends the process."""
    assert run_python(DEVICES_OF_NOBODY).stdout.strip() == "refused"


class TestQuirks(QuirksTests):
    name = "PyTorch"


def test_the_ways_that_torch_has_to_a_tensor_keep_shape_and_values_but_for_asarray() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(6.0).reshape(2, 3))
    for take in (dlpackgo.Tensor.torch, torch.from_dlpack, torch.as_tensor, torch.tensor):
        assert take(tensor).tolist() == tensor.tolist()
    assert torch.asarray(tensor).tolist() == list(range(6))  # by the buffer protocol, as of bytes

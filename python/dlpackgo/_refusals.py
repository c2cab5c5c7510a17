"""What to do about an array that was refused: asked for after the fact, so that no array that is taken pays for it.

Most refusals are the array's own library's, whose words say what it is and seldom what to pass instead. The core adds
what is said here as a note; it takes the place of the complaint where the library lets out a tensor without memory.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Test = Callable[[Any], bool]


def _named(*names: str) -> Test:
    """Whether one of these classes is the array's, or a base of it."""
    return lambda array: any(base.__name__ in names for base in type(array).__mro__)


def _functorch(array: Any) -> bool:
    from torch._C import _functorch

    return bool(_functorch.is_functorch_wrapped_tensor(array))


def _functional(array: Any) -> bool:
    import torch

    return bool(torch._is_functional_tensor(array))


def _dispatches(array: Any) -> bool:
    """Whether it is of a subclass that answers for every operation, and so needs no memory."""
    import torch

    return type(array).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


_OUTSIDE = "call this outside of what is traced (torch.compiler.disable, torch.library.custom_op)"

# The first that applies is said. What a test raises counts as no: some of these tensors answer hardly any question.
TORCH: tuple[tuple[Test, str], ...] = (
    (
        _named("FakeTensor"),
        "it is a fake tensor of torch.compile, torch.export or FakeTensorMode, which has a shape and no values; "
        f"{_OUTSIDE}, with a real tensor",
    ),
    (_named("FunctionalTensor"), f"it is a functional tensor of torch.compile or torch.export; {_OUTSIDE}"),
    (
        _functorch,
        "it is wrapped by a transformation of torch.func (vmap, grad, jvp, functionalize); call this outside of it, or by "
        "a torch.library.custom_op with rules for vmap and autograd",
    ),
    (_functional, "it is a functional tensor; pass torch._from_functional_tensor(tensor)"),
    (_named("DTensor"), "it is distributed; pass tensor.to_local() or tensor.full_tensor()"),
    (
        _named("MaskedTensor"),
        "it has a mask, which DLPack cannot say; pass tensor.to_tensor(value) or tensor.get_data()",
    ),
    (
        _named("UninitializedTensorMixin"),
        "its lazy module has not run yet, so that not even its shape is known; call the module once with a batch",
    ),
    (
        lambda t: t.is_nested,
        "it is nested, many tensors of different shapes; pass each of tensor.unbind(), or "
        "torch.nested.to_padded_tensor(tensor, value)",
    ),
    (lambda t: t.is_mkldnn, "its memory has a layout of oneDNN, which DLPack cannot say; pass tensor.to_dense()"),
    (
        lambda t: str(t.layout) != "torch.strided",
        "it is sparse, and its memory holds some of its elements only; pass tensor.to_dense(), or one by one the "
        "tensors that it is made of, such as tensor.values()",
    ),
    (
        lambda t: t.is_meta,
        "it is on the meta device, and has a shape and no values; pass a real one, such as "
        "torch.empty_like(tensor, device='cpu')",
    ),
    (
        lambda t: t.is_quantized,
        "it is quantized, which DLPack cannot say; pass tensor.dequantize(), or tensor.int_repr() with the scale and the "
        "zero point beside it",
    ),
    (
        lambda t: str(t.dtype).startswith("torch.bits"),
        "its dtype is bits without a meaning; pass tensor.view(torch.uint8)",
    ),
    (lambda t: t._is_zerotensor(), "it is a zero tensor of autograd, which holds no zeros; pass tensor.clone()"),
)

# Which module of torch serves the devices of a DLDeviceType.
TORCH_DEVICES = {2: "cuda", 8: "mps", 10: "cuda", 12: "privateuseone", 14: "xpu", 17: "maia"}


def torch_has_device(device_type: int) -> bool:
    """Whether torch can make a tensor of memory on a device of this type. Where torch is not installed, it says so later."""
    try:
        import torch
    except ImportError:
        return True
    name = TORCH_DEVICES.get(device_type)
    if name == "privateuseone":
        name = torch._C._get_privateuse1_backend_name()
    module = None if name is None else getattr(torch, name, None)
    return module is not None and bool(module.is_available())


# Asked where the tensor turned out to have no memory.
WITHOUT_MEMORY: tuple[tuple[Test, str], ...] = (
    *TORCH,
    (_dispatches, "it is a wrapper; pass the tensor that it wraps, or tensor.clone() where that gives a plain one"),
    (
        lambda t: t.untyped_storage().nbytes() == 0,
        "its storage was resized to nothing, as sharded training does between uses; gather it first",
    ),
    (lambda _: True, "pass tensor.clone() where that gives a plain tensor"),
)

NUMPY: tuple[tuple[Test, str], ...] = (
    (
        lambda a: a.dtype.type.__module__ == "ml_dtypes" and a.dtype.isnative,
        "NumPy exports no dtypes of ml_dtypes; dlpackgo.asarray(array) shares them without a copy",
    ),
    (lambda a: a.dtype.names is not None, "it has fields, each of which is an array; pass array[{field!r}]"),
    (
        lambda a: not a.dtype.isnative,
        "its bytes are in the other order; pass array.astype(array.dtype.newbyteorder('='))",
    ),
    (lambda a: a.dtype.kind in "mM", "dates and times are numbers underneath; pass array.view('int64')"),
    (lambda a: a.dtype.kind == "O", "it holds Python objects; where they are numbers, pass array.astype('float64')"),
    (lambda a: a.dtype.kind == "V", "its elements are bytes without a meaning; pass array.view('uint8')"),
    (lambda a: a.dtype.kind in "SUT", "it holds text; where that is of numbers, pass array.astype('float64')"),
    (lambda a: a.dtype.char == "g", "DLPack has no long double; pass array.astype('float64')"),
    (lambda a: a.dtype.char == "G", "DLPack has no long double; pass array.astype('complex128')"),
    (
        lambda a: any(stride % a.itemsize for stride in a.strides),
        "its elements do not lie whole elements apart; pass array.copy()",
    ),
)


def _apply(reasons: Iterable[tuple[Test, str]], array: Any) -> Iterator[str]:
    for applies, words in reasons:
        try:
            if applies(array):
                yield words
        except Exception:  # it cannot be asked
            continue


def explain(array: Any, without_memory: bool) -> str | None:
    """Say what to do about an array that was refused, of PyTorch or NumPy; None where there is nothing to add.

    without_memory: it is a torch tensor that let out a null pointer for its elements.
    """
    if without_memory:
        return f"this torch tensor has no memory of its own: {next(_apply(WITHOUT_MEMORY, array))}"
    if _named("ndarray")(array):
        words = next(_apply(NUMPY, array), None)
        return words and words.format(field=next(iter(array.dtype.names or ()), None))
    words = next(_apply(TORCH, array), None)
    return None if words is None else f"this torch tensor cannot be shared: {words}"

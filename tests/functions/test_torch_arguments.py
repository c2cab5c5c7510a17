"""Arguments that are torch tensors are read through torch's own C functions. What comes of it is what the other ways say."""

import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from harness.processes import run_python

import dlpackgo
from dlpackgo import stats

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

TORCH_DTYPES = sorted({str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}.items())


@pytest.fixture(autouse=True)
def lanes_open_again() -> Iterator[None]:
    yield
    dlpackgo._core._lanes(True)


def outcome(tensor: Any) -> Any:
    try:
        return repr(stats.mean(tensor))
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", None)


def on_both_ways(tensor: Any) -> tuple[Any, Any]:
    dlpackgo._core._lanes(True)
    fast = outcome(tensor)
    dlpackgo._core._lanes(False)
    return fast, outcome(tensor)


def test_the_lane_is_open_to_the_torch_that_is_installed() -> None:
    assert stats.mean(torch.ones(3)) == 1.0
    assert "PyTorch" in dlpackgo._core._open_lanes()


@pytest.mark.parametrize(
    "first",
    [
        """
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode(), contextlib.suppress(Exception):
            stats.mean(torch.ones(3))
        """,
        """
        with torch.device("meta"), torch.inference_mode():
            stats.mean(np.ones(3))
            with contextlib.suppress(Exception):
                stats.mean(torch.ones(3))
        """,
        """
        Fake = type("Tensor", (), {"__module__": "torch", "is_conj": None, "is_neg": None, "requires_grad": False})
        with contextlib.suppress(Exception):
            stats.mean(Fake())
        """,
    ],
    ids=["fake tensors", "on meta, for inference", "a stand-in for torch.Tensor"],
)
def test_the_lane_opens_although_the_first_tensor_is_no_plain_one(first: str) -> None:
    run_python(
        "import contextlib, torch, numpy as np, dlpackgo\nfrom dlpackgo import stats\n"
        + textwrap.dedent(first)
        + "assert stats.mean(torch.ones(3)) == 1.0\n"
        + "assert 'PyTorch' in dlpackgo._core._open_lanes()"
    )


@pytest.mark.parametrize(("name", "dtype"), TORCH_DTYPES, ids=[name for name, _ in TORCH_DTYPES])
def test_every_dtype_is_taken_or_refused_as_on_the_other_ways(name: str, dtype: Any) -> None:
    try:
        tensor = torch.ones(4, dtype=dtype)
    except (RuntimeError, TypeError, NotImplementedError):
        tensor = torch.zeros(8, dtype=torch.uint8)
        try:
            tensor = tensor.view(dtype)
        except (RuntimeError, TypeError, NotImplementedError):
            pytest.skip(f"torch makes no tensors of {name}")
    fast, slow = on_both_ways(tensor)
    assert fast == slow


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x,
        lambda x: x[1],
        lambda x: x[:, 1:, ::2],
        lambda x: x.permute(2, 0, 1),
        lambda x: x.permute(2, 0, 1)[1:, 1],
        lambda x: x[1:, 2:, 3:],
        lambda x: x[1, 2, 3],
        lambda x: x[:1].expand(5, 4, 5),
        lambda x: x.as_strided((3, 3), (1, 1), 7),
        lambda x: x[:, :0],
        lambda x: x.double(),
        lambda x: x.reshape([1] * 60 + [60]),
    ],
)
def test_every_layout_has_the_values_that_torch_sees(make: Any) -> None:
    tensor = make(torch.arange(60, dtype=torch.float32).reshape(3, 4, 5))
    fast, slow = on_both_ways(tensor)
    assert fast == slow
    if tensor.numel() > 0:
        assert float(fast) == pytest.approx(tensor.double().mean().item())


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(3, requires_grad=True),
        lambda: torch.nn.Parameter(torch.ones(3)),
        lambda: torch.ones(3, dtype=torch.complex64).conj(),
        lambda: torch.complex(torch.ones(3), torch.ones(3)).conj().imag,
        lambda: torch._neg_view(torch.ones(3)),
        lambda: torch._efficientzerotensor(3),
        lambda: torch.ones(3, device="meta"),
        lambda: torch.eye(3).to_sparse(),
        lambda: torch._to_functional_tensor(torch.ones(3)),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        lambda: torch.ones(3).to_mkldnn(),
    ],
)
def test_what_has_no_plain_memory_is_refused_in_the_same_words(make: Any, capfd: pytest.CaptureFixture[str]) -> None:
    tensor = make()
    capfd.readouterr()
    fast, slow = on_both_ways(tensor)
    assert isinstance(fast, tuple)
    assert fast == slow
    assert capfd.readouterr().err == ""


def test_a_tensor_inside_a_transformation_is_refused_in_the_same_words(capfd: pytest.CaptureFixture[str]) -> None:
    seen = []

    def function(x: Any) -> Any:
        seen.append(on_both_ways(x))
        return x * 2

    torch.func.vmap(function)(torch.ones(3, 2))
    torch.func.grad(lambda x: function(x).sum())(torch.ones(2))
    assert capfd.readouterr().err == ""
    for fast, slow in seen:
        assert isinstance(fast, tuple)
        assert fast == slow


def test_tensors_of_every_kind_go_together() -> None:
    numpy = pytest.importorskip("numpy")
    x = torch.ones(4, dtype=torch.float64)
    y = numpy.full(4, 2.0)
    z = dlpackgo.asarray([3.0] * 4)
    for a, b in ((x, y), (y, z), (z, x), (x, x)):
        assert dlpackgo.linalg.matmul(a, b) == 4 * float(a[0]) * float(b[0])

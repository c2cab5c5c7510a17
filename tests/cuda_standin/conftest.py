"""Every test of this folder exists twice: on the stand-in, and, marked gpu, on a real device."""

from collections.abc import Iterator
from typing import Any

import pytest
from cuda_libraries import LIBRARIES, Library
from cuda_variants import REAL_DEVICE, Cuda, load_standin, require

STANDIN = load_standin()


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def cuda(request: pytest.FixtureRequest) -> Iterator[Cuda]:
    if request.param == "gpu" and not REAL_DEVICE:
        pytest.skip("no GPU here; the same test runs on the stand-in")
    if request.param == "stand-in" and STANDIN is None:
        pytest.skip("nox -s cuda runs this on the stand-in for CUDA: it has to be built, and loaded before PyTorch")
    yield Cuda(STANDIN)


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def library(request: pytest.FixtureRequest, cuda: Cuda) -> Library:
    return require(request.param)


@pytest.fixture(params=LIBRARIES, ids=lambda library: f"to_{library.name}")
def consumer(request: pytest.FixtureRequest, cuda: Cuda) -> Library:
    return require(request.param)


@pytest.fixture
def standin(cuda: Cuda) -> Any:
    if cuda.standin is None:
        pytest.skip("about the stand-in itself")
    cuda.standin.clear()
    return cuda.standin

"""dlpackgo with cmd/core/faults.go in it: Go functions that fail, wait, allocate and keep tensors, for subprocesses to call."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.processes import run_python

import dlpackgo
import dlpackgo._core

ROOT = Path(__file__).resolve().parent.parent.parent

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _build(folder: Path) -> None:
    """Copies the package into the folder, with an extension module built from this checkout."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        toolchain = pytest.importorskip("toolchain", reason="the tools of the checkout are not here")
    finally:
        sys.path.pop(0)
    go = toolchain.find_go()
    if go is None or toolchain.missing():
        pytest.skip("Go, a C compiler and Python's headers are needed to build the module with the faults")
    installed = Path(dlpackgo._core.__file__ or "")
    shutil.copytree(installed.parent, folder / "dlpackgo", ignore=shutil.ignore_patterns("_core.*so", "__pycache__"))
    output = folder / "dlpackgo" / installed.name
    subprocess.run(
        [go, "build", "-buildmode=c-shared", "-tags=faults", "-ldflags=-s -w", "-o", str(output), "./cmd/core"],
        cwd=ROOT,
        env=toolchain.go_environment(),
        check=True,
    )


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH whose dlpackgo has dlpackgo._core.faults."""
    if hasattr(dlpackgo._core, "faults"):  # built with DLPACKGO_BUILD_FLAGS="-tags faults", as sanitizers do
        return Path(dlpackgo._core.__file__ or "").parent.parent
    folder = tmp_path_factory.mktemp("faults")
    _build(folder)
    return folder


PRELUDE = """
import dlpackgo
faults = dlpackgo._core.faults
"""


@pytest.fixture
def run_with_faults(package: Path) -> Run:
    """run_python with dlpackgo imported, and its faulty functions under the name faults."""

    def run(code: str, *, environment: dict[str, str] | None = None, **options: Any) -> Any:
        path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
        return run_python(PRELUDE + code, environment={"PYTHONPATH": path, **(environment or {})}, **options)

    return run

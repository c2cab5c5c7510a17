"""Runs every example as its reader would, each in a process of its own."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EXTENSIONS = ("operator", "compiler")
PROGRAMS = ("torch_to_tensorflow", "numpy_and_cupy", "swap_backend")
CUDA = Path("/dev/nvidiactl").exists() or find_spec("cudart_standin") is not None


def run(*arguments: object, **environment: str) -> str:
    """Run Python with these arguments and return what it printed."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", EXTENSIONS)
def test_an_extension_module_is_built_and_used(name: str, tmp_path: Path) -> None:
    """Its program runs on the module that was built just now."""
    pytest.importorskip("numpy")
    try:
        run(HERE / "build.py", name, tmp_path)
    except AssertionError as error:
        if "cannot build here" in str(error):
            pytest.skip(str(error))
        raise
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    print(run(HERE / name / "main.py", PYTHONPATH=path))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs(name: str) -> None:
    """With all the libraries that it imports; else it is skipped."""
    program = HERE / f"{name}.py"
    for module in re.findall(r"^import (\w+)", program.read_text(), re.MULTILINE):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    if "cupy" in name and not CUDA:
        pytest.skip("no GPU here, and no stand-in for one; nox -s cuda builds it")
    print(run(program))

"""What authors of Go functions can rely on: authors.py, run on an extension module of the tests' own making.

Two Go runtimes in one process are unsupported, so that the tests of authors.py run in a pytest of their own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dlpackgo
import dlpackgo._core

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with dlpackgo in it, whose extension module has the functions of extension/ and no others."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        toolchain = pytest.importorskip("toolchain", reason="the tools of the checkout are not here")
    finally:
        sys.path.pop(0)
    go = toolchain.find_go()
    if go is None or toolchain.missing():
        pytest.skip("Go, a C compiler and Python's headers are needed to build an extension module")
    folder = tmp_path_factory.mktemp("package")
    installed = Path(dlpackgo._core.__file__ or "")
    shutil.copytree(installed.parent, folder / "dlpackgo", ignore=shutil.ignore_patterns("_core.*so"))
    (folder / "dlpackgo" / "__init__.py").write_text("from . import debug\nfrom ._core import *\n")
    subprocess.run(
        [
            go,
            "build",
            "-buildmode=c-shared",
            "-o",
            str(folder / "dlpackgo" / installed.name),
            "./tests/pyglue/extension",
        ],
        cwd=ROOT,
        env=toolchain.go_environment(),
        check=True,
    )
    return folder


def test_functions_of_authors(package: Path) -> None:
    done = subprocess.run(
        # faulthandler before the first import: enabled later it stands before Go's handler of nil dereferences
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "pytest",
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
            str(HERE / "authors.py"),
        ],
        env=os.environ | {"PYTHONPATH": str(package)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    print(done.stdout[-10_000:], done.stderr[-3000:], sep="\n")
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("variable", "name", "complaint"),
    [
        ("MODULE", "Tensor", r'pyglue.Module("Tensor"): every extension module has a Tensor of its own'),
        ("MODULE", "from_dlpack", r'pyglue.Module("from_dlpack"): every extension module has a from_dlpack of its own'),
        ("MODULE", "a.b", r'panic: pyglue: Module("a.b"): the name has a dot in it'),
        ("MODULE", "", r'panic: pyglue: Module(""): the name is empty'),
        ("FUNCTION", "__doc__", "pyglue: authors.__doc__: every module has a __doc__ of its own; choose another name"),
        ("FUNCTION", "echo_int", "panic: pyglue: authors.echo_int: the function is declared twice"),
    ],
)
def test_a_declaration_that_cannot_work_ends_the_import_with_its_words(
    package: Path, variable: str, name: str, complaint: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import dlpackgo"],
        env=os.environ | {"PYTHONPATH": str(package), f"DLPACKGO_TEST_{variable}": name},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert complaint in done.stderr
    assert "panic" in complaint or "\nImportError: " in done.stderr


def test_functions_and_tensors_can_be_pickled_whatever_the_module_is_called(package: Path, tmp_path: Path) -> None:
    built = next((package / "dlpackgo").glob("_core.*so"))
    for folder, module in (("alone", "_core"), ("mine", "mine._core")):
        target = tmp_path / folder / Path(*module.split(".")).with_name(built.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built, target)
        public = f"{module.split('.')[0]}.authors"
        code = f"""
import importlib, pickle, sys
sys.path.insert(0, {str(tmp_path / folder)!r})
core = importlib.import_module({module!r})
assert "dlpackgo" not in sys.modules
function = core.authors.collect
assert pickle.loads(pickle.dumps(function)) == function
assert function.__module__ == {public!r}, function.__module__
tensor = pickle.loads(pickle.dumps(core.zeros((2, 3))))
assert tensor.shape == (2, 3) and type(tensor) is core.Tensor
"""
        subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], check=True, timeout=60)

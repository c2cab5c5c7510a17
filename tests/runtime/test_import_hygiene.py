"""What importing dlpackgo does to a process: as little as possible."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness.processes import run_python

import dlpackgo

EXTENSION = Path(getattr(importlib.util.find_spec("dlpackgo._core"), "origin", None) or "")

WORK = "t = dlpackgo.zeros((4,)); float(dlpackgo.stats.mean(t))"


def readelf(option: str) -> list[list[str]]:
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    done = subprocess.run(["readelf", option, str(EXTENSION)], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines() if line.split()]


def test_neither_numpy_nor_torch_nor_typing_is_imported() -> None:
    run_python(
        "import sys; before = set(sys.modules); import dlpackgo; from dlpackgo import linalg, stats, fft\n"
        f"{WORK}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "assert not new & {'numpy', 'torch', 'typing', 'ctypes', 'dataclasses', 'subprocess'}, new",
    )


@pytest.mark.parametrize("soft", [64, 256, 1024])
@pytest.mark.parametrize("work", ["pass", WORK])
def test_the_limit_of_open_files_stays_for_us_and_for_children(soft: int, work: str) -> None:
    run_python(
        f"""
import resource, subprocess, sys, os, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
limits = ({soft}, hard)
if os.environ.get("LOWERED") is None:  # the limit must be in place before the process starts
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {{"LOWERED": "1"}})
assert resource.getrlimit(resource.RLIMIT_NOFILE) == limits
ask = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
import dlpackgo
immediately = subprocess.run([sys.executable, "-S", "-c", ask], capture_output=True, text=True, close_fds=False).stdout
assert resource.getrlimit(resource.RLIMIT_NOFILE) == limits, "changed at import"
assert immediately.strip() == str(limits), ("a child at once", immediately)
{work}
for _ in range(20):
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == limits, "changed later"
    time.sleep(0.01)
later = subprocess.run([sys.executable, "-S", "-c", ask], capture_output=True, text=True).stdout
assert later.strip() == str(limits), ("a child later", later)
"""
    )


@pytest.mark.parametrize("work", ["pass", WORK])
def test_no_descriptor_is_opened(work: str) -> None:
    run_python(
        f"""
import os, time
def open_files():
    return {{fd: os.readlink(f"/proc/self/fd/{{fd}}") for fd in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{{fd}}")}}
before = open_files()
import dlpackgo
{work}
time.sleep(0.1)
assert open_files() == before, (before, open_files())
"""
    )


def test_environment_locale_umask_and_directory_stay() -> None:
    run_python(
        f"""
import locale, os, sys
def state():
    mask = os.umask(0o77); os.umask(mask)
    return dict(os.environ), locale.setlocale(locale.LC_ALL), mask, os.getcwd(), sys.getrecursionlimit(), sys.flags
before = state()
import dlpackgo
{WORK}
assert state() == before
"""
    )


@pytest.mark.case("GO-6")
def test_one_symbol_is_exported() -> None:
    symbols = [line for line in readelf("--dyn-syms") if len(line) >= 8 and line[4] in ("GLOBAL", "WEAK")]
    assert [line[7] for line in symbols if line[6] != "UND"] == ["PyInit__core"]


@pytest.mark.case("GO-6")
def test_neither_python_nor_numpy_is_linked() -> None:
    needed = [line[-1].strip("[]") for line in readelf("-dW") if "(NEEDED)" in line]
    assert needed
    assert [name for name in needed if "python" in name or "numpy" in name or "torch" in name] == []


@pytest.mark.case("GO-4")
def test_static_thread_local_storage_stays_small() -> None:
    sizes = [int(line[5], 16) for line in readelf("-lW") if line[0] == "TLS"]
    assert all(size <= 64 for size in sizes)


def test_the_stack_is_not_executable_and_relocations_are_read_only() -> None:
    headers = {line[0]: line for line in readelf("-lW")}
    assert "E" not in headers["GNU_STACK"][6]
    assert "GNU_RELRO" in headers


@pytest.mark.case("GO-3")
@pytest.mark.parametrize(
    "options",
    [(), ("-X", "faulthandler"), ("-I",), ("-X", "dev"), ("-b", "-W", "error"), ("-O", "-O"), ("-X", "importtime")],
)
def test_import_and_first_call_work_in_a_fresh_interpreter(options: tuple[str, ...]) -> None:
    run_python(f"import dlpackgo\n{WORK}\nassert dlpackgo.from_dlpack(t).tolist() == [0, 0, 0, 0]", options=options)


@pytest.mark.case("GO-3")
@pytest.mark.parametrize("first", ["numpy", "ctypes", "threading", "ssl", "sqlite3", "decimal"])
def test_other_modules_may_be_imported_before_and_after(first: str) -> None:
    run_python(f"import {first}, dlpackgo\n{WORK}")
    run_python(f"import dlpackgo, {first}\n{WORK}")


@pytest.mark.case("GO-3")
def test_the_first_import_and_the_first_call_may_happen_in_threads() -> None:
    run_python(
        f"""
import threading
from harness.processes import together
def first():
    import dlpackgo
    {WORK}
together(first, 8)
"""
    )


def test_reimport_gives_the_same_module() -> None:
    run_python(
        """
import importlib, sys, dlpackgo
tensor = dlpackgo.zeros((2,))
importlib.reload(dlpackgo)
for name in [name for name in sys.modules if name.startswith("dlpackgo")]:
    del sys.modules[name]
try:
    import dlpackgo as again
except ImportError as refusal:
    assert "once" in str(refusal) or "already" in str(refusal), refusal
else:
    assert again.from_dlpack(tensor).tolist() == [0, 0]
assert tensor.tolist() == [0, 0]
"""
    )


def test_a_subinterpreter_with_its_own_gil_is_refused_with_an_import_error() -> None:
    if sys.version_info < (3, 13):
        pytest.skip("interpreters with their own GIL are reached from Python since 3.13")
    run_python(
        """
import _interpreters
interpreter = _interpreters.create("isolated")
failed = _interpreters.run_string(interpreter, '''
try:
    import dlpackgo
except ImportError as refusal:
    assert "interpreter" in str(refusal), refusal
else:
    assert False, "imported"
''')
assert failed is None, failed
"""
    )


def test_import_takes_little_time() -> None:
    """Far above what is measured by bench/: this guards against importing NumPy or starting Go eagerly."""
    code = "import time; t = time.perf_counter(); import dlpackgo; print(time.perf_counter() - t)"
    fastest = min(float(run_python(code).stdout) for _ in range(5))
    assert fastest < 0.05


def test_the_version_is_one_and_the_same() -> None:
    from importlib.metadata import version

    assert dlpackgo.__version__ == version("dlpackgo")


def test_all_names_of_the_package_exist() -> None:
    for name in dlpackgo.__all__:
        assert getattr(dlpackgo, name) is not None
    assert set(dlpackgo.__all__) <= set(dir(dlpackgo))
    with pytest.raises(AttributeError, match="nonsense"):
        dlpackgo.nonsense  # noqa: B018

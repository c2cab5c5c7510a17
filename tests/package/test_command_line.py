"""python -m dlpackgo."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest


def dlpackgo_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "dlpackgo", *arguments], capture_output=True, text=True)


def test_info_tries_the_installed_libraries_in_both_directions() -> None:
    done = dlpackgo_command("info")
    assert done.returncode == 0, done.stderr
    cells = {line.split()[0]: line.split()[-2:] for line in done.stdout.splitlines() if line.endswith("zero-copy")}
    for library in ("numpy", "apache-tvm-ffi", "array-api-strict"):
        assert cells[library] == ["zero-copy", "zero-copy"], done.stdout
    if importlib.util.find_spec("torch"):
        assert cells["torch"] == ["zero-copy", "zero-copy"], done.stdout


def test_a_library_that_crashes_is_one_line_of_info(monkeypatch: pytest.MonkeyPatch) -> None:
    from dlpackgo import info

    library = info.LIBRARIES[0]
    monkeypatch.setattr(info.sys, "executable", "false")
    assert info._ask(library) == ["crashed with status 1"] * 2


def test_demo_shares_every_hop_and_writes_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    picture = tmp_path / "digits.png"
    done = dlpackgo_command("demo", f"--output={picture}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("same memory") == (5 if importlib.util.find_spec("torch") else 2)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_command_that_does_not_exist_is_refused_with_the_ones_that_do() -> None:
    done = dlpackgo_command("bake")
    assert done.returncode == 2
    assert "info" in done.stderr

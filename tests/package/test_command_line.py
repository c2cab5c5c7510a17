"""python -m dlpackgo."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dlpackgo import info
from dlpackgo.__main__ import main


def dlpackgo_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "dlpackgo", *arguments], capture_output=True, text=True)


@pytest.fixture
def two_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """info tries these only: all that are installed are tried by the tests of the frameworks."""
    monkeypatch.setattr(
        info, "LIBRARIES", [library for library in info.LIBRARIES if library.name in ("NumPy", "ml_dtypes")]
    )


def test_info_prints_one_line_for_each_library(two_libraries: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    printed = capsys.readouterr().out
    head, numpy, ml_dtypes = printed.splitlines()[3:6]
    assert len(head) <= 112
    assert (numpy.split()[0], numpy.split("any")[1].split()) == ("NumPy", ["both", "ways", "b", "i", "u", "f", "c"])
    assert ml_dtypes.split()[:1] + ml_dtypes.split()[2:4] == ["ml_dtypes", "asarray(x)", "t.numpy()"]
    assert "not installed: none" in printed
    assert "refused:" not in printed


def test_info_as_a_page_and_as_json_are_the_same_table(two_libraries: None, capsys: pytest.CaptureFixture[str]) -> None:
    main(["info", "--json"])
    rows = json.loads(capsys.readouterr().out)
    main(["info", "--markdown"])
    assert [row["library"] for row in rows] == ["NumPy", "ml_dtypes"]
    assert capsys.readouterr().out == info.markdown(rows)


def test_a_library_that_crashes_is_one_line_of_info_with_its_reason(
    two_libraries: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(info.sys, "executable", "false")
    main(["info"])
    printed = capsys.readouterr().out
    assert printed.splitlines()[4].split() == ["NumPy", np.__version__, *"-------"]
    assert "refused:\n  NumPy, crashed with status 1\n  ml_dtypes, crashed with status 1\n" in printed


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

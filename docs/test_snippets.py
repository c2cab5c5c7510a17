"""Runs every snippet of the README and of the pages in this folder. Each stands on its own.

Python runs as it stands. Go programs run too; those that Python loads are type-checked and vetted, and the one that a page
explains from its first line to its last becomes a wheel, and is used.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import toolchain  # noqa: E402

SNIPPET = re.compile(r"^```(python|go)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(language: str) -> list[Any]:
    found_here = []
    for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]:
        text = page.read_text()
        for found in SNIPPET.finditer(text):
            if found[1] == language:
                line = text.count("\n", 0, found.start()) + 2
                found_here.append(pytest.param(found[2], id=f"{page.relative_to(ROOT)}:{line}"))
    return found_here


@pytest.mark.parametrize("code", snippets("python"))
def test_python_snippet_runs(code: str, tmp_path: Path) -> None:
    for module in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        pytest.importorskip(module)
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True)


@pytest.mark.parametrize("code", snippets("go"))
def test_go_snippet_runs(code: str, tmp_path: Path) -> None:
    go = toolchain.find_go()
    if go is None:
        pytest.skip("no Go on PATH")
    program = tmp_path / "main.go"
    program.write_text(code)
    action = "vet" if "dlpackgo/pyglue" in code else "run"
    subprocess.run([go, action, str(program)], cwd=ROOT, env=toolchain.go_environment(), check=True)


def test_the_wheel_of_the_page_on_go_is_built_installed_and_used(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    go = toolchain.find_go()
    if go is None or toolchain.missing():
        pytest.skip("Go, a C compiler and Python's headers are needed")
    page = (ROOT / "docs" / "go.md").read_text()
    first = dict(reversed(re.findall(r"^```(go|c)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)))
    use_wheel, use_module = re.findall(r"^python3 -c '(.+)'$", page, re.MULTILINE)
    # In the tree, so that Go finds its modules, under a name that it leaves out of ./...
    with tempfile.TemporaryDirectory(prefix="_page", dir=ROOT / "docs") as folder:
        Path(folder, "main.go").write_text(first["go"])
        Path(folder, "module.c").write_text(first["c"])
        options = ["-name=mine", f"-python={sys.executable}", f"-o={tmp_path}"]
        command = [go, "run", "github.com/dlpackgo/dlpackgo/cmd/wheel", *options, "."]
        environment = {**toolchain.go_environment(), "CGO_CFLAGS": ""}  # for the command to find out
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", f"--target={site}", done.stdout.strip()]
    subprocess.run(install, check=True)
    for code, place in ((use_wheel, site), (use_module, site / "mine")):
        printed = subprocess.run([sys.executable, "-c", code], cwd=place, stdout=subprocess.PIPE, text=True, check=True)
        assert printed.stdout.count("3. 3. 3.") == 2 * (code == use_wheel) and "1.73" in printed.stdout
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", ON_ITS_OWN], cwd=site, check=True)


# A package of one's own speaks of itself, and needs no dlpackgo beside it, which would bring another Go runtime.
ON_ITS_OWN = """
import os, pickle, sys
import mine, numpy as np
import mine._refusals

sys.modules["dlpackgo"] = None  # cannot be imported

def error(function, *arguments):
    try:
        function(*arguments)
    except Exception as e:
        return " ".join([str(e), *getattr(e, "__notes__", [])])

tensor = mine.arange(3.0)
assert repr(tensor).startswith("<mine.Tensor [0.0,"), tensor
for one in (tensor.dtype, tensor.device):
    again = pickle.loads(pickle.dumps(one))
    assert type(again) is type(one) and again == one and repr(one).startswith("mine.D"), one
assert type(pickle.loads(pickle.dumps(tensor))) is type(tensor) is mine.Tensor
assert "use mine.asarray" in error(mine.from_dlpack, [1]) and "by mine.asarray" in error(mine.roots, [1])
assert "newbyteorder" in error(mine.from_dlpack, np.zeros(3, ">f4"))

if (child := os.fork()) == 0:
    os._exit("after mine was imported" not in error(mine.roots, tensor))
assert os.waitpid(child, 0)[1] == 0
"""

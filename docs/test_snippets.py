"""Runs every snippet of the README and of the pages in this folder. Each stands on its own.

Python runs as it stands. Go programs run too; those that Python loads are type-checked and vetted, and the one that a page
explains from its first line to its last is built and used.
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


def test_the_extension_module_of_the_page_on_go_is_built_and_used() -> None:
    pytest.importorskip("numpy")
    go = toolchain.find_go()
    if go is None or toolchain.missing():
        pytest.skip("Go, a C compiler and Python's headers are needed")
    page = (ROOT / "docs" / "go.md").read_text()
    first = dict(reversed(re.findall(r"^```(go|c)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)))
    use = re.findall(r"^python3 -c '(.+)'$", page, re.MULTILINE)[-1]
    # In the tree, so that Go finds its modules, under a name that it leaves out of ./...
    with tempfile.TemporaryDirectory(prefix="_page", dir=ROOT / "docs") as folder:
        Path(folder, "main.go").write_text(first["go"])
        Path(folder, "module.c").write_text(first["c"])
        library = Path(folder, "_core.abi3.so" if toolchain.ABI3 else "_core.so")
        command = [go, "build", "-buildmode=c-shared", "-o", str(library), "."]
        subprocess.run(command, cwd=folder, env=toolchain.go_environment(), check=True)
        done = subprocess.run([sys.executable, "-c", use], cwd=folder, stdout=subprocess.PIPE, check=True)
    assert done.stdout.count(b"3. 3. 3.") == 2 and b"[1.73" in done.stdout

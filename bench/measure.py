"""Measures one section of the catalogue, in this process, and prints the figures as JSON.

python measure.py KEY [--bars] [WORD ...] measures only the lines that have a bar, or a WORD in their names.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import catalogue
from timing import Contender, compare

PEERS = Path(sys.prefix) / "peers"


def module(name: str, **members: Any) -> ModuleType:
    """Members under one name, looked up at the least cost there is, so that no peer loses time on being found."""
    made = ModuleType(name)
    vars(made).update(members)
    return made


def without_getattr(imported: ModuleType) -> ModuleType:
    """A module less its __getattr__, with which CPython looks up every attribute the slow way: 35 ns more. Ours has none."""
    members = {name: value for name, value in vars(imported).items() if name != "__getattr__"}
    return module(imported.__name__, **members)


def libraries() -> dict[str, Any]:
    """The modules that the statements of the catalogue use, as far as they are installed and built."""
    names: dict[str, Any] = {}
    for name, imported in {"dlpackgo": "dlpackgo", "np": "numpy", "torch": "torch", "tvm_ffi": "tvm_ffi"}.items():
        with contextlib.suppress(ImportError):
            names[name] = importlib.import_module(imported)
    for part in ("dlpackgo.fft", "dlpackgo.linalg", "dlpackgo.stats", "numpy.fft", "numpy.linalg", "numpy.random"):
        importlib.import_module(part)
    names["go"] = names["dlpackgo"]._core.bench
    for name in ("nanobind", "pybind11", "dlpark", "pyo3_dlpack"):
        with contextlib.suppress(ImportError):
            names[name] = importlib.import_module(f"peer_{name}")
    with contextlib.suppress(OSError, KeyError):
        library = names["tvm_ffi"].load_module(str(PEERS / "peer_tvm.so"))
        names["tvm"] = module("tvm", **{name: library[name] for name in ("nothing", "scalars", "one", "three", "new")})
    return {name: without_getattr(imported) for name, imported in names.items()}


def other_go() -> dict[str, Any]:
    """Modules that have Go runtimes of their own."""
    names: dict[str, Any] = {}
    with contextlib.suppress(ImportError):
        gopy = importlib.import_module("peer_gopy")
        for part in ("vectors", "go"):
            importlib.import_module(f"peer_gopy.{part}")
        names["gopy"] = gopy
    with contextlib.suppress(OSError):
        library = ctypes.CDLL(str(PEERS / "plain.so"))
        library.Three.argtypes = [ctypes.c_void_p, ctypes.c_long] * 3
        names["plain"] = module("plain", Three=library.Three, Nothing=library.Nothing)
    return names


def check(names: Mapping[str, Any]) -> None:
    """See that every function that is called does what it is timed for: sizes that differ, and other dtypes, are refused."""
    np = names["np"]
    fits, short, single = np.zeros(3), np.zeros(2), np.zeros(3, dtype=np.float32)
    calls = [getattr(names[name], "three", None) for name in (*catalogue.PEER_NAMES, "go") if name in names]
    for call in filter(None, [*calls, names["go"].three_quick]):
        call(fits, fits, fits)
        for third in (short, single):
            try:
                call(fits, fits, third)
            except Exception:
                continue
            raise SystemExit(f"{call} takes {third.size} elements of {third.dtype} where it should refuse them")


def measure(section: catalogue.Section, words: list[str]) -> dict[str, dict[str, float]]:
    """The cost of every contender of every line. Peers that are not there are left out."""
    namespace = libraries()
    check(namespace)
    if section is catalogue.OTHER_GO:
        namespace |= other_go()
    for statement in ast.parse(section.setup).body:
        with contextlib.suppress(NameError):  # it makes arrays of a peer that is not there
            exec(compile(ast.Module([statement], []), "<setup>", "exec"), namespace)
    figures = {}
    for line in section.lines:
        if words and not any(word in line.name or (word == "--bars" and line.bar) for word in words):
            continue
        contenders = {}
        for name, timed in line.contenders().items():
            try:
                contenders[name] = Contender(timed, namespace)
            except NameError as error:
                print(f"{line.name}: {name} left out: {error}", file=sys.stderr)
        figures[line.name] = compare(contenders)
    return figures


if __name__ == "__main__":
    sys.path.append(str(PEERS))
    chosen = next(section for section in catalogue.SECTIONS if section.key == sys.argv[1])
    json.dump(measure(chosen, sys.argv[2:]), sys.stdout)

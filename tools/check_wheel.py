"""Checks a built wheel: its tag, its size, the licences in it, what it exports and what it is linked against."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import toolchain

MAXIMUM_SIZE = 2_000_000

# Whose code is in the extension module, by the folders of their licences.
COMPILED_IN = ("go", "gonum.org/v1/gonum", "github.com/x448/float16")


def faults(wheel: Path) -> Iterator[str]:
    """One sentence for each thing that is wrong with the wheel."""
    tag = f"{toolchain.ABI3_TAG}-abi3" if toolchain.ABI3 else f"cp3{sys.version_info[1]}-cp3{sys.version_info[1]}"
    if f"-{tag}-" not in wheel.name:
        yield f"its name is {wheel.name}, its tag should be {tag}"
    if wheel.stat().st_size > MAXIMUM_SIZE:
        yield f"it has {wheel.stat().st_size} bytes, more than {MAXIMUM_SIZE}"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        for owner in COMPILED_IN:
            if f"dlpackgo/licenses/{owner}/LICENSE" not in archive.namelist():
                yield f"the licence of {owner} is missing"
        libraries = [name for name in archive.namelist() if name.endswith(".so")]
        if len(libraries) != 1:
            yield f"it holds {libraries}, not one extension module"
            return
        yield from library_faults(archive.extract(libraries[0], folder))


def library_faults(library: str) -> Iterator[str]:
    """The part of faults that concerns the extension module."""
    exported = re.findall(r" [A-Z] (\S+)$", _output("nm", "-D", "--defined-only", library), re.MULTILINE)
    if exported != ["PyInit__core"]:
        yield f"it exports {exported}, not only PyInit__core"
    dynamic = _output("readelf", "-W", "-d", library)
    if "libpython" in dynamic:
        yield "it is linked against libpython, which a Python may not have"
    if "BIND_NOW" not in dynamic or "TEXTREL" in dynamic:
        yield "its relocations are not read-only after loading"
    segments = _output("readelf", "-W", "-l", library)
    if "GNU_RELRO" not in segments or re.search(r"GNU_STACK.*RWE", segments):
        yield "it lacks RELRO or has an executable stack"


def _output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    found = [f"{Path(sys.argv[1]).name}: {fault}" for fault in faults(Path(sys.argv[1]))]
    print("\n".join(found) or f"{Path(sys.argv[1]).name}: tag, size, licences, exports and links are as they should be")
    sys.exit(1 if found else 0)

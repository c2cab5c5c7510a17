"""Reads the C files with gcc's -fanalyzer and clang-tidy; 1 when they find something that is not in ACCEPTED.

python tools/analyze.py
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

import toolchain

# What was looked at and is none: file, check, and why.
ACCEPTED = {
    ("pyglue/tensor.c", "-Wanalyzer-malloc-leak"): "objects of the free list are counted, the analyzer cannot follow",
    ("pyglue/values.c", "-Wanalyzer-null-dereference"): "a tensor with elements has data, says the validator",
    (
        "safe/validate.c",
        "clang-analyzer-core.NullDereference",
    ): "with ndim above 0 there is a shape, a rule before says",
    (
        "safe/copy.c",
        "clang-analyzer-core.UndefinedBinaryOperatorResult",
    ): "a tensor that is not contiguous has an axis left",
    ("safe/copy.c", "bugprone-macro-parentheses"): "the argument is a case label",
}
CHECKS = (
    "-*,clang-analyzer-*,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-assignment-in-if-condition,"
    "-bugprone-reserved-identifier,-bugprone-branch-clone,-bugprone-implicit-widening-of-multiplication-result,"
    "-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling"
)


def findings(output: str) -> Iterator[tuple[str, str, str]]:
    """File, check and line of each warning in what a compiler wrote."""
    for line in output.splitlines():
        found = re.match(r"(?P<file>\S+?):\d+:\d+: (?:warning|error): .*\[(?P<check>[^\[\]]+)\]$", line)
        if found:
            yield found["file"].removeprefix(f"{toolchain.ROOT}/"), found["check"], line


def output_of(*command: str) -> str:
    """What a command writes to either stream, whatever it ends with."""
    done = subprocess.run(command, cwd=toolchain.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def main() -> int:
    """Run both over every file that is linked into the module."""
    flags = ["-std=gnu11", "-Wall", "-Wextra", *toolchain.cgo_flags()]
    folders = ("safe", "capsule", "pyglue")
    files = sorted(path for folder in folders for path in (toolchain.ROOT / folder).glob("*.c"))
    names = [str(path.relative_to(toolchain.ROOT)) for path in files]
    reports = []
    compiler = shlex.split(toolchain.find_compiler() or "gcc")
    for name in names:
        reports.append(output_of(*compiler, *flags, "-O1", "-fanalyzer", "-c", "-o", "/dev/null", name))
    tidy = next((name for name in ("clang-tidy", "clang-tidy-19") if shutil.which(name)), None)
    if tidy:
        reports.append(output_of(tidy, "--quiet", f"--checks={CHECKS}", *names, "--", *flags))
    else:
        print("clang-tidy is not installed: only -fanalyzer ran", file=sys.stderr)
    found = findings("\n".join(reports))
    unknown = [line for file, check, line in found if (file, check.split(" ")[-1]) not in ACCEPTED]
    print("\n".join(unknown) or f"{len(names)} C files: nothing found that was not known")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())

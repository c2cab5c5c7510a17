"""Reads the C files with gcc's -fanalyzer and clang-tidy; 1 when they find something that is not in ACCEPTED.

python tools/analyze.py
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

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


def report(names: list[str], flags: list[str]) -> str:
    """What both say about the files."""
    compiler = shlex.split(toolchain.find_compiler() or "gcc")
    reports = [output_of(*compiler, *flags, "-O1", "-fanalyzer", "-c", "-o", "/dev/null", name) for name in names]
    tidy = find_tidy()
    if tidy:
        reports.append(output_of(tidy, "--quiet", f"--checks={CHECKS}", *names, "--", *flags))
    return "\n".join(reports)


def find_tidy() -> str | None:
    """A clang-tidy, by one of the names that Debian gives it."""
    return next((name for name in ("clang-tidy", "clang-tidy-20", "clang-tidy-19") if shutil.which(name)), None)


def blind(flags: list[str]) -> set[str]:
    """The tools that do not find a fault which is one, with these flags."""
    expected = {"-fanalyzer": "-Wanalyzer-double-free", "clang-tidy": "clang-analyzer-unix.Malloc"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "fault.c")
        file.write_text("#include <stdlib.h>\nvoid f(void *p);\nvoid f(void *p)\n{\n    free(p);\n    free(p);\n}\n")
        said = report([str(file)], flags)
    return {tool for tool, check in expected.items() if check not in said}


def main() -> int:
    """Run both over every file that is linked into the module."""
    # With -flto gcc would analyze when it links, and never here.
    flags = ["-std=gnu11", "-Wall", "-Wextra", *(flag for flag in toolchain.cgo_flags() if flag != "-flto")]
    unable = blind(flags)
    if unable - {"clang-tidy"} or (unable and find_tidy()):
        print(f"does not find a double free: {', '.join(sorted(unable))}", file=sys.stderr)
        return 1
    if unable:
        print("clang-tidy is not installed: only -fanalyzer runs", file=sys.stderr)
    folders = ("safe", "capsule", "pyglue")
    files = sorted(path for folder in folders for path in (toolchain.ROOT / folder).glob("*.c"))
    names = [str(path.relative_to(toolchain.ROOT)) for path in files]
    found = findings(report(names, flags))
    unknown = [line for file, check, line in found if (file, check.split(" ")[-1]) not in ACCEPTED]
    print("\n".join(unknown) or f"{len(names)} C files: nothing found that was not known")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())

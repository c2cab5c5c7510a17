"""Build the extension module of an example, with the Go that also builds dlpackgo.

    python examples/build.py operator [FOLDER]

The module is called _core and lies in FOLDER, out/operator unless told otherwise. It has a Go runtime and a Tensor type
of its own: use it in a process that does not import dlpackgo.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import toolchain  # noqa: E402


def main() -> None:
    """Build the example that the command line names."""
    name = sys.argv[1]
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "out" / name).resolve()
    go, problems = toolchain.find_go(), toolchain.missing()
    if go is None or problems:
        sys.exit("\n".join(["cannot build here: Go, a C compiler and Python's headers are needed", *problems]))
    suffix = ".abi3.so" if toolchain.ABI3 else ".so"
    command = [go, "build", "-buildmode=c-shared", "-o", str(folder / f"_core{suffix}"), f"./examples/{name}"]
    subprocess.run(command, cwd=ROOT, env=toolchain.go_environment(), check=True)


if __name__ == "__main__":
    main()

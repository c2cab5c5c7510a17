"""Build the stand-in for the CUDA runtime, and install it as the package cudart_standin into the Python that runs this.

    python build.py [cupy-14.2.0.tar.gz]

Needs gcc, g++ and nm, and whatever of CuPy and PyTorch (built for CUDA 13) is to run on it. For CuPy also Cython,
setuptools and CuPy's source archive of the same version, which pip fetches where none is named.
"""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "standin"
PACKAGE = Path(sysconfig.get_path("platlib"), "cudart_standin")
RUNTIME, DRIVER = "libcudart.so.13", "libcuda.so.1"
RUNTIME_SOURCES = ("device", "log", "memory", "stream", "torch")
# Wheels of CuPy have the version of CUDA in their names.
CUPY_DISTRIBUTIONS = ("cupy-cuda12x", "cupy-cuda13x", "cupy")


def run(*command: object, cwd: Path | None = None) -> str:
    """Run a command and return what it printed."""
    arguments = [str(argument) for argument in command]
    print("+", Path(arguments[0]).name, arguments[-1], flush=True)
    done = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}\n{arguments[0]} ended with {done.returncode}")
    return done.stdout


def symbols(option: str, files: Iterable[Path]) -> set[str]:
    """The names that nm lists, without their versions."""
    listing = run("nm", option, *files)
    return {line.split()[-1].partition("@")[0] for line in listing.splitlines() if " " in line}


def wanted_by_torch() -> set[str]:
    """The functions that PyTorch's libraries expect of CUDA; none where PyTorch is not installed."""
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return set()
    listing = run("nm", "-D", "--undefined-only", *sorted(Path(torch.origin).parent.glob("lib/*.so")))
    if "@libcudart.so." in listing and f"@{RUNTIME}" not in listing:
        sys.exit("this PyTorch is built for another CUDA than 13, whose structs differ from the stand-in's")
    return set(re.findall(r" U ((?:__)?cu(?:da)?[A-Z]\w*)(?:@libcudart\S*)?$", listing, re.MULTILINE))


def build_library(name: str, sources: Iterable[str], missing: Iterable[str], folder: Path, *link: object) -> None:
    """Build one library of these sources; functions that are missing in them answer cudaErrorNotSupported."""
    compile_c = ("gcc", "-std=gnu11", "-O1", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", SOURCES, "-c")
    objects = [folder / f"{source}.o" for source in sources]
    for target in objects:
        run(*compile_c, SOURCES / f"{target.stem}.c", "-o", target)
    lacking = sorted(set(missing) - symbols("--defined-only", objects))
    stubs = folder / f"missing_{name}.c"
    lines = [f'int {function}(void) {{ return standin_missing("{function}"); }}' for function in lacking]
    stubs.write_text("\n".join(["int standin_missing(const char *name);", *lines, ""]))
    run("gcc", "-fPIC", "-shared", "-pthread", *objects, stubs, "-o", PACKAGE / name, f"-Wl,-soname,{name}", *link)


def build_libraries(folder: Path) -> None:
    """Build the runtime and the driver under the names that PyTorch looks for."""
    wanted = wanted_by_torch()
    of_driver = {name for name in wanted if re.match(r"cu[A-Z]", name)}
    versions = folder / "versions.map"
    versions.write_text(f"{RUNTIME} {{ global: *; }};\n")
    build_library(RUNTIME, RUNTIME_SOURCES, wanted - of_driver, folder, f"-Wl,--version-script={versions}")
    build_library(DRIVER, ["driver"], of_driver, folder, "-L", PACKAGE, f"-l:{RUNTIME}", "-Wl,-rpath,$ORIGIN")


def installed(distribution: str) -> str | None:
    """The version that is installed, if any."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def cupy_version() -> str | None:
    """The version of CuPy, under whichever name it is installed."""
    return next(filter(None, map(installed, CUPY_DISTRIBUTIONS)), None)


def fetch_sources(release: str, folder: Path) -> Path:
    """The part of CuPy's sources that its runtime module is made of."""
    archive = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    if archive is None:
        os.environ["CUPY_INSTALL_USE_STUB"] = "1"  # lets pip read CuPy's metadata on a machine without CUDA
        exact = ("--no-deps", "--no-binary=:all:", "--no-build-isolation", f"--dest={folder}", f"cupy=={release}")
        run(sys.executable, "-m", "pip", "download", "--quiet", *exact)
        archive = next(folder.glob("cupy-*.tar.gz"))
    backends = f"cupy-{release}/cupy_backends/"
    with tarfile.open(archive) as sources:
        members = [
            member
            for member in sources.getmembers()
            if member.name.startswith(backends) and member.name.endswith((".pxd", ".pxi", ".h", "/runtime.pyx"))
        ]
        sources.extractall(folder, members, filter="data")
    return folder / f"cupy-{release}"


def build_cupy_runtime(release: str, folder: Path) -> None:
    """Compile CuPy's own runtime module, unchanged, against the stand-in in place of NVIDIA's static library."""
    sources = fetch_sources(release, folder)
    api = sources / "cupy_backends/cuda/api"
    declared = set(re.findall(r"\b(cuda[A-Z]\w*)\(", (SOURCES / "cuda_runtime.h").read_text()))
    wanted = set(re.findall(r"\b(cuda[A-Z]\w*)\(", (api / "_runtime_extern.pxi").read_text()))
    stubs = [
        f'static inline cudaError_t {name}(...) {{ return standin_missing("{name}"); }}'
        for name in sorted(wanted - declared)
    ]
    (folder / "missing_for_cupy.h").write_text("\n".join([*stubs, ""]))
    (folder / "cuda_profiler_api.h").touch()
    module = "cupy_backends.cuda.api.runtime"
    defines = "CUPY_CUDA_VERSION=13000,CUPY_HIP_VERSION=0,CUPY_USE_CUDA_PYTHON=False"
    translate = (sys.executable, "-m", "cython", "-3", "--cplus", "-w", sources, "--module-name", module, "-E", defines)
    run(*translate, "-I", ".", "-o", "runtime.cpp", "cupy_backends/cuda/api/runtime.pyx", cwd=sources)
    includes = [sysconfig.get_path("include"), SOURCES, folder, sources / "cupy_backends", api]
    target = PACKAGE / f"runtime{sysconfig.get_config_var('EXT_SUFFIX')}"
    flags = ["-O1", "-w", "-fPIC", "-shared", *(f"-I{include}" for include in includes)]
    run("g++", *flags, sources / "runtime.cpp", "-o", target, "-L", PACKAGE, f"-l:{RUNTIME}", "-Wl,-rpath,$ORIGIN")


def digest() -> str:
    """What the package is made from: these sources, and the versions of the libraries."""
    state = hashlib.sha256(f"{cupy_version()} {installed('torch')}".encode())
    for path in [Path(__file__), *sorted(SOURCES.iterdir())]:
        if path.is_file():
            state.update(path.read_bytes())
    return state.hexdigest()


def main() -> None:
    """Build everything that the libraries of this Python need, unless that has been done."""
    stamp = PACKAGE / "built-from.txt"
    if stamp.exists() and stamp.read_text() == digest():
        return
    PACKAGE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_libraries(folder)
        release = cupy_version()
        if release is not None:
            build_cupy_runtime(release, folder)
    (PACKAGE / "__init__.py").write_text((SOURCES / "cudart_standin.py").read_text())
    stamp.write_text(digest())
    print(f"installed {PACKAGE}")


if __name__ == "__main__":
    main()

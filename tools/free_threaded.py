"""Builds the free-threaded CPython 3.13 of Debian's source package: python tools/free_threaded.py FOLDER [--tsan].

For machines that no registry offers a 3.13t to. It takes about 3 minutes on 2 cores. FOLDER/bin/python3 is the result; it is
left as it is when it is there already. --tsan builds with clang and ThreadSanitizer: a module whose C is built with
clang -fsanitize=thread can be run on it. CPython's list of its own races that are known comes to FOLDER/share/tsan.supp.

Needs a Debian with apt, its archive keyring of 2025 or later, make, a C compiler and zlib's, libffi's and OpenSSL's headers.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

RELEASE, PACKAGE = "trixie", "python3.13"
HEADERS = ("zlib1g-dev", "libffi-dev", "libssl-dev", "pkg-config")


def mirror() -> str:
    """The archive from which this machine installs Debian."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    if not found:
        raise SystemExit("apt knows no archive of Debian: run apt-get update first, on a Debian")
    return min(found, key=len)


def fetch_source(folder: Path) -> Path:
    """Unpack the source package, with lists of apt's own in the folder so that the machine's stay as they are."""
    (folder / "lists" / "partial").mkdir(parents=True)
    sources = folder / "sources.list"
    sources.write_text(f"deb-src {mirror()} {RELEASE} main\n")
    options = [
        f"-oDir::Etc::SourceList={sources}",
        "-oDir::Etc::SourceParts=-",
        f"-oDir::State::Lists={folder / 'lists'}",
        "-oAPT::Sandbox::User=root",
    ]
    subprocess.run(["apt-get", *options, "-q", "update"], check=True)
    subprocess.run(["apt-get", *options, "-q", "source", "--download-only", PACKAGE], cwd=folder, check=True)
    archive = next(path for path in folder.glob(f"{PACKAGE}_*.orig.tar.*") if path.suffix != ".asc")
    shutil.unpack_archive(archive, folder / "source")
    return next((folder / "source").iterdir())


def build(source: Path, prefix: Path, tsan: bool) -> None:
    """Configure, make and install."""
    environment = dict(os.environ)
    left_out = ["--without-static-libpython", "--disable-test-modules", "--with-ensurepip=no"]
    options = ["--disable-gil", f"--prefix={prefix}", *left_out]
    if tsan:
        clang = next((name for name in ("clang", "clang-20", "clang-19", "clang-18") if shutil.which(name)), None)
        if clang is None:
            raise SystemExit("--tsan needs clang (Debian: apt install clang-19 libclang-rt-19-dev)")
        options.append("--with-thread-sanitizer")
        environment |= {"CC": clang, "TSAN_OPTIONS": "report_bugs=0", "LDSHARED": f"{clang} -shared -fsanitize=thread"}
    subprocess.run([str(source / "configure"), "-q", *options], cwd=source, env=environment, check=True)
    subprocess.run(["make", "-s", f"-j{os.cpu_count()}"], cwd=source, env=environment, check=True)
    subprocess.run(["make", "-s", "install", "COMPILEALL_OPTS=-j0 -q"], cwd=source, env=environment, check=True)
    if tsan:
        shutil.copy(source / "Tools" / "tsan" / "suppressions_free_threading.txt", prefix / "share" / "tsan.supp")


def main() -> None:
    """Build into the folder, unless a Python that works is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tsan", action="store_true")
    arguments = parser.parse_args()
    prefix = arguments.folder.resolve()
    python = prefix / "bin" / "python3"
    check = [str(python), "-c", "import ctypes, ssl, zlib, sys; sys.exit(sys._is_gil_enabled())"]
    if python.exists() and subprocess.run(check, env=os.environ | {"TSAN_OPTIONS": "report_bugs=0"}).returncode == 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        build(fetch_source(Path(folder)), prefix, arguments.tsan)
    subprocess.run(check, env=os.environ | {"TSAN_OPTIONS": "report_bugs=0"}, check=True)


if __name__ == "__main__":
    main()

"""Versions, and what each installed library exchanges with dlpackgo, tried live in both directions.

Each library is tried in a process of its own: one that crashes, hangs or takes a minute to start is one line here.
"""

import json
import platform
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import dlpackgo

from ._libraries import LIBRARIES, Library
from ._probe import COLUMNS, Probe, Row, failed, reason_of

TIME_LIMIT = 180  # seconds for one library; TensorFlow's first import can take one minute on a slow disk

LEGEND = """\
import, export: the capsule that comes from and goes to the library. Legacy ones cannot tell whether memory may be written to: \
what they bring is read-only here, and read-only tensors do not go by them.
zero-copy: the memory has the same address on both sides.
dtypes: b i u f c bf f8 are bool, signed and unsigned integers, floats of 16 to 64 bits, complex, bfloat16, \
float8 (e4m3fn and e5m2); one of a family has its bits.
read-only: whether the library keeps the mark of a read-only tensor, or drops it and could write.
strides: the layouts that it takes; permuted is row-major with its axes in another order.
empty: tensors without elements."""


def probe(name: str) -> int:
    """Try one library in this process and print its row as JSON."""
    library = next(library for library in LIBRARIES if library.name == name)
    try:
        row = Probe(library).row()
    except Exception as error:
        row = failed(library, reason_of(error))
    print(json.dumps(row), flush=True)
    return 0


def ask(library: Library) -> Row:
    """The row of a library, from a process of its own."""
    command = [sys.executable, "-m", "dlpackgo", "info", "--probe", library.name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
        row: Row = json.loads(done.stdout.strip().rpartition("\n")[2])
    except subprocess.TimeoutExpired:
        return failed(library, f"no answer in {TIME_LIMIT} s")
    except ValueError:
        return failed(library, f"crashed with status {done.returncode}")
    return row


def rows(*names: str) -> Iterator[Row]:
    """The rows of all libraries that are installed, or of these, two processes at a time."""
    wanted = [library for library in LIBRARIES if library.installed and (not names or library.name in names)]
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield from pool.map(ask, wanted)


def markdown(table: Iterable[Row]) -> str:
    """The rows as a table for a page: the library and its version are one cell."""
    columns = [column for column in COLUMNS if column != "version"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in table:
        cells = [f"{row['library']} {row['version']}", *(row[column] for column in columns[1:])]
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    terms = [f"*{term}*:{meaning}" for term, _, meaning in (line.partition(":") for line in LEGEND.splitlines())]
    return "\n".join([*lines, "", f"<sub>{' '.join(terms)}</sub>", ""])


def report(form: str = "text") -> int:
    """Print the live table: as text with versions and reasons, as "markdown" or as "json"."""
    if form == "markdown":
        print(markdown(rows()), end="")
    elif form == "json":
        print(json.dumps(list(rows()), indent=1))
    else:
        _print_text()
    return 0


def _print_text() -> None:
    print(f"dlpackgo {dlpackgo.__version__}, DLPack 1.3")
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}\n")
    layout = (
        "{library:16} {version:13} {import:9} {export:11} {zero-copy:9} {read-only:9} {strides:11} {empty:9} {dtypes}"
    )
    print(layout.format(**{column: column for column in COLUMNS}))
    reasons = []
    for row in rows():
        print(layout.format(**{column: cell.replace("`", "") for column, cell in row.items()}), flush=True)
        reasons += [f"{row['library']}, {line}" for line in row["reasons"].splitlines()]
    absent = [library.name for library in LIBRARIES if not library.installed]
    print(f"\nnot installed: {', '.join(absent) or 'none'}")
    if reasons:
        print("\nrefused:")
    for reason in reasons:
        print(f"  {reason}")
    print()
    for line in LEGEND.splitlines():
        print(textwrap.fill(line, 100, subsequent_indent="  "))

"""What the libraries exchange, recorded live in matrix.json, and the README's table, which is written from it.

    python tests/frameworks/matrix.py [NAME ...]    # tries what is installed, or these; keeps the rows of the others

nox -s frameworks-table does so in every environment that it takes. info knows all libraries; here are the two that need
the tests' help: an extension for nanobind, and the stand-in for CUDA where there is no GPU.
"""

import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path

import nanobind_extension

from dlpackgo import info
from dlpackgo._libraries import LIBRARIES
from dlpackgo._probe import Probe, Row

HERE = Path(__file__).resolve().parent
RECORD = HERE / "matrix.json"
README = HERE.parent.parent / "README.md"
BEGIN, END = "<!-- written by nox -s frameworks-table -->\n", "<!-- end of what is written -->\n"


def name_of(row: Row) -> str:
    """The name of a row, here and in the table of quirks: NumPy has two."""
    return "NumPy 1.26" if row["library"] == "NumPy" and row["version"].startswith("1.") else row["library"]


def live(*names: str) -> dict[str, Row]:
    """The rows of what is installed, or of these libraries, by name."""
    rows = {row["library"]: row for row in info.rows(*names)}
    if "nanobind" in rows:
        rows["nanobind"] = Probe(nanobind_extension.LIBRARY).row()
    if "CuPy" in rows and _put_stand_in_under_cupy():
        cupy = next(library for library in LIBRARIES if library.name == "CuPy")
        row = Probe(cupy).row()
        rows["CuPy"] = row | {"note": f"{row['note']}; tried on a stand-in for CUDA"}
    return {name_of(row): row for row in rows.values()}


def _put_stand_in_under_cupy() -> bool:
    if Path("/dev/nvidiactl").exists() or importlib.util.find_spec("cudart_standin") is None:
        return False
    importlib.import_module("cudart_standin")
    return True


def recorded() -> dict[str, Row]:
    """The rows of matrix.json, by name."""
    rows: list[Row] = json.loads(RECORD.read_text()) if RECORD.exists() else []
    return {name_of(row): row for row in rows}


def block() -> str:
    """What stands between the marks in the README."""
    return f"{BEGIN}\n{info.markdown(recorded().values())}\n"


def readme(text: str) -> str:
    """The README with its table written anew."""
    before, _, rest = text.partition(BEGIN)
    return before + block() + END + rest.partition(END)[2]


def main(*names: str) -> None:
    """Record what is installed, and write the README's table."""
    rows = recorded() | live(*names)
    order = [library.name for library in LIBRARIES]
    table = sorted(rows.values(), key=lambda row: (order.index(row["library"]), name_of(row)))
    text = json.dumps(table, indent=1) + "\n"
    RECORD.write_text(re.sub(r"0x[0-9a-f]{6,}", "0x...", text))  # addresses, which differ each time
    README.write_text(readme(README.read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])

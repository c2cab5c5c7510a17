"""The table of quirks, read from quirks.toml. Run as a program, it writes docs/frameworks.md."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "frameworks.md"

FAMILIES = {
    "int": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "float": ("float16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "float8": ("float8_e4m3fn", "float8_e5m2"),
}
DTYPES = ("bool", *FAMILIES["int"], *FAMILIES["float"], *FAMILIES["complex"], "bfloat16", *FAMILIES["float8"])


@dataclass(frozen=True)
class Quirks:
    """One row: a library, and what it does."""

    name: str
    distribution: str
    tested: str
    gives: str
    access: str = ""
    copy: str = ""
    to_cpu: str = ""
    given: str = ""
    taken: str = ""
    takes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def takes_layout(self, layout: str) -> str:
        """What becomes of a Tensor of this layout: shared, copied, or refused with an exception."""
        return self.takes.get(layout, "shared")


def expand(families: str) -> list[str]:
    """The dtypes that the words of given or taken stand for."""
    return [dtype for word in families.split() for dtype in FAMILIES.get(word, (word,))]


def file_name(name: str) -> str:
    """The part of a test file's name that stands for a library."""
    known = {
        "PyTorch": "torch",
        "NumPy 1.26": "numpy",
        "array-api-strict": "array_api_strict",
        "CuPy": "device_exchange",
    }
    return known.get(name, name.lower().replace(" ", "").replace("-", "_"))


def read() -> dict[str, Quirks]:
    """The rows by name."""
    table: dict[str, dict[str, Any]] = tomllib.loads((HERE / "quirks.toml").read_text())
    return {name: Quirks(name, **row) for name, row in table.items()}


def _row(quirks: Quirks) -> str:
    given = f"{quirks.gives}, {quirks.access}" if quirks.access else quirks.gives
    exceptions = ", ".join(f"{layout} {what.partition(':')[0]}" for layout, what in quirks.takes.items())
    taken = "no way in" if not quirks.taken else exceptions or "everything shared"
    return f"| {quirks.name} | {quirks.tested} | {given} | {quirks.given or '-'} | {taken} | {quirks.taken or '-'} |"


def page() -> str:
    """docs/frameworks.md."""
    rows = list(read().values())
    lines = [
        "# Frameworks",
        "",
        "What each library gives to `dlpackgo.from_dlpack`, and what it does with a Tensor. Every cell is a test, run",
        "against the versions named here (`nox -s frameworks`, CuPy: `nox -s cuda`). `python -m dlpackgo info` tries what",
        "is installed where you are; the [README](../README.md#with-which-libraries) has its lines, as they were last seen.",
        "",
        "<!-- written by tests/frameworks/quirks.py from quirks.toml -->",
        "",
        "| library | tested | gives | dtypes given | takes a Tensor | dtypes taken |",
        "|---|---|---|---|---|---|",
        *map(_row, rows),
        "",
        "*Legacy* capsules cannot say that their memory may be written to, so what they bring is read-only here.",
        "*Shared* is proven by the address. `int`, `float`, `complex` and `float8` are the families: 8 to 64 bits of both signs,",
        "16 to 64 bits, 64 and 128 bits, e4m3fn and e5m2.",
    ]
    for quirks in rows:
        lines += ["", f"## {quirks.name}", "", *(f"- {note}" for note in quirks.notes)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page())

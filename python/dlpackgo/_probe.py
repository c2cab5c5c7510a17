"""What one library exchanges with dlpackgo, tried live. Every cell comes from an exchange in this process."""

import string
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

import dlpackgo

from ._libraries import Library

COLUMNS = ("library", "version", "import", "export", "zero-copy", "dtypes", "read-only", "strides", "empty", "note")
NONE = "-"

Row = dict[str, str]
"""The cells of one library by column, and under "reasons" what it refused and why, one line each."""

FAMILIES = {
    "b": ("bool",),
    "i": ("int8", "int16", "int32", "int64"),
    "u": ("uint8", "uint16", "uint32", "uint64"),
    "f": ("float16", "float32", "float64"),
    "c": ("complex64", "complex128"),
    "bf": ("bfloat16",),
    "f8": ("float8_e4m3fn", "float8_e5m2"),
}
DTYPES = tuple(dtype for family in FAMILIES.values() for dtype in family)

LAYOUTS: dict[str, Callable[[dlpackgo.Tensor], dlpackgo.Tensor]] = {
    "transposed": lambda tensor: tensor.T,
    "every other": lambda tensor: tensor[::2, ::2],
    "reversed": lambda tensor: tensor[::-1],
}
# How a set of layouts that are shared is called.
STRIDES = {
    (): "row-major",
    ("transposed",): "permuted",
    ("transposed", "every other"): "no negative",
    ("transposed", "every other", "reversed"): "any",
}


class _Spy:
    """A tensor that remembers which capsule it was asked for."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.asked = NONE

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked = "versioned" if keywords.get("max_version") else "legacy"
        return self.tensor.__dlpack__(**keywords)


class Probe:
    """One library, imported into this process."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.module = library.load()
        self.reasons: dict[str, str] = {}  # by what was refused
        self.gives = False
        self.on_host = True

    def row(self) -> Row:
        """Try everything and tell what came of it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imported, given = self._import()
            exported, taken = self._export()
            cells = {
                "library": self.library.name,
                "version": installed_version(self.library),
                "import": imported,
                "export": exported,
                "zero-copy": _directions(given == "shared", taken == "shared"),
                "dtypes": self._dtypes(),
                "read-only": self._read_only(),
                "strides": self._strides(),
                "empty": _directions(*self._empty()),
                "note": self.library.note,
            }
        return cells | {"reasons": "\n".join(f"{kind}: {reason}" for kind, reason in self.reasons.items())}

    # --- what it gives ---

    def array(self, shape: Sequence[int] = (4, 6), dtype: str | None = None) -> Any:
        """An array that the library made, of zeros."""
        return self.library.zeros(self.module, shape, dtype or self.library.dtype)

    def given(self, shape: Sequence[int] = (4, 6), dtype: str | None = None) -> str:
        """Whether a Tensor of an array of the library is its memory; names of dtypes must agree."""
        array = self.array(shape, dtype)
        tensor = self.library.give(array)
        if tensor.shape != tuple(shape) or tensor.dtype != (dtype or self.library.dtype):
            return "changed"
        return "shared" if 0 in shape or tensor.data_ptr == self.library.address(array) else "copied"

    def _import(self) -> tuple[str, str]:
        outcome = self._outcome("import", self.given)
        if outcome == "refused":
            return NONE, outcome
        self.gives = True
        array = self.array()
        self.on_host = self.library.give(array).device == dlpackgo.zeros(1).device
        if self.library.way_out:
            return self.library.way_out, outcome
        try:
            capsule = array.__dlpack__(max_version=(1, 3))
        except TypeError:  # it is older than that keyword
            return "legacy", outcome
        return ("versioned" if "versioned" in repr(capsule) else "legacy"), outcome

    # --- what it takes ---

    def tensor(self, shape: Sequence[int] = (4, 6), dtype: str | None = None) -> dlpackgo.Tensor:
        """A Tensor for the library to take: memory of dlpackgo, or on another device of the library itself."""
        if self.on_host:
            return dlpackgo.zeros(tuple(shape), dtype=dtype or self.library.dtype)
        return self.library.give(self.array(shape, dtype))

    def take(self, tensor: Any) -> Any:
        """The library's array of a Tensor."""
        if self.library.take is None:
            raise TypeError("it has no function that takes a tensor")
        return self.library.take(self.module, tensor)

    def taken(self, tensor: dlpackgo.Tensor) -> str:
        """Whether the library's array of a Tensor is its memory."""
        return "shared" if self.library.address(self.take(tensor)) == tensor.data_ptr else "copied"

    def _export(self) -> tuple[str, str]:
        if self.library.take is None:
            return NONE, "refused"
        outcome = self._outcome("export", lambda: self.taken(self.tensor()))
        if outcome == "refused" or self.library.way_in:
            return self.library.way_in or NONE, outcome
        spy = _Spy(self.tensor())
        self._outcome("export of another object with __dlpack__", self._takes_spy, spy)
        return spy.asked, outcome

    def _takes_spy(self, spy: _Spy) -> str:
        self.take(spy)
        return "taken"

    # --- the other cells ---

    def _dtypes(self) -> str:
        given = {dtype for dtype in DTYPES if _tried(self._gives_dtype, dtype) in ("shared", "copied")}
        taken = {dtype for dtype in DTYPES if _tried(self._takes_dtype, dtype) in ("shared", "copied")}
        return exchanged(given, taken)

    def _gives_dtype(self, dtype: str) -> str:
        return self.given(dtype=dtype)

    def _takes_dtype(self, dtype: str) -> str:
        tensor = self.tensor(dtype=dtype)
        if self.gives and self.library.give(self.take(tensor)).dtype != dtype:
            return "changed"
        return self.taken(tensor)

    def _read_only(self) -> str:
        return NONE if self.library.take is None else self._outcome("read-only", self._mark)

    def _mark(self) -> str:
        """What becomes of the mark of a read-only Tensor that the library takes."""
        tensor = dlpackgo.from_dlpack(self.tensor().__dlpack__())  # a legacy capsule counts as read-only
        array = self.take(tensor)
        if self.library.address(array) != tensor.data_ptr:
            return "copied"
        flags: Any = getattr(array, "flags", None)
        writable = flags.writeable if hasattr(flags, "writeable") else not self.library.give(array).readonly
        return "dropped" if writable else "kept"

    def _strides(self) -> str:
        if self.library.take is None:
            return NONE
        outcomes = {layout: self._outcome(layout, self._takes_layout, layout) for layout in LAYOUTS}
        shared = tuple(layout for layout, outcome in outcomes.items() if outcome == "shared")
        if not shared and "copied" in outcomes.values():
            return "copied"
        return STRIDES.get(shared, ", ".join(shared))

    def _takes_layout(self, layout: str) -> str:
        return self.taken(LAYOUTS[layout](self.tensor()))

    def _empty(self) -> tuple[bool, bool]:
        gives = self.gives and self._outcome("empty import", self.given, (0, 3)) == "shared"
        takes = self.library.take is not None and self._outcome("empty export", self._takes_empty) == "taken"
        return gives, takes

    def _takes_empty(self) -> str:
        array = self.take(self.tensor((0, 3)))
        return "changed" if self.gives and self.library.give(array).shape != (0, 3) else "taken"

    def _outcome(self, kind: str, action: Callable[..., str], *operands: Any) -> str:
        """What came of it; the reason of a refusal is kept."""
        try:
            return action(*operands)
        except Exception as error:
            self.reasons[kind] = reason_of(error)
            return "refused"


def _tried(action: Callable[[str], str], operand: str) -> str:
    try:
        return action(operand)
    except Exception:
        return "refused"


def reason_of(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def failed(library: Library, reason: str) -> Row:
    """The row of a library that could not be tried."""
    cells = dict.fromkeys(COLUMNS, NONE)
    return cells | {
        "library": library.name,
        "version": installed_version(library),
        "note": library.note,
        "reasons": reason,
    }


def exchanged(given: set[str], taken: set[str]) -> str:
    """The dtypes that go in both directions, and which go in one only; all of them where there is one direction."""
    if not given or not taken:
        return in_families(given | taken)
    both = in_families(given & taken)
    also = (("import", given - taken), ("export", taken - given))
    return "; ".join([both, *(f"{direction} also {in_families(more)}" for direction, more in also if more)])


def in_families(dtypes: Iterable[str]) -> str:
    """Dtypes in short: the letter of each family that is whole, and single ones by letter and bits."""
    present = set(dtypes)
    words = []
    for letter, family in FAMILIES.items():
        if present.issuperset(family):
            words.append(letter)
        else:
            words += [letter[:1] + dtype.lstrip(string.ascii_lowercase) for dtype in family if dtype in present]
    return " ".join(words) or NONE


def installed_version(library: Library) -> str:
    """The version of a library, whatever its distribution is called."""
    root = library.module.partition(".")[0]
    for distribution in (library.distribution, *packages_distributions().get(root, ())):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return "?"


def _directions(imports: bool, exports: bool) -> str:
    return {(True, True): "both ways", (True, False): "import", (False, True): "export", (False, False): "no"}[
        imports, exports
    ]

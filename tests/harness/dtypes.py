"""The element types, as one table: what each library calls them. None where a library has no such type."""

from dataclasses import dataclass

from .abi import BFLOAT, BOOL, COMPLEX, FLOAT, INT, UINT, DTypeTriple


@dataclass(frozen=True)
class Row:
    name: str  # as dlpackgo spells it; ml_dtypes and NumPy spell theirs the same way
    code: int
    bits: int
    numpy: bool = False  # NumPy has it, and exchanges it through DLPack
    torch: bool = False
    ml_dtypes: bool = False
    lanes: int = 1

    @property
    def triple(self) -> DTypeTriple:
        return (self.code, self.bits, self.lanes)

    @property
    def itemsize(self) -> int:
        return (self.bits * self.lanes + 7) // 8


ROWS = (
    Row("bool", BOOL, 8, numpy=True, torch=True),
    *(Row(f"int{bits}", INT, bits, numpy=True, torch=True) for bits in (8, 16, 32, 64)),
    *(Row(f"uint{bits}", UINT, bits, numpy=True, torch=True) for bits in (8, 16, 32, 64)),
    *(Row(f"float{bits}", FLOAT, bits, numpy=True, torch=True) for bits in (16, 32, 64)),
    *(Row(f"complex{bits}", COMPLEX, bits, numpy=True, torch=True) for bits in (64, 128)),
    Row("bfloat16", BFLOAT, 16, torch=True, ml_dtypes=True),
    Row("float8_e3m4", 7, 8, ml_dtypes=True),
    Row("float8_e4m3", 8, 8, ml_dtypes=True),
    Row("float8_e4m3b11fnuz", 9, 8, ml_dtypes=True),
    Row("float8_e4m3fn", 10, 8, torch=True, ml_dtypes=True),
    Row("float8_e4m3fnuz", 11, 8, torch=True, ml_dtypes=True),
    Row("float8_e5m2", 12, 8, torch=True, ml_dtypes=True),
    Row("float8_e5m2fnuz", 13, 8, torch=True, ml_dtypes=True),
    Row("float8_e8m0fnu", 14, 8, torch=True, ml_dtypes=True),
)

NUMPY_ROWS = tuple(row for row in ROWS if row.numpy)
TORCH_ROWS = tuple(row for row in ROWS if row.torch)
ML_DTYPES_ROWS = tuple(row for row in ROWS if row.ml_dtypes)

# Types beyond the everyday set: an importer refuses each of these in words, or carries it whole.
RARE = (
    *((code, 8, 1) for code in range(7, 15)),  # float8
    (15, 6, 1), (16, 6, 1), (17, 4, 1), (17, 4, 2),  # float6, float4
    (INT, 1, 1), (INT, 2, 1), (INT, 4, 1), (UINT, 1, 1), (UINT, 2, 1), (UINT, 4, 1), (BOOL, 1, 1),
    (FLOAT, 32, 2), (FLOAT, 32, 4), (COMPLEX, 64, 2), (INT, 8, 3), (UINT, 8, 65535),
    (3, 64, 1), (COMPLEX, 32, 1), (18, 32, 1),  # opaque handle, complex32, bcomplex32
)  # fmt: skip

# No library has these; an importer refuses them and names code and bits.
IMPOSSIBLE = (
    (19, 8, 1), (99, 8, 1), (255, 32, 1),
    (FLOAT, 8, 1), (FLOAT, 24, 1), (FLOAT, 80, 1), (FLOAT, 128, 1),
    (INT, 0, 1), (INT, 3, 1), (INT, 24, 1), (UINT, 0, 1), (UINT, 65, 1), (UINT, 255, 1),
    (BFLOAT, 8, 1), (BFLOAT, 32, 1), (COMPLEX, 8, 1), (COMPLEX, 96, 1), (BOOL, 16, 1), (BOOL, 0, 1),
    (7, 16, 1), (14, 4, 1), (15, 8, 1), (16, 4, 1), (17, 8, 1), (18, 64, 1),
)  # fmt: skip

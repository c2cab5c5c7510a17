"""What is measured, against what, and what has to hold.

A section is a process of its own, whose setup provides the names that its statements use. A line is one thing to do: our
statement, and those of the peers that do the same. Names that stand for peers are modules built from peers/ (nanobind,
pybind11, tvm, dlpark, pyo3_dlpack, gopy, plain); go is dlpackgo's own module of functions that do next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from timing import Batch, FirstCall, InThreads, Loop, Program, ProgramMemory, Timed

OURS = "dlpackgo"


@dataclass(frozen=True)
class Bar:
    """Our cost divided by that of one peer is at most this much."""

    peer: str
    at_most: float


@dataclass(frozen=True)
class Line:
    """One thing to do. slower says why, where a peer does it faster."""

    name: str
    ours: str | Timed
    peers: Mapping[str, str | Timed]
    bar: Bar | None = None
    slower: str = ""

    def contenders(self) -> dict[str, Timed]:
        """All statements by the name of who does it, ours first."""
        statements = {OURS: self.ours, **self.peers}
        return {name: Loop(timed) if isinstance(timed, str) else timed for name, timed in statements.items()}


@dataclass(frozen=True)
class Section:
    """Lines that are measured in one process."""

    key: str
    title: str
    about: str
    setup: str
    lines: list[Line]
    environment: Mapping[str, str] = field(default_factory=dict)


def each(statement: str, *peers: str) -> dict[str, str]:
    """The same statement for several peers, each by the name of its module in place of PEER."""
    return {PEER_NAMES[peer]: statement.replace("PEER", peer) for peer in peers}


# Measured beside others to show what they consist of; that they take less says nothing.
YARDSTICKS = ("Python alone", "torch.from_dlpack of ours", "np.from_dlpack of ours")

PEER_NAMES = {
    "nanobind": "nanobind",
    "pybind11": "pybind11",
    "tvm": "tvm-ffi",
    "dlpark": "dlpark",
    "pyo3_dlpack": "pyo3-dlpack",
}

# --- import ---------------------------------------------------------------------------------------------------------

VALIDATES = "ours holds the whole descriptor against every rule of the standard before anything trusts it"
OWN_STRUCT = "nanobind hands out the one struct that its array has anyway; ours makes one for each export"
JAX_IS_PYTHON = "most of the time is JAX's own __dlpack__, which is Python code and looks at the version asked for"

CAPSULE_CONSUMERS = ("nanobind", "dlpark", "pyo3_dlpack")

IMPORT = Section(
    "import",
    "Import",
    "From a foreign array to an object that keeps its memory, and back to nothing: making and freeing are both in the figure.",
    """
import jax
class Subclass(np.ndarray): pass  # no fast lane knows it, so it goes through a capsule
x = np.zeros(1000)
subclass = x.view(Subclass)
t = torch.zeros(1000, dtype=torch.float64)
j = jax.numpy.zeros(1000)
v = tvm.new(1000)
own = dlpackgo.zeros(1000)
nanobind_own, dlpark_own, pyo3_dlpack_own = nanobind.new(1000), dlpark.new(1000), pyo3_dlpack.new(1000)
rank = [np.zeros((1,) * n) for n in range(9)]
small, large = np.zeros(512), np.zeros(13_107_200)  # 4 kB, 100 MB
""",
    [
        Line(
            "NumPy array",
            "dlpackgo.from_dlpack(x)",
            {
                "NumPy": "np.from_dlpack(x)",
                "tvm-ffi": "tvm_ffi.from_dlpack(x)",
                **each("PEER.Array(x)", *CAPSULE_CONSUMERS),
            },
            Bar("NumPy", 0.13),
        ),
        Line(
            "NumPy array, through its capsule",
            "dlpackgo.from_dlpack(subclass)",
            {
                "NumPy": "np.from_dlpack(subclass)",
                "tvm-ffi": "tvm_ffi.from_dlpack(subclass)",
                **each("PEER.Array(subclass)", *CAPSULE_CONSUMERS),
            },
            Bar("NumPy", 0.72),
            slower=VALIDATES,
        ),
        Line(
            "versioned capsule, made and consumed",
            "dlpackgo.from_dlpack(x.__dlpack__(max_version=(1, 3)))",
            {
                "PyTorch": "torch.from_dlpack(x.__dlpack__(max_version=(1, 3)))",
                **each("PEER.Array(x.__dlpack__(max_version=(1, 3)))", *CAPSULE_CONSUMERS),
            },
        ),
        Line(
            "legacy capsule, made and consumed",
            "dlpackgo.from_dlpack(x.__dlpack__())",
            {
                "PyTorch": "torch.from_dlpack(x.__dlpack__())",
                **each("PEER.Array(x.__dlpack__())", *CAPSULE_CONSUMERS),
            },
        ),
        Line(
            "PyTorch tensor",
            "dlpackgo.from_dlpack(t)",
            {
                "NumPy": "np.from_dlpack(t)",
                "tvm-ffi": "tvm_ffi.from_dlpack(t)",
                **each("PEER.Array(t)", *CAPSULE_CONSUMERS),
            },
            Bar("tvm-ffi", 0.45),
        ),
        Line(
            "JAX array",
            "dlpackgo.from_dlpack(j)",
            {
                "NumPy": "np.from_dlpack(j)",
                "tvm-ffi": "tvm_ffi.from_dlpack(j)",
                **each("PEER.Array(j)", *CAPSULE_CONSUMERS),
            },
            slower=JAX_IS_PYTHON,
        ),
        Line(
            "tvm-ffi tensor",
            "dlpackgo.from_dlpack(v)",
            {
                "NumPy": "np.from_dlpack(v)",
                "tvm-ffi": "tvm_ffi.from_dlpack(v)",
                **each("PEER.Array(v)", *CAPSULE_CONSUMERS),
            },
            slower=VALIDATES,
        ),
        Line(
            "each library's own",
            "dlpackgo.from_dlpack(own)",
            {
                "NumPy": "np.from_dlpack(x)",
                "PyTorch": "torch.from_dlpack(t)",
                "tvm-ffi": "tvm_ffi.from_dlpack(v)",
                **{PEER_NAMES[name]: f"{name}.Array({name}_own)" for name in CAPSULE_CONSUMERS},
            },
        ),
        *(
            Line(
                f"NumPy array of rank {n}",
                f"dlpackgo.from_dlpack(rank[{n}])",
                {"NumPy": f"np.from_dlpack(rank[{n}])", **each(f"PEER.Array(rank[{n}])", "nanobind", "dlpark")},
            )
            for n in range(8)
        ),
        Line(
            "NumPy array of rank 8",
            "dlpackgo.from_dlpack(rank[8])",
            {
                "dlpackgo, rank 1": "dlpackgo.from_dlpack(rank[1])",
                "NumPy": "np.from_dlpack(rank[8])",
                **each("PEER.Array(rank[8])", "nanobind", "dlpark"),
            },
            Bar("dlpackgo, rank 1", 1.15),
        ),
        Line(
            "NumPy array of 100 MB",
            "dlpackgo.from_dlpack(large)",
            {
                "dlpackgo, 4 kB": "dlpackgo.from_dlpack(small)",
                "NumPy": "np.from_dlpack(large)",
                **each("PEER.Array(large)", "nanobind", "dlpark"),
            },
            Bar("dlpackgo, 4 kB", 1.1),
        ),
    ],
)

# --- export ---------------------------------------------------------------------------------------------------------

OWNERS = ("nanobind", "tvm", "dlpark", "pyo3_dlpack")


def by_owner(statement: str, *owners: str) -> dict[str, str]:
    """The same statement for several libraries, each with its own array in place of OWN."""
    return {PEER_NAMES[owner]: statement.replace("OWN", f"{owner}_own") for owner in owners}


EXPORT = Section(
    "export",
    "Export",
    "From each library's own array of 1000 float64 to a capsule, or to an array of another library on the same memory.",
    """
import jax
own = dlpackgo.zeros(1000)
x = np.zeros(1000)
t = torch.zeros(1000, dtype=torch.float64)
nanobind_own, tvm_own = nanobind.new(1000), tvm.new(1000)
dlpark_own, pyo3_dlpack_own = dlpark.new(1000), pyo3_dlpack.new(1000)
jax_from_dlpack = jax.dlpack.from_dlpack
""",
    [
        Line(
            "versioned capsule",
            "own.__dlpack__(max_version=(1, 3))",
            {
                "NumPy": "x.__dlpack__(max_version=(1, 3))",
                "PyTorch": "t.__dlpack__(max_version=(1, 3))",
                **by_owner("OWN.__dlpack__(max_version=(1, 3))", *OWNERS),
            },
            Bar("NumPy", 0.72),
            slower=OWN_STRUCT,
        ),
        Line(
            "legacy capsule",
            "own.__dlpack__()",
            {"NumPy": "x.__dlpack__()", "PyTorch": "t.__dlpack__()", **by_owner("OWN.__dlpack__()", *OWNERS)},
        ),
        Line(
            "device",
            "own.__dlpack_device__()",
            {
                "NumPy": "x.__dlpack_device__()",
                "PyTorch": "t.__dlpack_device__()",
                **by_owner("OWN.__dlpack_device__()", *OWNERS),
            },
        ),
        Line(
            "to NumPy",
            "np.from_dlpack(own)",
            {"NumPy": "np.from_dlpack(x)", "PyTorch": "np.from_dlpack(t)", **by_owner("np.from_dlpack(OWN)", *OWNERS)},
            Bar("NumPy", 0.88),
        ),
        Line(
            "to NumPy, by method",
            "own.numpy()",
            {"np.from_dlpack of ours": "np.from_dlpack(own)", "PyTorch": "t.numpy()"},
            Bar("np.from_dlpack of ours", 0.60),
        ),
        Line(
            "to NumPy, by buffer",
            "np.asarray(own)",
            {"PyTorch": "np.asarray(t)", **by_owner("np.asarray(OWN)", "nanobind")},
            slower="the format of the elements is searched in the table of all dtypes",
        ),
        Line(
            "to PyTorch",
            "torch.from_dlpack(own)",
            {
                "NumPy": "torch.from_dlpack(x)",
                "PyTorch": "torch.from_dlpack(t)",
                **by_owner("torch.from_dlpack(OWN)", *OWNERS),
            },
        ),
        Line(
            "to PyTorch, by method",
            "own.torch()",
            {"torch.from_dlpack of ours": "torch.from_dlpack(own)", "NumPy": "torch.from_numpy(x)"},
        ),
        Line(
            "to JAX",
            "jax_from_dlpack(own)",
            {"NumPy": "jax_from_dlpack(x)", "PyTorch": "jax_from_dlpack(t)"},
        ),
        Line(
            "to tvm-ffi",
            "tvm_ffi.from_dlpack(own)",
            {
                "NumPy": "tvm_ffi.from_dlpack(x)",
                "PyTorch": "tvm_ffi.from_dlpack(t)",
                **by_owner("tvm_ffi.from_dlpack(OWN)", *OWNERS),
            },
        ),
    ],
)

# --- the parts of a crossing ----------------------------------------------------------------------------------------

CAPSULES = "made = None; capsules = [x.__dlpack__(max_version=(1, 3)) for _ in batch]"

PARTS = Section(
    "parts",
    "The parts of a crossing",
    "Wrapping a tensor in a capsule, consuming a capsule, and freeing what came of it, each timed by itself over 1000 of them.",
    """
own = dlpackgo.zeros(1000)
x = np.zeros(1000)
t = torch.zeros(1000, dtype=torch.float64)
nanobind_own, tvm_own = nanobind.new(1000), tvm.new(1000)
dlpark_own, pyo3_dlpack_own = dlpark.new(1000), pyo3_dlpack.new(1000)
""",
    [
        Line(
            "wrap: a versioned capsule of each library's own",
            Batch("made = None", "made = [own.__dlpack__(max_version=(1, 3)) for _ in batch]"),
            {
                peer: Batch("made = None", f"made = [{name}.__dlpack__(max_version=(1, 3)) for _ in batch]")
                for peer, name in {
                    "NumPy": "x",
                    "PyTorch": "t",
                    **{PEER_NAMES[owner]: f"{owner}_own" for owner in OWNERS},
                }.items()
            },
            slower=OWN_STRUCT,
        ),
        Line(
            "free: the capsule, not consumed",
            Batch("made = [own.__dlpack__(max_version=(1, 3)) for _ in batch]", "made = None"),
            {
                peer: Batch(f"made = [{name}.__dlpack__(max_version=(1, 3)) for _ in batch]", "made = None")
                for peer, name in {
                    "NumPy": "x",
                    "PyTorch": "t",
                    **{PEER_NAMES[owner]: f"{owner}_own" for owner in OWNERS},
                }.items()
            },
            slower=OWN_STRUCT,
        ),
        Line(
            "consume: NumPy's versioned capsule",
            Batch(CAPSULES, "made = [dlpackgo.from_dlpack(capsule) for capsule in capsules]"),
            {
                "PyTorch": Batch(CAPSULES, "made = [torch.from_dlpack(capsule) for capsule in capsules]"),
                **{
                    PEER_NAMES[peer]: Batch(CAPSULES, f"made = [{peer}.Array(capsule) for capsule in capsules]")
                    for peer in CAPSULE_CONSUMERS
                },
            },
        ),
        Line(
            "free: what was imported from NumPy",
            Batch("made = [dlpackgo.from_dlpack(x) for _ in batch]", "made = None"),
            {
                "NumPy": Batch("made = [np.from_dlpack(x) for _ in batch]", "made = None"),
                "tvm-ffi": Batch("made = [tvm_ffi.from_dlpack(x) for _ in batch]", "made = None"),
                **{
                    PEER_NAMES[peer]: Batch(f"made = [{peer}.Array(x) for _ in batch]", "made = None")
                    for peer in CAPSULE_CONSUMERS
                },
            },
        ),
    ],
)

# --- new tensors ----------------------------------------------------------------------------------------------------

NEW = Section(
    "new",
    "New tensors",
    "Memory for 1000 float64, from being asked for to being freed.",
    "",
    [
        Line(
            "from Python, not initialised",
            "dlpackgo.empty(1000)",
            {
                "NumPy": "np.empty(1000)",
                "PyTorch": "torch.empty(1000, dtype=torch.float64)",
                "pybind11": "pybind11.new(1000)",
            },
            Bar("NumPy", 0.75),
        ),
        Line(
            "from Python, zeroed",
            "dlpackgo.zeros(1000)",
            {
                "NumPy": "np.zeros(1000)",
                "PyTorch": "torch.zeros(1000, dtype=torch.float64)",
                **each("PEER.new(1000)", "nanobind", "tvm", "dlpark", "pyo3_dlpack"),
            },
        ),
        Line(
            "returned by a function in the other language, zeroed",
            "go.new_quick(1000)",
            {
                "dlpackgo, GIL released": "go.new(1000)",
                **each("PEER.new(1000)", "nanobind", "tvm", "dlpark", "pyo3_dlpack"),
            },
            slower="into Go, from there to C for the memory, and a handle for Go's garbage collector to watch",
        ),
    ],
)

# --- calls ----------------------------------------------------------------------------------------------------------

CALL = Section(
    "call",
    "Calls",
    "A function in the other language that compares the sizes of its arguments, from Python. Arrays are vectors of 1000 float64."
    " Every function refuses other dtypes and memory that it cannot read. The peers' also refuse other ranks and layouts, which"
    " ours take, as nanobind's strided one does. All peers keep the GIL.",
    """
import jax
jax.config.update("jax_enable_x64", True)
a, b, c = (np.zeros(1000) for _ in range(3))
ta, tb, tc = (torch.zeros(1000, dtype=torch.float64) for _ in range(3))
ja, jb, jc = (jax.numpy.zeros(1000, dtype="float64") for _ in range(3))
oa, ob, oc = (dlpackgo.zeros(1000) for _ in range(3))
nanobind_a, nanobind_b, nanobind_c = (nanobind.new(1000) for _ in range(3))
tvm_a, tvm_b, tvm_c = (tvm.new(1000) for _ in range(3))
dlpark_a, dlpark_b, dlpark_c = (dlpark.new(1000) for _ in range(3))
pyo3_dlpack_a, pyo3_dlpack_b, pyo3_dlpack_c = (pyo3_dlpack.new(1000) for _ in range(3))
""",
    [
        Line(
            "no arguments",
            "go.nothing_quick()",
            {
                "dlpackgo, GIL released": "go.nothing()",
                **each("PEER.nothing()", "nanobind", "pybind11", "tvm", "dlpark", "pyo3_dlpack"),
            },
            slower="a call from C into Go costs 25 to 50 ns, whatever is called; from C++ and Rust that part is nothing",
        ),
        Line(
            "three scalars",
            "go.scalars_quick(2.0, 1, True)",
            {
                "dlpackgo, GIL released": "go.scalars(2.0, 1, True)",
                **each("PEER.scalars(2.0, 1, True)", "nanobind", "pybind11", "tvm", "dlpark", "pyo3_dlpack"),
            },
            slower="as above: the crossing into Go",
        ),
        Line(
            "one NumPy array",
            "go.one_quick(a)",
            {
                "dlpackgo, GIL released": "go.one(a)",
                **each("PEER.one(a)", "nanobind", "pybind11", "tvm", "dlpark", "pyo3_dlpack"),
            },
        ),
        Line(
            "three NumPy arrays",
            "go.three_quick(a, b, c)",
            {
                "nanobind, strided": "nanobind.three_strided(a, b, c)",
                "pybind11, untyped": "pybind11.three_untyped(a, b, c)",
                **each("PEER.three(a, b, c)", "nanobind", "pybind11", "tvm", "dlpark", "pyo3_dlpack"),
            },
            Bar("nanobind", 0.25),
            slower="pybind11's untyped py::array takes a reference to the array and checks nothing but that it is one",
        ),
        Line(
            "three NumPy arrays, GIL released",
            "go.three(a, b, c)",
            each("PEER.three(a, b, c)", "nanobind") | {"nanobind, GIL released": "nanobind.three_released(a, b, c)"},
            Bar("nanobind", 0.36),
        ),
        Line(
            "one PyTorch tensor",
            "go.one_quick(ta)",
            {
                "dlpackgo, GIL released": "go.one(ta)",
                **each("PEER.one(ta)", "nanobind", "tvm", "dlpark", "pyo3_dlpack"),
            },
        ),
        Line(
            "three PyTorch tensors",
            "go.three_quick(ta, tb, tc)",
            each("PEER.three(ta, tb, tc)", "nanobind", "tvm", "dlpark", "pyo3_dlpack"),
            Bar("tvm-ffi", 0.55),
        ),
        Line(
            "three PyTorch tensors, GIL released",
            "go.three(ta, tb, tc)",
            each("PEER.three(ta, tb, tc)", "tvm"),
            Bar("tvm-ffi", 0.62),
        ),
        Line(
            "three JAX arrays",
            "go.three_quick(ja, jb, jc)",
            {
                "dlpackgo, GIL released": "go.three(ja, jb, jc)",
                **each("PEER.three(ja, jb, jc)", "nanobind", "tvm", "dlpark", "pyo3_dlpack"),
            },
            slower=JAX_IS_PYTHON,
        ),
        Line(
            "one of each library's own",
            "go.one_quick(oa)",
            {
                "dlpackgo, GIL released": "go.one(oa)",
                **{PEER_NAMES[name]: f"{name}.one({name}_a)" for name in ("nanobind", "tvm", "dlpark", "pyo3_dlpack")},
            },
        ),
        Line(
            "three of each library's own",
            "go.three_quick(oa, ob, oc)",
            {
                PEER_NAMES[name]: f"{name}.three({name}_a, {name}_b, {name}_c)"
                for name in ("nanobind", "tvm", "dlpark", "pyo3_dlpack")
            },
            Bar("tvm-ffi", 0.45),
        ),
        Line(
            "three of each library's own, GIL released",
            "go.three(oa, ob, oc)",
            {"tvm-ffi": "tvm.three(tvm_a, tvm_b, tvm_c)"},
            Bar("tvm-ffi", 0.72),
        ),
    ],
)

# --- other ways from Python to Go -----------------------------------------------------------------------------------

OTHER_GO = Section(
    "other-go",
    "Other ways from Python to Go",
    "The same call by a module that gopy generated, which copies arrays into Go slices element by element, and by ctypes, with"
    " addresses and lengths as integers and nothing checked. Each has a Go runtime of its own in this process.",
    """
a, b, c = (np.zeros(1000) for _ in range(3))
""",
    [
        Line(
            "no arguments",
            "go.nothing()",
            {"gopy": "gopy.vectors.Nothing()", "ctypes": "plain.Nothing()"},
        ),
        Line(
            "three NumPy arrays",
            "go.three(a, b, c)",
            {
                "gopy": "gopy.vectors.Three(gopy.go.Slice_float64(a), gopy.go.Slice_float64(b), gopy.go.Slice_float64(c))",
                "ctypes": "plain.Three(a.ctypes.data, len(a), b.ctypes.data, len(b), c.ctypes.data, len(c))",
            },
            Bar("gopy", 0.001),
        ),
    ],
)

# --- threads --------------------------------------------------------------------------------------------------------

THREADS = Section(
    "threads",
    "Threads",
    "The time divided by all calls of all threads: half, where two threads on two cores do not hinder each other.",
    """
a, b, c = (np.zeros(1000) for _ in range(3))
x = np.zeros(100_000)
""",
    [
        Line(
            "mean of 100 000 elements, two threads",
            InThreads(2, "dlpackgo.stats.mean(x)"),
            {
                "dlpackgo, 1 thread": InThreads(1, "dlpackgo.stats.mean(x)"),
                "NumPy": InThreads(2, "np.mean(x)"),
                "NumPy, 1 thread": InThreads(1, "np.mean(x)"),
            },
        ),
        Line(
            "three NumPy arrays, two threads",
            InThreads(2, "go.three_quick(a, b, c)"),
            {
                "dlpackgo, 1 thread": InThreads(1, "go.three_quick(a, b, c)"),
                "nanobind": InThreads(2, "nanobind.three(a, b, c)"),
                "nanobind, 1 thread": InThreads(1, "nanobind.three(a, b, c)"),
            },
        ),
        Line(
            "import of a NumPy array, two threads",
            InThreads(2, "dlpackgo.from_dlpack(a)"),
            {
                "dlpackgo, 1 thread": InThreads(1, "dlpackgo.from_dlpack(a)"),
                "NumPy": InThreads(2, "np.from_dlpack(a)"),
                "NumPy, 1 thread": InThreads(1, "np.from_dlpack(a)"),
            },
        ),
        Line(
            "first call in a new thread",
            FirstCall("go.three_quick(a, b, c)"),
            {
                "nanobind": FirstCall("nanobind.three(a, b, c)"),
                "tvm-ffi": FirstCall("tvm.three(a, b, c)"),
                "NumPy": FirstCall("np.from_dlpack(a)"),
            },
            slower="the Go runtime makes itself known to a thread when it first sees it",
        ),
    ],
)

# --- the package as a whole -----------------------------------------------------------------------------------------

PACKAGE = Section(
    "package",
    "The package as a whole",
    "A new Python process that imports one thing: its time from start to end, and the most memory that it had resident.",
    "",
    [
        Line(
            "time",
            Program("import dlpackgo"),
            {
                "Python alone": Program("pass"),
                "NumPy": Program("import numpy"),
                "nanobind": Program("import peer_nanobind"),
                "dlpark": Program("import peer_dlpark"),
            },
            slower="a Go runtime is started",
        ),
        Line(
            "memory",
            ProgramMemory("import dlpackgo"),
            {
                "Python alone": ProgramMemory("pass"),
                "NumPy": ProgramMemory("import numpy"),
                "nanobind": ProgramMemory("import peer_nanobind"),
                "dlpark": ProgramMemory("import peer_dlpark"),
            },
            slower="a Go runtime is loaded",
        ),
    ],
)

# --- kernels --------------------------------------------------------------------------------------------------------

KERNEL_DATA = """
random = np.random.default_rng(0)
a, b = random.normal(size=(2, 512, 512))
square = random.normal(size=(256, 256))
symmetric = square + square.T
right = random.normal(size=256)
signal = random.normal(size=65536)
million = random.normal(size=1_000_000)
"""

PRODUCT = Line("matrix product, 512 x 512", "dlpackgo.linalg.matmul(a, b)", {"NumPy": "a @ b"})
SOLVE = Line(
    "linear system, 256",
    "dlpackgo.linalg.solve(square, right)",
    {"NumPy": "np.linalg.solve(square, right)"},
    slower="ours estimates the condition number as well, to refuse systems that have no digit right, which NumPy answers",
)
SVD = Line(
    "singular values and vectors, 256 x 256",
    "dlpackgo.linalg.svd(square)",
    {"NumPy": "np.linalg.svd(square, full_matrices=False)"},
)
EIGH = Line(
    "symmetric eigenvalues, 256",
    "dlpackgo.linalg.eigh(symmetric)",
    {"NumPy": "np.linalg.eigh(symmetric)"},
    slower="ours looks first whether the matrix is symmetric; NumPy reads one triangle",
)

GONUM_SLOWER = (
    "gonum's code is Go with little assembly; NumPy calls OpenBLAS. Take the openblas backend, or NumPy's function"
)

OPENBLAS = Section(
    "kernels-openblas",
    "Kernels over OpenBLAS",
    "After dlpackgo.linalg.backend('openblas'). float64, one thread; NumPy has an OpenBLAS of its own.",
    KERNEL_DATA + "dlpackgo.linalg.backend('openblas')\ndlpackgo.linalg.threads(1)\n",
    [replace(PRODUCT, bar=Bar("NumPy", 1.15)), SOLVE, SVD, EIGH],
)

GONUM = Section(
    "kernels-gonum",
    "Kernels over gonum",
    "What is in use from the start. float64, one thread.",
    KERNEL_DATA,
    [
        *(replace(line, slower=GONUM_SLOWER) for line in (PRODUCT, SOLVE, SVD, EIGH)),
        Line(
            "real Fourier transform, 65536",
            "dlpackgo.fft.rfft(signal)",
            {"NumPy": "np.fft.rfft(signal)"},
            slower="gonum's FFT is FFTPACK in Go; NumPy's is vectorised C++. Take numpy.fft where it matters",
        ),
        Line("mean, 1 000 000", "dlpackgo.stats.mean(million)", {"NumPy": "np.mean(million)"}),
        Line("standard deviation, 1 000 000", "dlpackgo.stats.std(million)", {"NumPy": "np.std(million)"}),
        Line("median, 1 000 000", "dlpackgo.stats.quantile(million, 0.5)", {"NumPy": "np.quantile(million, 0.5)"}),
    ],
    environment={"GOMAXPROCS": "1"},
)

SECTIONS = [IMPORT, EXPORT, PARTS, NEW, CALL, OTHER_GO, THREADS, PACKAGE, OPENBLAS, GONUM]

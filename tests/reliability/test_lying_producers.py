"""Producers that are Python code, and do what they like: each in a process that must end in words and not in a crash."""

from collections.abc import Callable
from typing import Any

import pytest
from harness.processes import run_python

import dlpackgo

SETTING = """
import array, ctypes, gc, os, sys, threading, time, warnings
import numpy as np
from harness.abi import Deleter
from harness.capsules import Taken, managed_in, new_capsule
from harness.exchange import hands_out, lends, type_with_table
from harness.producers import Hands, Producer
warnings.simplefilter("ignore")
dlpackgo.from_dlpack(np.zeros(1))  # opens the lane for NumPy
before = dlpackgo._core._live()

def refused(*calls, kinds=(TypeError, ValueError, BufferError, RecursionError, RuntimeError, IndexError, OverflowError)):
    for call in calls:
        try:
            call()
        except kinds:
            pass
        else:
            raise AssertionError("accepted")

def everyway(x):
    "Each way of taking something from Python."
    return (lambda: dlpackgo.from_dlpack(x), lambda: dlpackgo.from_dlpack(x, copy=True), lambda: dlpackgo.asarray(x),
            lambda: dlpackgo.from_dlpack(x, device="cpu"), lambda: faults.sum_of_two(x, np.ones(1)),
            lambda: faults.sum_of_two(np.ones(1), x), lambda: faults.write(x, 1.0), lambda: faults.keep(x))

def tried(*calls):
    for call in calls:
        try:
            call()
        except Exception:
            pass
"""

LIES = {
    "what __dlpack__ returns is no capsule": """
for given in (None, 1, "capsule", object(), [], b"", new_capsule(8, "other"), type, lambda: None, Hands(None)):
    refused(*everyway(Hands(given)))
""",
    "__dlpack__ raises": """
class Raises:
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        raise self.error
for error in (KeyError("mine"), MemoryError("mine"), KeyboardInterrupt("mine"), SystemExit("mine"), StopIteration("mine")):
    raises = Raises()
    raises.error = error
    for call in everyway(raises):
        try:
            call()
        except type(error) as caught:
            assert caught is error or "mine" in str(caught)
        else:
            raise AssertionError("accepted")
""",
    "__dlpack__ recurses": """
class Recurses:
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        return self.again(self)
for again in (dlpackgo.from_dlpack, dlpackgo.asarray, lambda x: faults.sum_of_two(x, np.ones(1))):
    recurses = Recurses()
    recurses.again = again
    refused(*everyway(recurses))
threading.stack_size((64 if "asan" in os.environ.get("LD_PRELOAD", "") else 1) << 20)  # its frames are larger
thread = threading.Thread(target=lambda: refused(*everyway(recurses)))
thread.start()
thread.join()
""",
    "__dlpack__ deletes what it shares": """
class Deletes:
    def __init__(self):
        self.array = np.arange(4.0)
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        capsule = self.array.__dlpack__(**keywords)
        self.__dict__.clear()
        gc.collect()
        return capsule
assert dlpackgo.from_dlpack(Deletes()).tolist() == [0, 1, 2, 3]
assert faults.sum_of_two(Deletes(), Deletes()) == 12
""",
    "__dlpack__ calls back into us": """
class CallsBack:
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        inner = dlpackgo.from_dlpack(np.arange(3.0))
        assert dlpackgo.stats.mean(inner) == 1
        faults.sleep_interruptible(0.001)
        dlpackgo._core._lanes(False)  # empties the caches that the caller is looking into
        dlpackgo._core._lanes(True)
        for kind in [type("Kind%d" % i, (Producer,), {}) for i in range(200)]:
            dlpackgo.from_dlpack(kind((3,), deleter=False))
        return inner.__dlpack__(**keywords)
for _ in range(10):
    assert dlpackgo.from_dlpack(CallsBack()).tolist() == [0, 1, 2]
    assert faults.sum_of_two(CallsBack(), CallsBack()) == 6
""",
    "one argument gives another one a new shape": """
class Reshapes:
    def __init__(self, victim):
        self.victim = victim
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        self.victim.shape = (self.victim.size,)
        self.fill = [np.empty(1 << 25) for _ in range(20)]  # their extents take the place of the old ones
        return np.zeros(1).__dlpack__(**keywords)
for _ in range(20):
    victim = np.ones((4, 4))
    assert faults.sum_of_two(victim, Reshapes(victim)) == 16
""",
    "one argument closes another one": """
class Closes:
    def __init__(self, victim):
        self.victim = victim
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        refused(self.victim.close, kinds=BufferError)
        return np.ones(1).__dlpack__(**keywords)
victim = dlpackgo.ones((1000,))
assert faults.sum_of_two(victim, Closes(victim)) == 1001
victim.close()
""",
    "one argument consumes the capsule of another one": """
class Consumes:
    def __init__(self, capsule):
        self.capsule = capsule
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        tried(lambda: dlpackgo.from_dlpack(self.capsule))
        return np.ones(1).__dlpack__(**keywords)
for _ in range(10):
    capsule = np.ones(5).__dlpack__()
    tried(lambda: faults.sum_of_two(capsule, Consumes(capsule)), lambda: faults.sum_of_two(Consumes(capsule), capsule))
""",
    "the descriptor changes after it was taken": """
for form in ("legacy", "versioned"):
    producer = Producer((3,), form=form)
    tensor = dlpackgo.from_dlpack(producer)
    t = producer.managed_of(producer.capsules[0]).tensor
    t.ndim, t.data, t.bits, t.byte_offset = 60, 8, 3, 2**60
    t.shape[0] = t.strides[0] = 2**60
    assert tensor.tolist() == [0, 1, 2] and tensor.shape == (3,)
    assert np.from_dlpack(tensor).tolist() == [0, 1, 2] and tensor.copy().tolist() == [0, 1, 2]
    t.ndim = 1
    del tensor
    assert producer.settle() == 1
""",
    "the descriptor changes while it is read": """
producer = Producer((3,) + (1,) * 63, dtype=(2, 64, 1), ndim=1, form="versioned")  # its extents are there for every rank
np.frombuffer(producer.buffer, np.float64)[:] = 1
managed = producer.describe(versioned=True)
stop = threading.Event()
def change():
    while not stop.is_set():
        for field, values in (("ndim", (1, -1, 64)), ("bits", (64, 0, 255)), ("lanes", (1, 0))):
            for value in values:
                setattr(managed.tensor, field, value)
        for value in (3, -1, 2**62, 3):
            managed.tensor.shape[0] = value
        managed.tensor.ndim, managed.tensor.bits, managed.tensor.lanes = 1, 64, 1
thread = threading.Thread(target=change)
thread.start()
sys.setswitchinterval(1e-6)
managed.deleter = None
kinds = {"taken": 0, "refused": 0}
for _ in range(3000):
    try:
        tensor = dlpackgo.from_dlpack(new_capsule(ctypes.addressof(managed), "dltensor_versioned"))
        kinds["taken"] += 1
        if tensor.shape == (3,):
            assert tensor.dtype != "float64" or tensor.tolist() == [1, 1, 1]
    except BufferError:
        kinds["refused"] += 1
stop.set()
thread.join()
assert sum(kinds.values()) == 3000
producer.deleted = 1
""",
    "attributes that lie": """
class Lies:
    def __getattr__(self, name):
        raise RuntimeError("no " + name)
class LiesAboutItsClass:
    __class__ = dlpackgo.Tensor
    def __dlpack__(self, **keywords):
        return 1
class NoDevice(Producer):
    __dlpack_device__ = None
class Meta(type):
    def __getattribute__(cls, name):
        if name.startswith("__") and name in ("__module__", "__mro__", "__dict__", "__name__", "__dlpack__"):
            raise RuntimeError("no " + name)
        return super().__getattribute__(name)
class Hidden(metaclass=Meta):
    pass
for liar in (Lies(), LiesAboutItsClass(), Hidden(), Lies, dlpackgo.Tensor, np.ndarray, 1j, "text"):
    tried(*everyway(liar))
dlpackgo.from_dlpack(NoDevice((3,), deleter=False))
class Named:
    __module__, __name__ = "numpy", "ndarray"
Named.__name__ = "ndarray"
Named.__module__ = "numpy"
tried(*everyway(Named()))
class Tensor:
    requires_grad = is_conj = is_neg = property(lambda self: 1 / 0)
    def __dlpack__(self, **keywords):
        return np.ones(1).__dlpack__()
Tensor.__module__ = "torch"
tried(*everyway(Tensor()))
""",
    "an array interface whose parts have code": """
numbers = np.ones(4)
class Clears:
    def __init__(self, value):
        self.value = value
    def act(self):
        description.clear()
        gc.collect()
        self.fill = [tuple(range(i)) for i in range(100)]
        return self.value
    __bool__ = __index__ = __int__ = __len__ = act
class Interface:
    @property
    def __array_interface__(self):
        return description
address = numbers.ctypes.data
for shape, data, strides, typestr in (
    ((4,), (address, Clears(True)), None, "<f8"),
    ((Clears(4),), (address, False), None, "<f8"),
    ((Clears(2), 2), (address, False), (16, 8), "<f8"),
    ((4,), (Clears(address), False), None, "<f8"),
    ((4,), (address, False), (Clears(8),), "<f8"),
    ((2, 2), (address, Clears(True)), (16, 8), "<f8"),
):
    for _ in range(5):
        description = {"shape": shape, "data": data, "strides": strides, "typestr": typestr, "version": 3}
        tried(lambda: dlpackgo.asarray(Interface()))
""",
    "an array interface that is broken": """
numbers = np.ones(4)
address = numbers.ctypes.data
good = {"shape": (4,), "data": (address, False), "strides": None, "typestr": "<f8", "version": 3}
for change in ({"shape": None}, {"shape": [4]}, {"shape": (-4,)}, {"shape": (2**62, 4)}, {"shape": (1,) * 65}, {"shape": ("4",)},
               {"shape": (2**70,)}, {"data": None}, {"data": (0, False)}, {"data": (address,)}, {"data": (address, 1, 2)},
               {"data": (2**70, False)}, {"data": ("x", False)}, {"data": b"1234"}, {"data": (address + 1, False)},
               {"data": (2**64 - 8, False)}, {"strides": (8, 8)}, {"strides": (3,)}, {"strides": [8]}, {"strides": ("x",)},
               {"strides": (2**62,)}, {"strides": (-(2**63),)}, {"typestr": None}, {"typestr": "f8"}, {"typestr": ">f8"},
               {"typestr": "<f"}, {"typestr": "<f3"}, {"typestr": "<f99999999999999999999"}, {"typestr": "<x8"}, {"typestr": "|O8"},
               {"typestr": "<f-8"}, {"typestr": "<i0"}, {"typestr": "\\0\\0\\0"}, {"typestr": b"<f8"}):
    class Interface:
        __array_interface__ = good | change
    refused(lambda: dlpackgo.asarray(Interface()), lambda: faults.sum_of_two(Interface(), np.ones(1)))
    class Cuda:
        __cuda_array_interface__ = good | change
    tried(lambda: dlpackgo.asarray(Cuda()), lambda: faults.sum_of_two(Cuda(), np.ones(1)))
for whole in (None, 1, [], "text", {}, {1: 2}):
    class Odd:
        __array_interface__ = whole
    refused(lambda: dlpackgo.asarray(Odd()))
""",
    "nested lists that change, end nowhere, or are wide": """
class Changes:
    def __init__(self, act):
        self.act = act
    def __index__(self):
        self.act()
        return 1
    def __float__(self):
        self.act()
        return 1.0
for act in (lambda: rows.clear(), lambda: rows.append(1), lambda: rows[0].clear() if rows and type(rows[0]) is list else None,
            lambda: rows.extend([[1, 2, 3]] * 1000), lambda: gc.collect()):
    for make in (lambda x: [x, x, x], lambda x: [[x, 1], [2, 3]], lambda x: [[1, 2], [3, x]]):
        rows = make(Changes(act))
        tried(lambda: dlpackgo.asarray(rows), lambda: faults.sum_of_two(rows, [1.0]))
endless = []
endless.append(endless)
deep = [1.0]
for _ in range(100_000):
    deep = [deep]
refused(lambda: dlpackgo.asarray(endless), lambda: dlpackgo.asarray(deep))
while deep:
    deep = deep[0] if type(deep) is list else None
class Sequence(list):
    def __len__(self):
        return 10**6
    def __getitem__(self, index):
        raise IndexError(index)
tried(lambda: dlpackgo.asarray(Sequence([1, 2])), lambda: dlpackgo.asarray([Sequence([1, 2])]))
""",
    "buffers that lie": """
class Buffer:
    def __init__(self, inner):
        self.inner = inner
    def __buffer__(self, flags):
        return memoryview(self.inner)
if sys.version_info >= (3, 12):
    assert dlpackgo.asarray(Buffer(array.array("d", [1, 2]))).tolist() == [1, 2]
    class Raises:
        def __buffer__(self, flags):
            raise BufferError("mine")
    class Wrong:
        def __buffer__(self, flags):
            return 1
    refused(lambda: dlpackgo.asarray(Raises()), lambda: dlpackgo.asarray(Wrong()))
for grows in (bytearray(24), array.array("d", [1, 2, 3])):
    tensor = dlpackgo.asarray(grows)
    refused(lambda: grows.extend(grows), lambda: grows.clear() if hasattr(grows, "clear") else grows.pop(), kinds=BufferError)
    assert len(memoryview(tensor).tobytes()) == 24
    del tensor
    grows.pop()
released = memoryview(bytearray(8))
released.release()
refused(lambda: dlpackgo.asarray(released))
class Structure(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int)]
odd = [Structure(), (ctypes.c_char_p * 3)(), np.array(["a"])]
tried(*(lambda given=given: dlpackgo.asarray(given) for given in odd))
""",
    "exchange tables that lie": """
def gives(status, address=None, exception=None):
    def from_object(_, out):
        out[0] = address
        if exception is not None:
            ctypes.pythonapi.PyErr_SetString(ctypes.py_object(exception), b"from the table")
        return status
    return from_object
for table in (gives(0), gives(-1), gives(1), gives(-1, exception=ValueError), gives(0, exception=ValueError)):
    producer = Producer((3,))
    kind = type_with_table(producer, from_object=table, borrow=lambda *_: -1)
    tried(*everyway(kind()))
    producer.settle()
broken = Producer((3,), version=(2, 0))
kind = type_with_table(Producer((3,)), from_object=hands_out(broken))
tried(*everyway(kind()))
""",
    "tensors that are closed by their own indices": """
class Closes:
    def __init__(self, tensor, value):
        self.tensor, self.value = tensor, value
    def __index__(self):
        self.tensor.close()
        return self.value
for use in (lambda t: t[Closes(t, 0)], lambda t: t[1, Closes(t, 0)], lambda t: t[:, Closes(t, 0)], lambda t: t[Closes(t, 0) :],
            lambda t: t[: Closes(t, 1) :], lambda t: t[:: Closes(t, 1)], lambda t: t.transpose(Closes(t, 1), 0),
            lambda t: t.transpose((0, Closes(t, 1))), lambda t: t.reshape(Closes(t, 4)), lambda t: t.reshape((2, Closes(t, 2))),
            lambda t: t.__dlpack__(dl_device=(Closes(t, 1), 0)), lambda t: t.__dlpack__(max_version=(Closes(t, 1), 0)),
            lambda t: dlpackgo.from_dlpack(t, device=(Closes(t, 1), 0))):
    for _ in range(3):
        refused(lambda: use(dlpackgo.zeros((2, 2))), kinds=(ValueError, TypeError))
""",
    "types that are gone while they are looked at": """
class Names:
    "The attributes of a type, among which nobody may be looking while the last instance becomes another type's."
    def __init__(self, names):
        self.names = names
    def __contains__(self, name):
        gc.collect()
        return name in self.names
class Changes(type):
    def __getattribute__(cls, name):
        own = type.__getattribute__(cls, "__dict__")
        if name == "__dict__" and own["instances"]:
            own["instances"].pop().__class__ = Plain
            return Names(own)
        if name == "__module__" and not own["instances"]:
            gc.collect()
        return type.__getattribute__(cls, name)
class Plain:
    pass
for use in range(8):
    for _ in range(20):
        Base = Changes("Base", (Plain,), {"instances": []})
        kind = Changes("Kind", (Base,), {"instances": [], "fill": list(range(100))})
        producer = kind()
        kind.instances.append(producer)
        del kind, Base
        tried(everyway(producer)[use])
        fill = [type("Fill", (), {}) for _ in range(5)]
""",
    "bases that are gone while they are looked at": """
class Swaps(type):
    def __getattribute__(cls, name):
        if name == "__dlpack__" and not cls.done:
            type.__setattr__(cls, "done", True)
            kind.__bases__ = (Other,)
            raise AttributeError(name)
        return type.__getattribute__(cls, name)
    def __getattr__(cls, name):
        gc.collect()
        return [type("Fill", (), {}) for _ in range(5)] and cls.__name__
class Plain:
    pass
class Other(Plain):
    pass
for use in range(8):
    for _ in range(20):
        base = Swaps("ndarray", (Plain,), {"__module__": "numpy", "done": False})
        kind = type("Kind", (base,), {})
        producer = kind()
        del base
        tried(everyway(producer)[use])
""",
    "finalizers that close what is being read": """
gc.set_threshold(1)
class Closes:
    def __init__(self, tensor):
        self.tensor, self.me = tensor, self
    def __del__(self):
        try:
            self.tensor.close()
        except BufferError:
            pass
for use in (lambda t: t.tolist(), lambda t: repr(t), lambda t: t.copy(), lambda t: list(t), lambda t: t[::2],
            lambda t: memoryview(t).tolist(), lambda t: t.__reduce_ex__(4), lambda t: faults.sum_of_two(t, np.ones(1)),
            lambda t: dlpackgo.from_dlpack(t), lambda t: t.numpy()):
    for _ in range(5):
        tensor = dlpackgo.full((50, 50), 1.0)
        Closes(tensor)
        tried(lambda: use(tensor))
        del tensor
for use in (lambda t: t.item(), lambda t: bool(t), lambda t: repr(t)):
    for _ in range(5):  # of many lanes, so that a tuple is made and the memory is unmapped
        tensor = dlpackgo.zeros((1,), dtype=(2, 32, 60_000))
        gc.disable()
        Closes(tensor)
        gc.enable()
        use(tensor)  # nothing else may start the collection
        del tensor
gc.set_threshold(700)
""",
}


@pytest.mark.case("X-1", "C-3", "C-9")
@pytest.mark.parametrize("lie", LIES)
def test_a_producer_that_lies(lie: str, run_with_faults: Callable[..., Any]) -> None:
    done = run_with_faults(
        f"{SETTING}\n{LIES[lie]}\n"
        "def left():\n    gc.collect()\n    faults.collect()\n    now = dlpackgo._core._live()\n"
        "    return {kind: now[kind] - before[kind] for kind in now}\n"
        "print('survived')"
    )
    assert done.stdout == "survived\n"


@pytest.mark.case("X-1", "C-3")
@pytest.mark.parametrize("tensor", ["dlpackgo.ones((3,))", "dlpackgo.asarray(bytearray(8))"])
@pytest.mark.parametrize(("library", "module"), [("numpy", "None"), ("torch", "Torch('torch')")])
def test_a_library_whose_import_closes_what_is_to_be_exported(library: str, module: str, tensor: str) -> None:
    """An export imports the library when it is the first one, and meanwhile anybody may close the tensor."""
    run_python(
        f"""
import sys, types
import dlpackgo
from harness.exchange import hands_out, type_with_table
class Torch(types.ModuleType):
    "As much of PyTorch as an export looks at, before and after the tensor is closed."
    @property
    def Tensor(self):
        from harness.producers import Producer
        tensor.close()
        return type_with_table(Producer((3,), deleter=False))
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {library!r}:
            tensor.close()
sys.meta_path.insert(0, Finder())
assert "numpy" not in sys.modules
if {module}:
    sys.modules[{library!r}] = {module}
tensor = {tensor}
try:
    tensor.{library}()
except ValueError as refusal:
    assert "closed" in str(refusal)
else:
    raise AssertionError("exported")
"""
    )


def test_a_pickle_that_was_tampered_with_is_refused() -> None:
    """Whatever stands in a pickle, a tensor made from it lies within the bytes that came along."""
    unpickle: Any = dlpackgo._core._unpickle  # type: ignore[attr-defined]  # not for users
    eight = b"12345678"
    accepted = unpickle(eight, (2, 64, 1), (1,), 0)
    assert accepted.readonly and accepted.nbytes == 8
    wrong: tuple[tuple[Any, ...], ...] = (
        (b"", (2, 64, 1), (1,), 0), (eight, (2, 64, 1), (2,), 0), (eight, (2, 64, 1), (-1,), 0),
        (eight, (2, 64, 1), (2**61, 8), 0), (eight, (2, 64, 1), (2**63,), 0), (b"", (2, 64, 1), (0, 2**62), 0),
        (eight, (99, 8, 1), (8,), 0), (eight, (2, 64, 0), (1,), 0), (eight, (2, 64, 65536), (1,), 0),
        (eight, (0, 4, 1), (17,), 0), (eight, (0, 4, 1), (9,), 4), (eight, (2, 64, 1), [1], 0), (None, (2, 64, 1), (1,), 0),
        (eight, (2, 64, 1), (1,), 1), (eight, (2, 64, 1), (1,), 2), (eight, (2, 64, 1), (1,), 2**40),
        (eight, None, (1,), 0), (eight, (2, 64, 1), (1.0,), 0), (eight, (2, 64, 1), (1,) * 65, 0), (eight, (2, 64, 1)),
    )  # fmt: skip
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError, BufferError, OverflowError)):
            unpickle(*arguments)

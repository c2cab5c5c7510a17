"""Who frees what, and when: every deleter runs once, every reference comes back."""

import contextlib
import ctypes
import gc
import sys
import threading
from typing import Any

import numpy as np
import pytest
from harness.capsules import Taken, name_of, peek
from harness.processes import repeated_in_threads, run_python, together
from harness.producers import Hands, Producer

import dlpackgo

REQUESTS: tuple[dict[str, Any], ...] = ({}, {"max_version": (1, 0)}, {"max_version": (1, 3)}, {"copy": True})


def references(thing: Any) -> int:
    gc.collect()
    return sys.getrefcount(thing)


@pytest.mark.case("C-2")
def test_capsules_made_and_dropped_leave_nothing_behind() -> None:
    array = np.arange(3.0)
    before = references(array)
    tensor = dlpackgo.from_dlpack(array)
    during, live = references(array), dlpackgo._core._live()["bytes"]
    for _ in range(500):
        for request in REQUESTS:
            tensor.__dlpack__(**request)
    views = [tensor[1:], tensor.reshape(1, 3), dlpackgo.from_dlpack(tensor), np.asarray(tensor)]
    assert references(array) == during  # by the array itself at first, by an owner from the first export on
    del views
    assert references(array) == during
    assert dlpackgo._core._live()["bytes"] == live
    del tensor
    assert references(array) == before


@pytest.mark.case("C-2")
def test_many_exports_live_side_by_side() -> None:
    array = np.arange(3.0)
    before = references(array)
    tensor = dlpackgo.from_dlpack(array)
    held = [tensor.__dlpack__(max_version=(1, 0)) for _ in range(50)]
    arrays = [np.from_dlpack(Hands(capsule)) for capsule in held]
    del tensor, held
    assert all(a.tolist() == [0, 1, 2] for a in arrays)
    del arrays
    assert references(array) == before


@pytest.mark.case("C-3")
@pytest.mark.parametrize("form", ["legacy", "versioned"])
@pytest.mark.parametrize("capsule_dies_first", [True, False])
def test_the_deleter_runs_once_whichever_of_capsule_and_tensor_dies_first(capsule_dies_first: bool, form: Any) -> None:
    producer = Producer((3,), form=form)
    tensor = dlpackgo.from_dlpack(producer)
    assert (name_of(producer.capsules[0]) or "").startswith("used_dltensor")
    if capsule_dies_first:
        producer.settle()
        assert producer.deleted == 0
        del tensor
    else:
        del tensor
        gc.collect()
        assert producer.deleted == 1
    assert producer.settle() == 1


@pytest.mark.case("C-3")
def test_the_last_of_tensor_views_and_exports_releases() -> None:
    makers: dict[str, Any] = {
        "tensor": lambda t: t,
        "view": lambda t: t[1:],
        "import": dlpackgo.from_dlpack,
        "numpy": np.from_dlpack,
        "buffer": memoryview,
        "capsule": lambda t: t.__dlpack__(max_version=(1, 0)),
        "iterator": iter,
    }
    for last in makers:
        producer = Producer((3,))
        tensor = dlpackgo.from_dlpack(producer)
        held = {name: make(tensor) for name, make in makers.items()}
        del tensor
        for name in makers:
            if name != last:
                del held[name]
        gc.collect()
        assert producer.deleted == 0, last
        held.clear()
        gc.collect()
        assert producer.deleted == 1, last
        assert producer.settle() == 1


@pytest.mark.case("C-5")
def test_the_deleter_frees_everything_and_the_consumer_nothing_else() -> None:
    array = np.arange(1000.0)
    before, live = references(array), dlpackgo._core._live()
    for _ in range(200):
        for request in REQUESTS:
            Taken(dlpackgo.from_dlpack(array).__dlpack__(**request)).release()
            Taken(dlpackgo.zeros((100,)).__dlpack__(**request)).release()
    assert references(array) == before
    assert dlpackgo._core._live() == live


@pytest.mark.case("C-5", "GO-8")
@pytest.mark.parametrize("rank", [1, 2, 4, 5, 8])
def test_an_export_outlives_its_tensor_and_its_capsule(rank: int) -> None:
    array = np.arange(2.0**rank).reshape((2,) * rank)[..., ::-1]
    tensor = dlpackgo.from_dlpack(array)
    taken = Taken(tensor.__dlpack__(max_version=(1, 0)))
    strides = tuple(s // 8 for s in array.strides)
    del tensor
    gc.collect()
    churn = [np.full(64, 7, np.int64) for _ in range(1000)]  # takes freed blocks, if there are any
    assert taken.managed is not None
    fields = taken.managed.tensor
    assert tuple(fields.shape[:rank]) == array.shape
    assert tuple(fields.strides[:rank]) == strides
    assert fields.data is not None
    first = ctypes.c_double.from_address(fields.data + fields.byte_offset)
    assert first.value == array[(0,) * rank]
    del churn
    taken.release()


@pytest.mark.case("C-7")
@pytest.mark.parametrize("form", ["legacy", "versioned"])
def test_a_null_deleter_means_nothing_to_free(form: Any) -> None:
    producer = Producer((3,), deleter=False, form=form)
    tensor = dlpackgo.from_dlpack(producer)
    again = dlpackgo.from_dlpack(tensor)
    assert np.from_dlpack(again).tolist() == [0, 1, 2]
    assert dlpackgo.from_dlpack(Producer((3,), deleter=False, form=form), copy=True).tolist() == [0, 1, 2]
    del tensor, again
    assert producer.settle() == 0


@pytest.mark.case("C-9")
def test_no_error_exit_of_dlpack_leaves_a_reference_behind() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    tensor: Any = dlpackgo.from_dlpack(array)
    with pytest.raises(BufferError):
        tensor.__dlpack__()
    before, live = (references(array), references(tensor)), dlpackgo._core._live()
    value = 10**30
    held = references(value)
    requests: tuple[dict[str, Any], ...] = (
        {}, {"dl_device": (2, 9)}, {"stream": 5}, {"max_version": 7}, {"copy": "yes"}, {"bogus": 1}, {"stream": value},
        {"max_version": (value, 0)}, {"dl_device": (value, value)}, {"copy": value},
    )  # fmt: skip
    for request in requests:
        for _ in range(300):
            with pytest.raises((TypeError, ValueError, BufferError)) as raised:
                tensor.__dlpack__(**request)
            del raised
    assert (references(array), references(tensor)) == before
    assert dlpackgo._core._live() == live
    assert references(value) <= held + 8  # the requests tuple and its dicts hold it


@pytest.mark.case("C-3")
def test_imports_of_our_own_tensors_share_one_owner() -> None:
    producer = Producer((3,))
    chain = [dlpackgo.from_dlpack(producer)]
    for _ in range(100):
        chain.append(dlpackgo.from_dlpack(chain[-1]))
    assert {t.data_ptr for t in chain} == {producer.address}
    while len(chain) > 1:
        chain.pop(0)
    assert producer.deleted == 0
    assert chain[0].tolist() == [0, 1, 2]
    chain.clear()
    assert producer.settle() == 1


def test_a_release_while_an_exception_is_pending_leaves_the_exception_alone() -> None:
    class Marked(Exception):
        pass

    def fails() -> None:
        capsule = dlpackgo.from_dlpack(Producer((3,))).__dlpack__(max_version=(1, 0))
        view = memoryview(dlpackgo.zeros((3,)))
        assert capsule is not None and view.nbytes == 24
        raise Marked

    for _ in range(50):
        with pytest.raises(Marked):
            fails()


def test_a_capsule_in_a_reference_cycle_is_released_by_the_collector() -> None:
    producer = Producer((3,))
    loop: list[Any] = [dlpackgo.from_dlpack(producer).__dlpack__(max_version=(1, 0))]
    loop.append(loop)
    del loop
    gc.collect()
    assert producer.settle() == 1


# --- threads ---


@pytest.mark.case("G-1")
@pytest.mark.parametrize("request_keywords", REQUESTS, ids=str)
def test_our_deleter_may_run_on_any_thread_without_the_gil(request_keywords: dict[str, Any]) -> None:
    array = np.arange(3.0)
    before = references(array)
    for _ in range(20):
        taken = Taken(dlpackgo.from_dlpack(array).__dlpack__(**request_keywords))
        thread = threading.Thread(target=taken.release)
        thread.start()
        thread.join()
    dlpackgo.from_dlpack(array)  # a queued release is drained by the next call that holds the GIL
    assert references(array) == before


@pytest.mark.case("G-1")
def test_deleters_run_on_threads_that_python_does_not_know() -> None:
    """pthread_create runs the deleter itself: a thread without a Python thread state."""
    libc = ctypes.CDLL(None)
    array = np.arange(3.0)
    before = references(array)
    for _ in range(50):
        taken = Taken(dlpackgo.from_dlpack(array).__dlpack__(max_version=(1, 0)))
        assert taken.managed is not None
        thread = ctypes.c_ulong()
        start = ctypes.c_void_p(taken.managed.deleter)
        status = libc.pthread_create(
            ctypes.byref(thread), None, start, ctypes.c_void_p(ctypes.addressof(taken.managed))
        )
        assert status == 0
        assert libc.pthread_join(thread, None) == 0
    dlpackgo.from_dlpack(np.zeros(1))
    assert references(array) == before


@pytest.mark.case("G-3")
def test_threads_that_import_and_export_one_tensor_do_not_disturb_each_other() -> None:
    array = np.arange(1000.0)
    before = references(array)
    shared = [dlpackgo.from_dlpack(array)]

    def exchange() -> None:
        tensor = shared[0]
        for _ in range(400):
            ours, numpys = dlpackgo.from_dlpack(tensor), np.from_dlpack(tensor)
            assert ours.shape == numpys.shape
            assert numpys[999] == 999
            assert memoryview(ours[::2]).shape == (500,)

    together(exchange, 8)
    shared.clear()
    dlpackgo.zeros(())
    assert references(array) == before


@pytest.mark.case("G-3")
@pytest.mark.parametrize("copy", [None, True])
def test_exactly_one_of_many_threads_gets_a_capsule(copy: Any) -> None:
    for _ in range(100):
        producer = Producer((3,))
        won: list[Any] = []
        capsule = producer.capsule((1, 0))

        def grab(capsule: Any = capsule, won: list[Any] = won) -> None:
            with contextlib.suppress(BufferError):
                won.append(dlpackgo.from_dlpack(capsule, copy=copy))

        together(grab, 4)
        assert len(won) == 1
        won.clear()
        assert producer.settle() == 1


@pytest.mark.case("G-3")
def test_tensors_released_in_other_threads_are_released_once() -> None:
    producers = [Producer((3,)) for _ in range(200)]
    tensors = [dlpackgo.from_dlpack(producer) for producer in producers]

    def drop() -> None:
        while tensors:
            try:
                tensors.pop()
            except IndexError:
                return

    with repeated_in_threads(lambda: dlpackgo.zeros((8,)).tolist()):
        together(drop, 4)
    assert [producer.settle() for producer in producers] == [1] * 200


@pytest.mark.case("C-9")
@pytest.mark.parametrize(
    "to_and_fro",
    [
        "dlpackgo.from_dlpack(np.from_dlpack(tensor))",
        "dlpackgo.from_dlpack(tensor.numpy())",
        "dlpackgo.from_dlpack(tensor.__dlpack__(max_version=(1, 0)))",
        "dlpackgo.asarray(memoryview(tensor))",
        "dlpackgo.from_dlpack(np.asarray(memoryview(tensor)))",
        "dlpackgo.from_dlpack(np.asarray(tensor))",
        "dlpackgo.asarray(types.SimpleNamespace(__array_interface__=interface, of=tensor))",
    ],
)
def test_memory_that_went_to_and_fro_ever_so_often_is_released(to_and_fro: str) -> None:
    """Each crossing holds on to the one before, and the stack has no room for all of them."""
    run_python(
        f"""import dlpackgo, types
import numpy as np
tensor = dlpackgo.ones((3,))
interface = np.ones(3).__array_interface__
before = dlpackgo._core._live()
for _ in range(100_000):
    tensor = {to_and_fro}
assert tensor.shape == (3,)
tensor = dlpackgo.ones((3,))
assert dlpackgo._core._live() == before
""",
        timeout=300,
    )


# --- the end of the interpreter ---


@pytest.mark.case("G-1")
@pytest.mark.parametrize(
    "held",
    [
        "np.from_dlpack(dlpackgo.zeros((3,)))",
        "dlpackgo.from_dlpack(np.zeros(3))",
        "dlpackgo.from_dlpack(np.zeros(3)).__dlpack__()",
        "memoryview(dlpackgo.zeros((3,)))",
        "dlpackgo.from_dlpack(Producer((3,)))",
        "dlpackgo.from_dlpack(dlpackgo.from_dlpack(np.zeros(3))[1:]).__dlpack__(max_version=(1, 0))",
    ],
)
def test_what_is_alive_when_the_interpreter_ends_does_no_harm(held: str) -> None:
    for keeper in ("kept = {}", "import sys; sys.kept = {}", "import builtins; builtins.loop = [{}]; loop.append(loop)",
                   "import ctypes; kept = {}; ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))"):  # fmt: skip
        run_python(
            "import numpy as np, dlpackgo\nfrom harness.producers import Producer\n" + keeper.format(held), timeout=30
        )


@pytest.mark.case("G-1")
def test_our_deleters_work_after_the_interpreter_is_gone() -> None:
    code = """
import atexit, ctypes, dlpackgo
from harness.capsules import Taken
taken = Taken(dlpackgo.zeros((3,)).__dlpack__(max_version=(1, 0)))
libc = ctypes.CDLL(None)
deleter, address = taken.managed.deleter, ctypes.addressof(taken.managed)
# glibc's on_exit(function, argument) calls function(status, argument); __cxa_atexit calls function(argument)
assert libc.__cxa_atexit(ctypes.c_void_p(deleter), ctypes.c_void_p(address), None) == 0
"""
    run_python(code)


def test_peek_of_a_capsule_shows_a_deleter_always() -> None:
    for request in REQUESTS:
        assert peek(dlpackgo.zeros((2,)).__dlpack__(**request)).has_deleter

"""Calls of Go functions that fail, wait, keep and return what the functions of the wheel never do.

Run by test_authors.py, on the extension module that is built from extension/.
"""

import array
import gc
import inspect
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness.capsules import peek
from harness.processes import fork_and, together
from harness.producers import OldProducer, Producer

import dlpackgo

core: Any = dlpackgo._core
go = core.authors


def collected(condition: Callable[[], bool]) -> bool:
    """Whether Go's collector brings the condition about. Its cleanups run some time after a collection."""
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        go.collect()
        time.sleep(0.01)
        dlpackgo.zeros(())  # what needs the GIL waits for the next call that holds it
    return condition()


def float64_producer(**options: Any) -> Producer:
    return Producer((3,), dtype=(2, 64, 1), **options)


# --- panics ---

PANICS = {
    "text": "told to: é%s",
    "error": "an error as the reason",
    "nil pointer": "nil pointer",
    "index": "index out of range",
    "map": "nil map",
    "assertion": "interface conversion",
    "division": "divide by zero",
    "huge slice": "len out of range",
    "closed channel": "close of closed channel",
    "long": "",
    "deep": "at the bottom",
}


@pytest.mark.parametrize("function", [go.panics, go.panics_quick, go.panics_interruptible], ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", PANICS)
def test_a_panic_is_a_runtime_error_with_the_go_stack_in_its_notes(kind: str, function: Any) -> None:
    for _ in range(3):
        with pytest.raises(RuntimeError) as raised:
            function(kind)
        assert PANICS[kind] in str(raised.value)
        assert function.__name__ in str(raised.value)
        assert any("main.go" in note for note in raised.value.__notes__)
    assert go.echo_int(3) == 3


def test_panics_in_many_threads_are_exceptions_there() -> None:
    def work() -> None:
        for _ in range(50):
            with pytest.raises(RuntimeError):
                go.panics("index")

    together(work, 8)


# --- errors ---


@pytest.mark.parametrize(
    "kind", ["ValueError", "TypeError", "BufferError", "RuntimeError", "MemoryError", "IndexError"]
)
def test_an_error_becomes_the_exception_that_was_asked_for(kind: str) -> None:
    error: type[Exception] = getattr(__import__("builtins"), kind)
    with pytest.raises(error, match="told to") as raised:
        go.fails(kind)
    assert type(raised.value) is error


def test_errors_are_value_errors_unless_said_otherwise() -> None:
    with pytest.raises(ValueError, match="told to"):
        go.fails("")
    with pytest.raises(TypeError, match="around it: told to"):
        go.fails("wrapped")
    with pytest.raises(ValueError, match=r"authors\.fails\(\): $"):
        go.fails("empty")


def test_a_bad_shape_is_a_value_error_of_who_passed_it_and_a_buffer_error_of_a_producer() -> None:
    with pytest.raises(ValueError, match=r"around it: .*-1"):
        go.fails("own shape")
    with pytest.raises(BufferError, match="-1"):
        go.fails("shape of a producer")


def test_the_text_of_an_error_arrives_whole() -> None:
    for odd, text in (
        ("not UTF-8", "told to: \ufffd\ufffd"),
        ("NUL", r"told to\x00and more"),
        ("NUL first", r"\x00told to\x00"),
    ):
        with pytest.raises(ValueError, match="told to") as raised:
            go.fails(odd)
        assert str(raised.value) == f"authors.fails(): {text}"


def test_what_is_no_exception_is_a_runtime_error_and_no_error_is_none() -> None:
    for kind in ("no exception", "unknown exceptions"):
        with pytest.raises(RuntimeError, match="told to") as raised:
            go.fails(kind)
        assert not hasattr(raised.value, "__notes__")
    assert go.fails("no error") is None


def test_a_text_beside_a_result_that_cannot_be_returned_is_freed() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def fail() -> None:
        with pytest.raises(ValueError, match="view of nothing"):
            go.text_and_nothing(10_000_000)

    fail()
    before = resident()
    for _ in range(100):
        fail()
    kept_by_asan = 300_000_000 if "asan" in os.environ.get("LD_PRELOAD", "") else 0  # of what is freed
    assert resident() - before < 250_000_000 + kept_by_asan


def test_results_beside_an_error_are_dropped_and_freed() -> None:
    before = core._live()
    for _ in range(20):
        with pytest.raises(ValueError, match="in spite of"):
            go.several_but_failed()
    assert collected(lambda: core._live() == before)


# --- scalars ---


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (go.echo_float, (0.0, -1.5, float("inf"), 1e308)),
        (go.echo_int, (0, -1, 2**63 - 1, -(2**63))),
        (go.echo_int64, (0, 2**63 - 1)),
        (go.echo_bool, (True, False)),
        (go.echo_complex, (0j, 1 - 2j)),
        (go.echo_string, ("", "é\x00ß", "x" * 100_000, "\U0001f600")),
        (go.echo_bytes, (b"", b"\x00\xff", b"x" * 100_000)),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_scalars_go_there_and_back(function: Any, values: tuple[Any, ...]) -> None:
    for value in values:
        got = function(value)
        assert got == value
        assert type(got) is type(value)


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (go.echo_float, ("1", None, b"", [], 1j)),
        (go.echo_int, (1.0, "1", None, True, 1j)),
        (go.echo_bool, ("", None, [], 2)),
        (go.echo_complex, ("1j", None, [])),
        (go.echo_string, (b"x", None, 1)),
        (go.echo_bytes, ("x", None, 1)),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_scalars_of_another_kind_are_type_errors_that_name_argument_and_value(function: Any, wrong: Any) -> None:
    for value in wrong:
        with pytest.raises(TypeError, match="argument x") as refusal:
            function(value)
        assert repr(value) in str(refusal.value)


class Indexes:
    """Stands for a number in places that take one, and has no repr."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        raise LookupError("no repr")


@pytest.mark.parametrize(
    ("function", "value", "complaint"),
    [
        (go.echo_int, 2**63, "must fit 64 bits; got 9223372036854775808"),
        (go.echo_int, -(2**63) - 1, "must fit 64 bits; got -9223372036854775809"),
        (go.echo_int64, 10**2000, "must fit 64 bits; got 1" + 199 * "0" + "..."),
        (go.echo_int, 10**10_000, "must fit 64 bits; got one of <class 'int'>"),
        (go.echo_int, Indexes(2**64), f"must fit 64 bits; got one of {Indexes!r}"),
        (go.echo_float, 10**100 * 10**300, "must fit a float of 64 bits; got 1" + 199 * "0" + "..."),
        (go.echo_float, 10**10_000, "must fit a float of 64 bits; got one of <class 'int'>"),
        (go.echo_float, Indexes(2**2000), f"must fit a float of 64 bits; got one of {Indexes!r}"),
        (go.echo_complex, -(10**400), "must fit a float of 64 bits; got -1" + 198 * "0" + "..."),
        (go.echo_complex, Indexes(2**2000), f"must fit a float of 64 bits; got one of {Indexes!r}"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_numbers_that_do_not_fit_are_overflow_errors_that_name_the_argument(
    function: Any, value: Any, complaint: str
) -> None:
    with pytest.raises(OverflowError) as refusal:
        function(value)
    assert str(refusal.value) == f"authors.{function.__name__}() argument x {complaint}"


def test_text_that_utf_8_cannot_write_is_refused_by_the_name_of_its_argument() -> None:
    with pytest.raises(ValueError, match=r"authors\.echo_string\(\) argument x must be text .* got 'a\\ud800'$"):
        go.echo_string("a\ud800")


def test_values_without_a_short_repr_are_refused_in_few_words() -> None:
    for function in (go.echo_string, go.echo_bytes, go.echo_bool, go.echo_float, go.echo_complex):
        for value in (10**10_000, [0] * 100_000, Indexes(1)):
            if function in (go.echo_float, go.echo_complex) and not isinstance(value, list):
                continue
            with pytest.raises(TypeError, match=f"{function.__name__}.. argument x must be") as refusal:
                function(value)
            assert len(str(refusal.value)) < 400


def test_what_counts_as_a_number_is_taken() -> None:
    class Index:
        def __index__(self) -> int:
            return 5

    class Float:
        def __float__(self) -> float:
            return 2.5

    assert go.echo_int(Index()) == 5
    assert go.echo_int(np.int16(5)) == 5
    assert go.echo_float(3) == 3.0
    assert go.echo_float(np.float32(2.5)) == 2.5
    assert go.echo_float(Float()) == 2.5
    assert go.echo_complex(2) == 2


def test_numpys_scalars_are_taken_for_what_they_are() -> None:
    for truth in (True, False):
        for value in (np.bool_(truth), np.array(truth), dlpackgo.asarray(np.array(truth))):
            assert go.echo_bool(value) is truth
    for integer in (np.int8(-3), np.uint64(7), np.array(5), dlpackgo.asarray(np.array(5))):
        assert go.echo_int(integer) == int(integer)
    for real in (np.float16(0.5), np.float32(2.5), np.float64(-1), np.int32(3), np.array(1.5), np.bool_(True)):
        assert go.echo_float(real) == float(real)
        assert go.echo_complex(real) == float(real)
    for number in (np.complex64(1 - 2j), np.complex128(3j), np.array(1j), dlpackgo.asarray(np.array(2 - 1j))):
        assert go.echo_complex(number) == complex(number)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (go.echo_bool, (1, 0, np.int64(1), np.float64(0), np.array([True]), np.str_("x"), np.array(1))),
        (go.echo_int, (np.bool_(True), np.float64(1), np.complex64(1), np.array([1, 2]), np.str_("1"))),
        (go.echo_float, (np.complex64(1 + 2j), np.complex128(1), np.array(1j), np.str_("1.5"), np.bytes_(b"1.5"),
                         np.datetime64(3, "s"), np.timedelta64(3, "s"), np.array([1.5, 2.5]))),
        (go.echo_complex, (np.str_("1j"), np.bytes_(b"1"), np.datetime64(3, "s"), np.array([1j, 2j]))),
        (go.echo_string, (np.bytes_(b"x"), bytearray(b"x"), np.array("x"))),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)  # fmt: skip
def test_scalars_that_would_lose_something_are_refused(function: Any, wrong: Any) -> None:
    for value in wrong:
        with pytest.raises(TypeError, match="argument x must be"):
            function(value)


def test_text_and_numbers_of_subclasses_are_taken() -> None:
    assert go.echo_string(np.str_("é")) == "é"
    assert go.echo_bytes(np.bytes_(b"x\0y")) == b"x\0y"
    assert go.echo_int(signal.SIGINT) == signal.SIGINT


BUFFERS: dict[str, Callable[[], Any]] = {
    "bytearray": lambda: bytearray(b"x\0y"),
    "memoryview": lambda: memoryview(b"x\0y"),
    "writable memoryview": lambda: memoryview(bytearray(b".x\0y."))[1:4],
    "array": lambda: array.array("B", b"x\0y"),
    "signed": lambda: array.array("b", b"x\0y"),
    "NumPy": lambda: np.frombuffer(b"x\0y", np.uint8),
    "Tensor": lambda: dlpackgo.asarray(b"x\0y"),
    "cast": lambda: memoryview(array.array("h", b"x\0y\0"))[:1].cast("B"),
}


@pytest.mark.parametrize("kind", BUFFERS)
def test_bytes_are_taken_from_every_buffer_of_them(kind: str) -> None:
    buffer = BUFFERS[kind]()
    assert go.echo_bytes(buffer) == bytes(buffer)
    assert go.echo_bytes(memoryview(bytearray())) == b""


def test_a_buffer_is_held_while_go_has_it_and_given_back_after_the_call() -> None:
    buffer, seen = bytearray(b"text"), []

    class Resizes:
        def __index__(self) -> int:
            with pytest.raises(BufferError, match="re-sized"):
                buffer.extend(b"more")
            seen.append(len(buffer))
            return 3

    assert go.length_and(buffer, Resizes()) == 4 + 3
    assert seen == [4]
    buffer.extend(b"more")
    with pytest.raises(TypeError):
        go.length_and(buffer, "no number")
    buffer.extend(b"and more")
    assert go.echo_bytes(buffer) == b"textmoreand more"


def test_buffers_of_something_else_than_bytes_in_a_row_are_refused_with_the_way_out() -> None:
    with pytest.raises(TypeError, match=r"argument x must be bytes; .* 8 bytes each: pass memoryview\(x\)\.cast"):
        go.echo_bytes(np.ones(3))
    for strided in (memoryview(b"abcdef")[::2], np.zeros((4, 4), np.uint8).T[1:]):
        with pytest.raises(BufferError, match=r"argument x must be bytes in a row.*pass bytes\(x\)"):
            go.echo_bytes(strided)


def test_an_error_of_a_conversion_reaches_the_caller() -> None:
    class Broken:
        def __index__(self) -> int:
            raise LookupError("no number")

        __float__ = __index__

    for function in (go.echo_int, go.echo_float):
        with pytest.raises(LookupError, match="no number") as raised:
            function(Broken())
        assert raised.value.__notes__ == [f"raised for authors.{function.__name__}() argument x"]

    class Large(float):
        def __complex__(self) -> complex:
            raise OverflowError("larger than I am")

        __index__ = __complex__

    for function in (go.echo_int, go.echo_complex):
        with pytest.raises(OverflowError, match="larger than I am") as larger:
            function(Large())
        assert larger.value.__notes__ == [f"raised for authors.{function.__name__}() argument x"]


def test_a_closed_tensor_is_refused_by_the_name_of_its_argument() -> None:
    tensor = dlpackgo.zeros((3,))
    tensor.close()
    for function in (go.describe, go.same, go.name_of):
        with pytest.raises(ValueError, match=rf"authors\.{function.__name__}\(\) argument x .*closed"):
            function(tensor)


def test_any_error_of_a_producer_tells_which_argument_it_was() -> None:
    class Broken:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_: Any) -> Any:
            raise LookupError("no tensor")

    with pytest.raises(LookupError, match="no tensor") as raised:
        go.describe(Broken())
    assert raised.value.__notes__ == ["raised for authors.describe() argument x"]


# --- declarations ---

MISTAKES = {
    "empty module": 'Module(""): the name is empty',
    "dotted module": 'Module("a.b"): the name has a dot',
    "keyword module": 'Module("class"): the name is a keyword',
    "spaced module": 'Module("a b"): the name is no identifier',
    "Python's module": 'Module("__file__"): the name is such a name as Python gives',
    "nil module": 'Def("f") of a nil module; make the module with Module',
    "twice": "authors.mistake: the function is declared twice; choose another name",
    "twice elsewhere": "authors.mistake: the function is declared twice",
    "empty name": 'authors."": the name of the function is empty; choose another',
    "spaced name": 'authors."f g": the name of the function is no identifier',
    "NUL": r'authors."f\x00g": the name of the function is no identifier',
    "not UTF-8": r'authors."f\xff": the name of the function is no identifier',
    "not ASCII": 'authors."größe": the name of the function is no identifier: ASCII letters',
    "digit first": 'authors."1f": the name of the function is no identifier',
    "keyword": 'authors."lambda": the name of the function is a keyword',
    "nothing": "authors.f: it is declared without a function; give Def what Func0",
    "nil function": "authors.f: function 0 of Def, counted from 0, is nil; pass a function",
    "nil with a context": "authors.f: function 0 of Def, counted from 0, is nil",
    "nil second function": "authors.f: function 1 of Def, counted from 0, is nil",
    "zero Func": "authors.f: function 0 of Def, counted from 0, is nil",
    "nil option": "authors.f: option 1 of Def, counted from 0, is nil; leave it out",
    "argument twice": 'authors.f: argument "x": the name stands twice in Args; give each',
    "optional twice": 'authors.f: argument "x": the name stands twice in Args',
    "keyword argument": 'authors.f: argument "from": the name is a keyword of Python; write it as in "axis"',
    "empty argument": 'authors.f: argument "": the name is empty',
    "spaced argument": 'authors.f: argument "y = None": the name is no identifier',
    "star argument": 'authors.f: argument "*x": the name is no identifier',
    "NUL argument": r'authors.f: argument "x\x00": the name is no identifier',
    "no default": 'authors.f: argument "y": a default goes with Optional',
    "empty default": 'authors.f: argument "y=": the default is nothing that inspect.signature reads',
    "NUL default": r'authors.f: argument "y=\x00": the default is nothing that inspect.signature reads',
    "default not ASCII": """authors.f: argument "y='é'": the default is nothing that inspect.signature reads""",
    "default too many": 'authors.f: argument "x=1": a default goes with Optional',
    "too few names": "authors.f: the function has 2 parameters, and Args has 1 names",
    "optional first": 'authors.f: argument "y": it is needed, and stands behind "x=None", which may be left out; put it',
    "overloads": "authors.f: its overloads differ in more than dtypes",
    "overloads of results": "authors.f: its overloads differ in more than dtypes",
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_declaration_that_cannot_work_panics_with_its_place_and_the_fix(kind: str) -> None:
    said = go.mistake(kind)
    assert said.startswith("pyglue: " + MISTAKES[kind])
    assert ";" in said or "a default goes with" in said


def test_every_function_has_a_signature_that_inspect_reads() -> None:
    functions = [function for function in vars(go).values() if callable(function)]
    assert len(functions) > 40
    for function in functions:
        inspect.signature(function)


def test_a_note_has_room_for_names_of_any_length() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        go.long_name(type("Bad", (), {"__index__": lambda self: 1 // 0})())
    assert raised.value.__notes__ == ["raised for authors.long_name() argument " + 300 * "x"]


def test_a_docstring_arrives_whole() -> None:
    assert go.says_nul.__doc__ == r"before\x00after"


def test_optional_arguments_may_be_left_out_or_none() -> None:
    assert go.given() == "false 0 7"
    assert go.given(None, None) == "false 0 7"
    assert go.given(1.5) == "true 1.5 7"
    assert go.given(n=3) == "false 0 3"
    assert go.given(n=3, x=2) == "true 2 3"
    for arguments, keywords in (((1, 2, 3), {}), ((1,), {"x": 1}), ((), {"y": 1}), (("x",), {})):
        with pytest.raises(TypeError, match="given"):
            go.given(*arguments, **keywords)


def test_several_results_are_a_tuple() -> None:
    number, text, tensor = go.several()
    assert (number, text, tensor.tolist(), tensor.dtype) == (1, "two", [0, 0], "int32")


# --- views ---


def test_overloads_are_chosen_by_dtype() -> None:
    for name in ("float64", "float32", "int64", "bool", "complex64"):
        assert go.name_of(np.ones(2, name)) == name
    with pytest.raises(TypeError, match="float16") as refusal:
        go.name_of(np.ones(2, "float16"))
    for name in ("float64", "float32", "int64", "bool", "complex64"):
        assert name in str(refusal.value)


@pytest.mark.case("T-1")
def test_an_odd_byte_of_a_bool_is_a_true_bool_in_go() -> None:
    odd = np.arange(256, dtype=np.uint8).view(np.bool_)
    for x in (odd, odd[::-1], dlpackgo.from_dlpack(odd), Producer((256,), dtype=(6, 8, 1), data=odd.ctypes.data)):
        assert go.truths(x) == (255, 255)


def test_a_view_of_any_dtype_is_described_exactly() -> None:
    array = np.zeros((3, 4), np.int16)[::-1, ::2]
    assert go.describe(array) == "int16 cpu:0 [3 2] [-4 2] false"
    array.flags.writeable = False
    assert go.describe(dlpackgo.from_dlpack(array)) == "int16 cpu:0 [3 2] [-4 2] true"
    assert go.describe(dlpackgo.zeros((), dtype="bfloat16")) == "bfloat16 cpu:0 [] [] false"
    assert go.describe(np.zeros((0, 3))).startswith("float64 cpu:0 [0 3]")
    assert go.describe(np.zeros((1,) * 64)).startswith("float64 cpu:0 [1 1")


def test_a_device_is_let_through_only_where_the_function_says_so() -> None:
    producer = Producer((3,), device=(2, 1))
    assert go.describe(producer).startswith("float32 cuda:1 [3]")
    with pytest.raises(BufferError, match="cuda:1"):
        go.describe_on_host(producer)
    assert producer.settle() == 2


@pytest.mark.case("RO-3")
def test_a_mutable_view_writes_into_the_callers_memory() -> None:
    for out in (np.zeros(4), np.zeros(8)[::2], np.zeros(4)[::-1]):
        for target in (out, dlpackgo.from_dlpack(out), memoryview(out)):
            out[:] = 0
            go.fill(target, 2.5)
            assert out.tolist() == [2.5] * 4
    producer = float64_producer()
    go.fill(producer, 7.0)
    assert np.frombuffer(producer.buffer, np.float64)[:3].tolist() == [7, 7, 7]
    assert producer.settle() == 1


@pytest.mark.case("RO-3")
def test_a_mutable_view_of_read_only_memory_is_refused() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    old = OldProducer((3,), dtype=(2, 64, 1))
    read_only = float64_producer(flags=1)
    for target in (
        array,
        dlpackgo.from_dlpack(array),
        memoryview(array),
        bytes(24),
        old,
        read_only,
        np.broadcast_to(0.0, (3,)),
    ):
        with pytest.raises((BufferError, TypeError), match="argument out"):
            go.fill(target, 1.0)
    assert array.tolist() == [0, 0, 0]
    assert (old.settle(), read_only.settle()) == (1, 1)


def test_one_array_may_be_read_and_written_by_one_call() -> None:
    array = np.arange(4.0)
    go.add_into(array, array)
    assert array.tolist() == [0, 2, 4, 6]


def test_an_array_that_is_too_short_is_an_index_error_of_go() -> None:
    with pytest.raises(IndexError, match="add_into"):
        go.add_into(np.zeros(2), np.zeros(3))


# --- tensors ---


def test_a_tensor_argument_may_be_returned() -> None:
    array = np.arange(4.0)
    for source in (array, dlpackgo.from_dlpack(array)):
        again = go.same(source)
        assert again.data_ptr == array.ctypes.data
        assert again.tolist() == [0, 1, 2, 3]
    array.flags.writeable = False
    assert go.same(array).readonly


@pytest.mark.parametrize("name", ["keep_views", "keep_views_interruptible"])
@pytest.mark.parametrize("given", [False, True])
def test_views_kept_beyond_their_call_are_errors_while_debugging(name: str, given: bool) -> None:
    x, out, y = np.arange(3.0) + 7, np.zeros(2), np.arange(5)
    go.debug(True)
    try:
        for _ in range(3):
            out[:] = 0
            assert getattr(go, name)(x, out, y if given else None) == 7
            assert out[0] == 3
            go.given()  # uses the stack for something else
            with pytest.raises(BufferError) as problem:
                go.use_kept_views()
            assert str(problem.value).count("has outlived its memory") == 2 + given
            assert out[1] == 0
    finally:
        go.debug(False)
    assert getattr(go, name)(x, out, y) == 7


def test_a_tensor_kept_by_go_keeps_the_memory_until_it_is_let_go() -> None:
    producer = float64_producer()
    np.frombuffer(producer.buffer, np.float64)[:3] = [1, 2, 4]
    go.keep(producer)
    gc.collect()
    assert producer.deleted == 0
    assert go.kept_sum() == 7
    go.let_go()
    dlpackgo.zeros(())  # what needs the GIL waits for the next call that holds it
    assert producer.settle() == 1


def test_tensors_that_go_forgets_are_released_after_its_collections() -> None:
    producers = [float64_producer() for _ in range(20)]
    for producer in producers:
        go.forget(producer)
    assert collected(lambda: all(producer.deleted for producer in producers))
    assert [producer.settle() for producer in producers] == [1] * 20


def test_one_tensor_is_not_returned_twice_and_none_is_no_tensor() -> None:
    array = np.arange(3.0)
    try:
        first, second = go.twice(array)
    except (ValueError, BufferError, RuntimeError):
        pass
    else:
        assert first.tolist() == second.tolist() == [0, 1, 2]
        del first, second
    with pytest.raises((ValueError, BufferError, RuntimeError)):
        go.nothing()


@pytest.mark.case("GO-8")
def test_memory_of_the_go_heap_stays_where_it_is_while_an_export_lives() -> None:
    held = [np.from_dlpack(go.slice(1000)) for _ in range(50)]
    for _ in range(20):
        go.collect()
        dlpackgo.zeros((10_000,))
    assert all(array.tolist() == list(range(1000)) for array in held)
    held.clear()
    go.collect()
    empty = go.slice(0)
    assert (empty.shape, empty.tolist()) == ((0,), [])
    assert peek(empty.__dlpack__(max_version=(1, 0))).data is None
    del empty
    assert collected(lambda: core._live()["owners"] == 0)


def test_memory_that_is_lent_for_the_call_has_no_owner_and_that_of_a_tensor_is_kept() -> None:
    array = np.arange(3.0)
    for lent in (array, dlpackgo.from_dlpack(array), memoryview(array)):
        with pytest.raises(ValueError, match=r"owned_view\(\).*no owner to share.*copy"):
            go.owned_view(lent)
    kept = go.owned_tensor(dlpackgo.from_dlpack(array))
    address = array.ctypes.data
    del array, lent
    go.collect()
    assert (kept.tolist(), kept.data_ptr) == ([0, 1, 2], address)
    del kept
    assert collected(lambda: core._live()["owners"] == 0)


# --- cancellation ---


@contextmanager
def interrupted_after(seconds: float) -> Iterator[list[float]]:
    """Sends SIGINT to this process; the list holds when."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield sent
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.case("GO-5")
@pytest.mark.parametrize("call", [lambda: go.waits(), lambda: go.waits_for_view(np.ones(3))], ids=["nothing", "a view"])
def test_ctrl_c_ends_a_call_that_takes_a_context_within_100_ms(call: Any) -> None:
    for _ in range(3):
        with interrupted_after(0.1) as sent, pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - sent[0] < 0.1
    assert go.running() == 0


@pytest.mark.case("GO-5")
def test_a_handler_that_raises_cancels_with_its_own_exception() -> None:
    class Alarm(Exception):
        pass

    def ring(*_: Any) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Alarm):
            go.waits()
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.case("GO-5")
def test_a_handler_that_returns_does_not_end_the_call() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        assert go.ignores_cancellation(300) > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) >= 3


@pytest.mark.case("GO-5")
def test_a_call_that_ignores_cancellation_still_ends_in_a_keyboard_interrupt() -> None:
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt):
        go.ignores_cancellation(300)
    assert go.echo_int(1) == 1


# --- threads ---


def test_the_gil_is_released_while_go_runs() -> None:
    start = time.monotonic()
    thread = threading.Thread(target=go.spin, args=(500,))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    assert time.monotonic() - start < 5
    assert turns > 20


def test_goroutines_run_and_end() -> None:
    assert go.goroutines(100) == 4950
    together(lambda: go.goroutines(20), 8)


def test_a_tensor_is_not_closed_while_go_reads_it() -> None:
    tensor = dlpackgo.ones((3,))
    refused: list[str] = []

    def close() -> None:
        time.sleep(0.05)
        try:
            tensor.close()
        except BufferError as refusal:
            refused.append(str(refusal))
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=close)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            go.waits_for_view(tensor)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert len(refused) == 1
    tensor.close()


@pytest.mark.case("GO-1")
def test_calls_of_every_kind_are_refused_in_a_forked_child() -> None:
    go.goroutines(10)

    calls: tuple[tuple[Any, ...], ...] = ((go.echo_int, 1), (go.running,), (go.waits,), (go.panics, "text"))

    def child() -> int:
        for function, *arguments in calls:
            try:
                function(*arguments)
            except RuntimeError as refusal:
                if "spawn" not in str(refusal):
                    return 3
            else:
                return 2
        return 0

    assert [fork_and(child) for _ in range(5)] == [0] * 5

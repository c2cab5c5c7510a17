"""dlpackgo.runtime: the settings of the Go runtime, and what it says of itself."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from harness.processes import run_python

import dlpackgo
from dlpackgo import runtime

SETTINGS = (runtime.memory_limit, runtime.gc_percent, runtime.max_procs)


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    before = [setting() for setting in SETTINGS]
    yield
    for setting, value in zip(SETTINGS, before, strict=True):
        setting(value)
    assert [setting() for setting in SETTINGS] == before


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        (runtime.memory_limit, (1 << 40, "off", 2**62, 1 << 30)),
        (runtime.gc_percent, (50, "off", 0, 2**31 - 1, 100)),
        (runtime.max_procs, (1, 1024, 3)),
    ],
)
def test_a_setting_returns_what_holds_from_now_on_and_without_a_value_what_holds(
    setting: Callable[..., Any], values: tuple[Any, ...]
) -> None:
    for value in values:
        assert setting(value) == value
        assert setting() == value == setting(None)


def test_settings_take_every_kind_of_integer() -> None:
    assert runtime.memory_limit(np.int64(1 << 40)) == 1 << 40
    assert runtime.gc_percent(np.uint8(200)) == 200


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("value", [True, False, 2.0, math.nan, [], b"off", np.float64(2), np.zeros(2)])
def test_what_is_no_integer_is_a_type_error(setting: Callable[..., Any], value: Any) -> None:
    before = setting()
    with pytest.raises(TypeError, match=rf"runtime\.{setting.__name__}\(\) argument \w+ must be an integer"):
        setting(value)
    assert setting() == before


@pytest.mark.parametrize(
    ("setting", "value", "accepted"),
    [
        (runtime.memory_limit, 0, '1 byte or more is accepted, or "off"'),
        (runtime.memory_limit, -1, '1 byte or more is accepted, or "off"'),
        (runtime.memory_limit, -(2**63), '1 byte or more is accepted, or "off"'),
        (runtime.memory_limit, "1GiB", 'an int is accepted, or "off"'),
        (runtime.gc_percent, -1, '0 to 2147483647 is accepted, or "off"'),
        (runtime.gc_percent, 2**31, '0 to 2147483647 is accepted, or "off"'),
        (runtime.gc_percent, 2**32 + 100, '0 to 2147483647 is accepted, or "off"'),
        (runtime.gc_percent, "", 'an int is accepted, or "off"'),
        (runtime.max_procs, 0, "1 to 1024 is accepted"),
        (runtime.max_procs, -1, "1 to 1024 is accepted"),
        (runtime.max_procs, 1_000_000, "1 to 1024 is accepted"),
    ],
)
def test_what_is_out_of_range_is_a_value_error_that_says_what_is_accepted(
    setting: Callable[..., Any], value: Any, accepted: str
) -> None:
    before = setting()
    with pytest.raises(ValueError, match=f"is {value!r}; {accepted}"):
        setting(value)
    assert setting() == before


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**70])
def test_what_does_not_fit_is_an_overflow_error(setting: Callable[..., Any], value: int) -> None:
    before = setting()
    with pytest.raises(OverflowError, match="must fit 64 bits"):
        setting(value)
    assert setting() == before


# --- the environment ---

TELL = "import dlpackgo.runtime as r; print(r.memory_limit(), r.gc_percent(), r.max_procs())"


def test_what_the_environment_said_when_the_process_started_holds() -> None:
    environment = {"GOMEMLIMIT": "512MiB", "GOGC": "off", "GOMAXPROCS": "3"}
    assert run_python(TELL, environment=environment).stdout.split() == [str(512 << 20), "off", "3"]


@pytest.mark.parametrize(
    ("limit", "holds"),
    [("", "off"), ("off", "off"), ("0", "0"), ("7B", "7"), ("512MiB", str(512 << 20)), ("2KiB", "2048"),
     ("3TiB", str(3 << 40)), ("9223372036854775807", str(2**63 - 1)), ("0512KiB", str(512 << 10)),
     *((wrong, None) for wrong in ("512MB", "512M", "512 MiB", "1.5GiB", "-1", "x", "B", "MiB", "Off", " 5", "5iB", "5PiB",
                                   "9223372036854775808", "8388608TiB", "٣"))],
    ids=repr,
)  # fmt: skip
def test_a_limit_that_go_cannot_read_is_an_import_error(limit: str, holds: str | None) -> None:
    """Go itself would end the process."""
    code = "try:\n import dlpackgo.runtime\nexcept ImportError as e:\n print(e)\nelse:\n print(dlpackgo.runtime.memory_limit())"
    said = run_python(code, environment={"GOMEMLIMIT": limit, "PYTHONIOENCODING": "utf-8"}).stdout.strip()
    if holds is None:
        assert "512MiB" in said and ascii(limit)[1:-1] in ascii(said)
    else:
        assert said in (holds, "off" if holds == str(2**63 - 1) else holds)


def test_too_little_address_space_is_an_import_error() -> None:
    """Go itself would end the process."""
    code = """
import resource
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), resource.RLIM_INFINITY))
try:
    import dlpackgo
except ImportError as error:
    assert "ulimit -v" in str(error), error
else:
    raise AssertionError
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
import dlpackgo
assert dlpackgo.stats.mean(dlpackgo.ones(3)) == 1
"""
    run_python(code)


# --- collecting ---


def test_collect_runs_the_collector_of_go() -> None:
    before = runtime.stats()
    runtime.collect()
    after = runtime.stats()
    assert after.num_gc > before.num_gc
    assert after.pause_total_ns > before.pause_total_ns


def test_stats_are_ints_that_fit_together() -> None:
    stats = runtime.stats()
    assert all(type(value) is int and value >= 0 for value in stats)
    assert 0 < stats.heap_alloc <= stats.total_alloc
    assert stats.heap_released <= stats.heap_sys < stats.sys
    assert stats.limited == stats.sys - stats.heap_released >= stats.heap_alloc
    assert stats.num_goroutine >= 1 and 0 < stats.heap_objects <= stats.heap_alloc


def test_memory_of_tensors_is_not_on_the_heap_of_go() -> None:
    runtime.collect()
    before = runtime.stats().limited
    kept = [dlpackgo.zeros((1 << 20,)), dlpackgo.linalg.matmul(np.ones((1000, 1)), np.ones((1, 1000)))]
    assert runtime.stats().limited - before < 1 << 20
    del kept


def test_in_a_forked_child_settings_are_refused_like_every_function_of_go() -> None:
    run_python(
        """
import dlpackgo.runtime as r
from harness.processes import fork_and

def refused():
    try:
        function()
    except RuntimeError as error:
        return 0 if "spawn" in str(error) else 3
    return 2

for function in (r.memory_limit, r.gc_percent, r.max_procs, r.collect, r.stats):
    assert fork_and(refused) == 0, function
"""
    )

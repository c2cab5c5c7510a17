"""What import dlpackgo costs and leaves alone."""

import subprocess
import sys

import pytest


def in_fresh_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_brings_in_the_whole_package_and_nothing_that_takes_longer() -> None:
    code = """
import sys
before = set(sys.modules)
import dlpackgo
new = set(sys.modules) - before
print({name.partition('.')[0] for name in new} - sys.stdlib_module_names)
print({"dlpackgo." + name for name in ("debug", "fft", "linalg", "runtime", "stats")} <= new)
print({"collections", "contextlib", "dataclasses", "importlib.util", "pathlib", "re", "typing"} & new)
"""
    assert in_fresh_python(code).splitlines() == ["{'dlpackgo'}", "True", "set()"]


def test_names_of_the_package_are_looked_up_the_fast_way() -> None:
    import dlpackgo

    assert "__getattr__" not in vars(dlpackgo)
    with pytest.raises(AttributeError, match="no attribute 'form_dlpack'"):
        dlpackgo.form_dlpack  # type: ignore[attr-defined]  # noqa: B018


def test_types_of_records_are_found_where_they_are_documented() -> None:
    import dlpackgo.debug
    import dlpackgo.runtime

    assert type(dlpackgo.runtime.stats()) is dlpackgo.runtime.Stats
    assert dlpackgo.debug.LiveTensor._fields == ("nbytes", "shape", "dtype", "place")
    for module in (dlpackgo.debug, dlpackgo.runtime):
        with pytest.raises(AttributeError, match=rf"{module.__name__}.* has no attribute 'nonsense'"):
            module.nonsense  # noqa: B018


def test_import_leaves_descriptors_and_their_limit_as_they_were() -> None:
    code = """
import os, resource
def state():
    return sorted(os.listdir('/proc/self/fd')), resource.getrlimit(resource.RLIMIT_NOFILE)
before = state()
import dlpackgo
dlpackgo.stats.mean(dlpackgo.arange(4.0))
assert state() == before, (before, state())
"""
    in_fresh_python(code)


def test_every_public_name_is_there_and_listed() -> None:
    import dlpackgo

    assert set(dlpackgo.__all__) <= set(dir(dlpackgo))
    for name in dlpackgo.__all__:
        assert getattr(dlpackgo, name).__doc__, name

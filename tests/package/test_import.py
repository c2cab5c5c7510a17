"""What import dlpackgo costs and leaves alone."""

import subprocess
import sys


def in_fresh_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_brings_in_no_other_library_and_no_lazy_submodule() -> None:
    code = """
import sys
before = set(sys.modules)
import dlpackgo
print({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)
print('dlpackgo.linalg' in sys.modules, dlpackgo.linalg.__name__, 'dlpackgo.linalg' in sys.modules)
"""
    assert in_fresh_python(code).splitlines() == ["{'dlpackgo'}", "False dlpackgo.linalg True"]


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

"""What every test gets: a leak check, a watchdog, and the hypothesis profile."""

import faulthandler
import gc
import os
from collections.abc import Generator, Iterator

import hypothesis
import pytest

import dlpackgo._core

TEST_LIMIT = 240  # seconds, for one test; a hang in C cannot be interrupted otherwise

_terminal = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--case", help="run only the tests that cover this reported fault, such as RO-1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if wanted := config.getoption("--case"):
        covering = [item for item in items if any(wanted in mark.args for mark in item.iter_markers("case"))]
        config.hook.pytest_deselected(items=[item for item in items if item not in covering])
        items[:] = covering


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "case(*ids): the reported faults whose whole kind the test covers")
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        config.stash[_terminal] = os.dup(2)
    hypothesis.settings.register_profile(
        "quick", max_examples=60, deadline=None, derandomize=True, database=None, print_blob=True
    )
    hypothesis.settings.register_profile(
        "long",
        parent=hypothesis.settings.get_profile("quick"),
        max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "100000")),
        derandomize=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    if os.environ.get("HYPOTHESIS_PROFILE", "quick") == "quick":
        faulthandler.dump_traceback_later(TEST_LIMIT, exit=True, file=item.config.stash[_terminal])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def nothing_left_alive() -> Iterator[None]:
    """Owners, bytes and tensors are back where they were when the test began.

    Fewer than before may live afterwards: pytest keeps what a failed test held until the next one has begun.
    """
    before = dlpackgo._core._live()
    yield
    if dlpackgo._core._live() != before:
        gc.collect()
        after = dlpackgo._core._live()
        assert all(0 <= after[kind] <= before[kind] for kind in before), f"left behind: {before} became {after}"

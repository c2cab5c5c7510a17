"""The tables of the documentation: what the tests hold libraries to, and what they were seen to do."""

import matrix
import pytest
import quirks

from dlpackgo import _probe

QUIRKS, RECORDED = quirks.read(), matrix.recorded()


def test_the_page_of_the_documentation_is_the_table_of_quirks() -> None:
    assert quirks.PAGE.read_text() == quirks.page(), "run python tests/frameworks/quirks.py"


def test_the_readme_has_the_table_that_was_recorded() -> None:
    text = matrix.README.read_text()
    assert matrix.readme(text) == text, "run nox -s frameworks-table"


def test_both_tables_have_the_same_libraries_in_the_same_versions() -> None:
    assert {name: row["version"] for name, row in RECORDED.items()} == {
        name: row.tested for name, row in QUIRKS.items()
    }


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_installed_does_what_was_recorded(name: str) -> None:
    wanted = RECORDED[name]
    seen = matrix.live(wanted["library"]).get(name)
    if seen is None:
        pytest.skip(f"{name} is not installed; nox -s frameworks installs it")
    unequal = {column: seen[column] for column in _probe.COLUMNS if seen[column] != wanted[column]}
    unequal.pop("version", None)  # older interpreters have older versions, which do the same
    assert not unequal, seen["reasons"]


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_recorded_is_what_the_tests_hold_the_library_to(name: str) -> None:
    row, held = RECORDED[name], QUIRKS[name]
    kind = held.gives.partition(",")[0]
    if kind.startswith("refused"):
        assert row["import"].startswith("`"), "another way out of it"
        return
    assert row["import"] == kind
    given, taken = (set(quirks.expand(words)) for words in (held.given, held.taken))
    if held.takes_layout("whole") == "shared":  # a copy may have another dtype
        assert row["dtypes"] == _probe.exchanged(given, taken)
    if held.taken and held.to_cpu == "shared":  # on a device the tests of the layouts hold the library to host memory
        shared = tuple(layout for layout in _probe.LAYOUTS if held.takes_layout(layout) == "shared")
        copied = held.takes_layout("transposed") == "copied"
        assert row["strides"] == ("copied" if copied else _probe.STRIDES[shared])

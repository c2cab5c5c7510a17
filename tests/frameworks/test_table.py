"""The page of the documentation that is written from the table of quirks."""

import quirks


def test_the_page_of_the_documentation_is_the_table() -> None:
    assert quirks.PAGE.read_text() == quirks.page(), "run python tests/frameworks/quirks.py"


def test_every_row_has_a_test_file() -> None:
    for name in quirks.read():
        assert list(quirks.HERE.parent.glob(f"*/test_{quirks.file_name(name)}*.py")), name

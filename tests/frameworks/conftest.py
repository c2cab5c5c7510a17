"""Failed assertions of the shared tests show their values, and the marks of NumPy's own tests are known."""

import pytest

pytest.register_assert_rewrite("quirks_tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thread_unsafe(reason): a mark of NumPy's own tests")

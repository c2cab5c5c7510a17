"""Failed assertions of the shared tests show their values, as those of test files do."""

import pytest

pytest.register_assert_rewrite("quirks_tests")

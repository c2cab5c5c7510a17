"""dlpackgo.debug."""

import pytest

import dlpackgo


def test_live_counts_tensors_and_own_bytes() -> None:
    before = dlpackgo.debug.live()
    tensor = dlpackgo.zeros((3, 5), dtype="float32")
    after = dlpackgo.debug.live()
    assert after["tensors"] == before["tensors"] + 1
    assert after["bytes"] >= before["bytes"] + tensor.nbytes
    del tensor
    assert dlpackgo.debug.live() == before


def test_no_leaks_names_what_is_still_alive() -> None:
    kept = []
    with pytest.raises(AssertionError, match="tensors"), dlpackgo.debug.no_leaks():
        kept.append(dlpackgo.zeros(3))

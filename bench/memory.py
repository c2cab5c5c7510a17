"""Memory that must not grow: measured in this process, printed as JSON.

What C holds is counted exactly, the Go heap after two collections; of the resident memory the growth since the warm-up counts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import dlpackgo

go = dlpackgo._core.bench
KIB = 1024


def resident() -> int:
    """Bytes of this process in memory."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * KIB


def cycle(x: np.ndarray, turns: int) -> None:
    """Import an array, export the tensor, call Go with both."""
    for _ in range(turns):
        t = dlpackgo.from_dlpack(x)
        y = np.from_dlpack(t)
        go.three_quick(x, t, y)


def cycles(turns: int) -> dict[str, Any]:
    """Many life cycles, and what they leave behind."""
    x = np.zeros(1000)
    cycle(x, turns // 100)
    before = {"C": dlpackgo._core._live(), "Go": go.heap(), "resident": resident()}
    cycle(x, turns)
    after = {"C": dlpackgo._core._live(), "Go": go.heap(), "resident": resident()}
    heap, grown = after["Go"] - before["Go"], after["resident"] - before["resident"]
    return {
        "name": f"{turns / 1e6:g} million cycles of import, export and call",
        "found": f"C {'as before' if after['C'] == before['C'] else after['C']},"
        f" Go heap {heap / KIB:+.1f} KiB, resident {grown / KIB:+.0f} KiB",
        "wanted": "C as before, Go heap below +64 KiB, resident below +1 MiB",
        "holds": after["C"] == before["C"] and heap < 64 * KIB and grown < KIB * KIB,
    }


def large() -> dict[str, Any]:
    """A large array imported often, every import kept."""
    x = np.ones(13_107_200)
    dlpackgo.from_dlpack(x)
    before = resident()
    kept = [dlpackgo.from_dlpack(x) for _ in range(1000)]
    grown = resident() - before
    same = all(t.data_ptr == x.ctypes.data for t in kept)
    return {
        "name": "100 MB imported 1000 times, all kept",
        "found": f"resident {grown / KIB:+.0f} KiB, {'the same memory' if same else 'other memory'}",
        "wanted": "resident below +1 MiB, the same memory",
        "holds": same and grown < KIB * KIB,
    }


if __name__ == "__main__":
    json.dump({"facts": [large(), cycles(int(sys.argv[1]))], "go": go.go_version()}, sys.stdout)

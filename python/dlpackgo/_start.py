"""What Go cannot start with. It would end the process, where an ImportError says what to do."""

import os

# Less address space than this has never been enough; about twice as much is reserved.
_ADDRESS_SPACE = 768 << 20


def _check_memory_limit(limit: str) -> None:
    """GOMEMLIMIT is a number of bytes with one of Go's units, which are not those of other programs."""
    import re

    found = re.fullmatch("([0-9]+)(?:B|([KMGT])iB)?", limit)
    if found is None or int(found[1]) << (10 * " KMGT".index(found[2] or " ")) >= 1 << 63:
        raise ImportError(
            f"GOMEMLIMIT is {limit!r}, with which the Go runtime would end this process; it takes 'off', or a number of "
            "bytes below 2^63 that may be followed by B, KiB, MiB, GiB or TiB, such as '512MiB'"
        )


def _check_address_space() -> None:
    """Read from /proc, because to import the module resource, or pathlib, takes several times as long."""
    try:
        with open("/proc/self/limits") as limits:  # noqa: PTH123
            limit = next((line for line in limits if line.startswith("Max address space")), "").split()[3:4]
        if limit in ([], ["unlimited"]):
            return
        with open("/proc/self/statm") as statm:  # noqa: PTH123
            left = int(limit[0]) - int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return
    if left < _ADDRESS_SPACE:
        raise ImportError(
            f"the limit of address space leaves {max(left, 0) >> 20} MiB to this process; the Go runtime reserves about "
            "1.5 GiB, of which it uses little, and would end the process; raise the limit (ulimit -v)"
        )


if os.environ.get("GOMEMLIMIT", "") not in ("", "off"):
    _check_memory_limit(os.environ["GOMEMLIMIT"])
_check_address_space()

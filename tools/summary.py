"""Adds up pytest's reports of a run of make test, and ends with 1 when there is none or a test failed."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def main(folder: Path) -> int:
    """Print the closing line for the reports in folder."""
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for report in folder.glob("*.xml"):
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            for name in counts:
                counts[name] += int(suite.get(name, 0))
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    print(f"{passed} passed, {failed} failed, {counts['skipped']} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

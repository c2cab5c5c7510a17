"""Writes RESULTS.md from the figures of a run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import build
import catalogue
from catalogue import OURS, Line, Section

# What a line of a section cost each of its contenders, in each pass.
Passes = list[dict[str, float]]

DISTRIBUTIONS = ("numpy", "torch", "jax", "apache-tvm-ffi", "nanobind", "pybind11", "scipy-openblas64")


@dataclass
class Figures:
    """All that a run measured."""

    lines: dict[str, dict[str, Passes]] = field(default_factory=dict)  # by section's key and line's name
    memory: list[dict[str, Any]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)  # peers that could not be built, and why
    go_version: str = ""

    def of(self, section: Section, line: Line) -> Passes:
        """The passes of a line; empty when it was not measured."""
        return self.lines.get(section.key, {}).get(line.name, [])


def best(passes: Passes, name: str) -> float:
    """The least that a contender took in any pass."""
    return min(figures[name] for figures in passes)


@dataclass(frozen=True)
class Ratio:
    """Our least cost over a peer's, and the range in which that lies when each pass is taken by itself."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, passes: Passes, peer: str) -> Ratio:
        """Compute it."""
        single = [figures[OURS] / figures[peer] for figures in passes]
        return cls(best(passes, OURS) / best(passes, peer), min(single), max(single))

    def __str__(self) -> str:
        return f"{shown(self.value)} | {shown(self.low)} to {shown(self.high)}"


def shown(number: float) -> str:
    """A ratio with the digits that count."""
    if number >= 1:
        return f"{number:.2f}"
    return f"{number:.3f}" if number >= 0.01 else f"{number:.1g}"


def cost(value: float, unit: str) -> str:
    """A time or a size that a person can read."""
    if unit == "bytes":
        return f"{value / 2**20:.1f} MiB"
    for limit, divisor, name in ((1e4, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / divisor:.{0 if divisor == 1 else 1}f} {name}"
    return f"{value / 1e9:.1f} s"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table in Markdown, its first column to the left."""
    header = list(header)
    rule = f"|---|{'---:|' * (len(header) - 1)}"
    return [f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


@dataclass(frozen=True)
class Verdict:
    """A line that has a bar, and whether it holds."""

    section: Section
    line: Line
    ratio: Ratio | None  # None: the peer that it is measured against is missing

    @property
    def holds(self) -> bool:
        """Whether our cost is below the bar."""
        assert self.line.bar
        return self.ratio is not None and self.ratio.value <= self.line.bar.at_most


def verdicts(figures: Figures) -> list[Verdict]:
    """Every line with a bar, of the sections that were measured, in the order of the catalogue."""
    found = []
    for section in catalogue.SECTIONS:
        for line in section.lines:
            if line.bar and section.key in figures.lines:
                passes = figures.of(section, line)
                measured = passes and all({OURS, line.bar.peer} <= run.keys() for run in passes)
                found.append(Verdict(section, line, Ratio.of(passes, line.bar.peer) if measured else None))
    return found


def bars(figures: Figures) -> list[str]:
    """What has to hold, and what was found."""
    rows = []
    for verdict in verdicts(figures):
        bar = verdict.line.bar
        assert bar
        ratio = str(verdict.ratio) if verdict.ratio else "not measured | "
        statement = verdict.line.contenders()[bar.peer]
        row = [f"{verdict.section.title}: {verdict.line.name}", f"{bar.peer}: `{statement}`", ratio, f"{bar.at_most}"]
        rows.append([*row, "holds" if verdict.holds else "**missed**"])
    return table(["line", "measured against", "ratio", "in single passes", "at most", ""], rows)


def slower(figures: Figures) -> list[str]:
    """Where a peer takes less time than we do, and why."""
    found = []
    for section in catalogue.SECTIONS:
        for line in section.lines:
            passes = figures.of(section, line)
            if not passes:
                continue
            ours = best(passes, OURS)
            peers = {name: best(passes, name) for name in passes[0] if not name.startswith(OURS)}
            faster = [
                name for name, figure in peers.items() if figure < ours / 1.05 and name not in catalogue.YARDSTICKS
            ]
            if faster:
                listed = ", ".join(
                    f"{name} {shown(ours / peers[name])}" for name in sorted(faster, key=peers.__getitem__)
                )
                why = f" {line.slower[0].upper()}{line.slower[1:]}." if line.slower else ""
                found.append(f"- {section.title}: {line.name} (our time over theirs: {listed}).{why}")
    return found


def section_table(section: Section, figures: Figures) -> list[str]:
    """What every contender of every line took."""
    measured = [line for line in section.lines if figures.of(section, line)]
    peers = dict.fromkeys(name for line in measured for name in figures.of(section, line)[0])
    rows = []
    for line in measured:
        passes, row = figures.of(section, line), [line.name]
        unit = line.contenders()[OURS].unit
        for name in peers:
            row.append(cost(best(passes, name), unit) if name in passes[0] else "")
        row[1] = f"**{row[1]}**"
        rows.append(row)
    return table(["", *peers], rows) if rows else []


def processor() -> str:
    """The processor's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def versions(figures: Figures) -> str:
    """What took part."""
    found = [f"CPython {platform.python_version()}", figures.go_version.replace("go", "Go ", 1)]
    for name in DISTRIBUTIONS:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join([*found, *build.pinned()])


def results(figures: Figures, passes: int) -> str:
    """The whole page."""
    parts = [
        "# Results",
        "",
        "Written by `make bench`; [README.md](README.md) says how it measures, [catalogue.py](catalogue.py) what.",
        "",
        f"- Machine: {len(os.sched_getaffinity(0))} cores of {processor()}, {platform.system()}",
        f"- Versions: {versions(figures)}",
        f"- {passes} passes, each in new processes. Costs are the least of all rounds. A ratio is our least cost over the"
        " peer's; beside it stands the range in which it lies when each pass is taken by itself.",
        *(f"- {peer} is missing: {reason}" for peer, reason in figures.missing.items()),
        "",
        "## What has to hold",
        "",
        *bars(figures),
        "",
        *table(
            ["memory", "found", "wanted", ""],
            [
                [fact["name"], fact["found"], fact["wanted"], "holds" if fact["holds"] else "**missed**"]
                for fact in figures.memory
            ],
        ),
        "",
        "## Where a peer is faster",
        "",
        *(slower(figures) or ["Nowhere."]),
    ]
    for section in catalogue.SECTIONS:
        if figures.lines.get(section.key):
            parts += ["", f"## {section.title}", "", section.about, "", *section_table(section, figures)]
    return "\n".join(parts) + "\n"


def misses(figures: Figures) -> list[str]:
    """One sentence for everything that does not hold."""
    found = [f"{verdict.section.title}: {verdict.line.name}" for verdict in verdicts(figures) if not verdict.holds]
    return found + [fact["name"] for fact in figures.memory if not fact["holds"]]


def save(folder: Path, figures: Figures, passes: int) -> None:
    """Write RESULTS.md."""
    folder.joinpath("RESULTS.md").write_text(results(figures, passes))

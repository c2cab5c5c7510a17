"""Builds the peers, measures the catalogue, and writes RESULTS.md and results.svg: make bench.

    python bench [--bars] [--passes N] [--section KEY ...] [--output FOLDER]

Ends with 1 when something does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import build
import catalogue
import chart
import report
from catalogue import Section
from report import Figures

HERE = Path(__file__).resolve().parent

# One thread each, so that what is compared is the code; and the processor's own BLAS kernels, whatever the shell says.
THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG")


def in_new_process(program: str, *arguments: str, **environment: str) -> Any:
    """Run a program of this folder and read what it prints."""
    inherited = {name: value for name, value in os.environ.items() if name not in UNSET}
    command = [sys.executable, str(HERE / program), *arguments]
    answer = subprocess.run(command, env={**inherited, **THREADS, **environment}, stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout)


def run(sections: list[Section], words: list[str], passes: int, cycles: int) -> Figures:
    """Measure everything, or the lines that words choose, passes times."""
    figures = Figures(missing=build.build())
    for turn in range(passes):
        for section in sections:
            print(f"pass {turn + 1} of {passes}: {section.title}", flush=True)
            for line, costs in in_new_process("measure.py", section.key, *words, **section.environment).items():
                figures.lines.setdefault(section.key, {}).setdefault(line, []).append(costs)
    print("memory", flush=True)
    memory = in_new_process("memory.py", str(cycles))
    figures.memory, figures.go_version = memory["facts"], memory["go"]
    return figures


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    keys = [section.key for section in catalogue.SECTIONS]
    parser.add_argument("--passes", type=int, default=3, help="how often everything is measured (3)")
    parser.add_argument("--section", action="append", choices=keys, help="measure these alone")
    parser.add_argument("--bars", action="store_true", help="measure only the lines that have a bar")
    parser.add_argument("--cycles", type=int, default=10_000_000, help="life cycles after which memory is compared")
    parser.add_argument("--output", type=Path, default=HERE, help="where the results are written")
    arguments = parser.parse_args()
    chosen = [section for section in catalogue.SECTIONS if not arguments.section or section.key in arguments.section]
    if arguments.bars:
        chosen = [section for section in chosen if any(line.bar for line in section.lines)]
    figures = run(chosen, ["--bars"] if arguments.bars else [], arguments.passes, arguments.cycles)
    arguments.output.mkdir(parents=True, exist_ok=True)
    report.save(arguments.output, figures, arguments.passes)
    chart.save(arguments.output, figures)
    missed = report.misses(figures)
    print(f"written to {arguments.output}", *(f"MISSED {name}" for name in missed), sep="\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

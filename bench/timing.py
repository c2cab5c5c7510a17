"""Times statements against each other.

All contenders of a line take turns in short rounds, so that what the machine does meanwhile hits all of them alike. The cost
of a contender is the fastest of its rounds: everything that disturbs a round makes it slower. A round of a short statement
takes about half a millisecond, and most rounds of a busy machine get through that undisturbed. The loop around the
statement, 4 to 8 ns a turn, is part of every figure.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter_ns
from typing import Any, ClassVar

ROUND = 500_000  # ns that a round of a short statement takes
BUDGET = 400_000_000  # ns that all rounds of a line may take together
MINIMUM_ROUNDS = 5

Run = Callable[[int], float]  # does it n times and says what that took altogether


def _function(source: str, name: str, namespace: Mapping[str, Any]) -> Any:
    scope = {**namespace, "now": perf_counter_ns, "repeat": repeat}
    exec(compile(source, "<bench>", "exec"), scope)
    return scope[name]


@dataclass(frozen=True)
class Loop:
    """A statement, over and over. In the catalogue a plain string means this."""

    statement: str
    loops: ClassVar[int | None] = None  # as many as fill a round
    unit: ClassVar[str] = "ns"

    def prepare(self, namespace: Mapping[str, Any]) -> Run:
        """Compile it."""
        source = f"""
def run(turns):
    start = now()
    for _ in repeat(None, turns):
        {self.statement}
    return now() - start
"""
        return _function(source, "run", namespace)

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class Batch:
    """A statement that handles all of a range, called batch, at once, and what is done before it, untimed.

    What the statement binds to made lives until the next round begins: so making and freeing are told apart.
    """

    before: str
    statement: str
    loops: ClassVar[int | None] = 1000
    unit: ClassVar[str] = "ns"

    def prepare(self, namespace: Mapping[str, Any]) -> Run:
        """Compile it."""
        source = f"""
made = None
def run(turns):
    global made
    batch = range(turns)
    {self.before}
    start = now()
    {self.statement}
    return now() - start
"""
        return _function(source, "run", namespace)

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class InThreads:
    """A statement in several threads at once; the figure is the time divided by all turns of all threads."""

    threads: int
    statement: str
    loops: ClassVar[int | None] = 100
    unit: ClassVar[str] = "ns"

    def prepare(self, namespace: Mapping[str, Any]) -> Run:
        """Compile it."""
        loop = Loop(self.statement).prepare(namespace)

        def run(n: int) -> float:
            barrier = threading.Barrier(self.threads + 1)

            def work() -> None:
                barrier.wait()
                loop(n)

            threads = [threading.Thread(target=work) for _ in range(self.threads)]
            for thread in threads:
                thread.start()
            barrier.wait()
            start = perf_counter_ns()
            for thread in threads:
                thread.join()
            return (perf_counter_ns() - start) / self.threads

        return run

    def __str__(self) -> str:
        return f"{self.statement}, in {self.threads} thread{'s' if self.threads > 1 else ''}"


@dataclass(frozen=True)
class FirstCall:
    """A statement as the first thing that a new thread does. Starting the thread is not part of the figure."""

    statement: str
    loops: ClassVar[int | None] = 10
    unit: ClassVar[str] = "ns"

    def prepare(self, namespace: Mapping[str, Any]) -> Run:
        """Compile it."""
        loop = Loop(self.statement).prepare(namespace)

        def run(n: int) -> float:
            took: list[float] = []
            for _ in range(n):
                thread = threading.Thread(target=lambda: took.append(loop(1)))
                thread.start()
                thread.join()
            return sum(took)

        return run

    def __str__(self) -> str:
        return f"{self.statement}, first in a new thread"


@dataclass(frozen=True)
class Program:
    """A new Python process, from its start to its end."""

    code: str
    loops: ClassVar[int | None] = 1
    unit: ClassVar[str] = "ns"

    def prepare(self, namespace: Mapping[str, Any]) -> Run:
        """Take the path of imports over from this process."""
        del namespace
        command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{self.code}"]

        def run(n: int) -> float:
            start = perf_counter_ns()
            for _ in range(n):
                subprocess.run(command, check=True)
            return perf_counter_ns() - start

        return run

    def __str__(self) -> str:
        return self.code


@dataclass(frozen=True)
class ProgramMemory:
    """The most memory that a new Python process had resident."""

    code: str
    loops: ClassVar[int | None] = 1
    unit: ClassVar[str] = "bytes"

    def prepare(self, namespace: Mapping[str, Any]) -> Run:
        """Take the path of imports over from this process."""
        del namespace
        ask = "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"  # getrusage counts the parent in
        code = f"import sys; sys.path[:] = {sys.path!r}\n{self.code}\n{ask}"

        def run(n: int) -> float:
            answers = [subprocess.check_output([sys.executable, "-c", code]) for _ in range(n)]
            return sum(float(answer) * 1024 for answer in answers)

        return run

    def __str__(self) -> str:
        return self.code


Timed = Loop | Batch | InThreads | FirstCall | Program | ProgramMemory


class Contender:
    """A statement made ready, with what its rounds took."""

    def __init__(self, timed: Timed, namespace: Mapping[str, Any]) -> None:
        self._run = timed.prepare(namespace)
        self._loops = timed.loops or 1
        self._run(self._loops)  # the first run imports, resolves and caches
        while timed.loops is None and (took := self._run(self._loops)) < ROUND / 2:
            self._loops = max(2 * self._loops, int(self._loops * ROUND / max(took, 1) * 0.8))
        before = perf_counter_ns()
        self.best = self._run(self._loops) / self._loops
        self.round = perf_counter_ns() - before

    def once(self) -> None:
        """One round."""
        self.best = min(self.best, self._run(self._loops) / self._loops)


def compare(contenders: Mapping[str, Contender]) -> dict[str, float]:
    """The fastest round of each, per turn. The order changes from round to round: each leaves traces in the caches."""
    order = list(contenders.values())
    rounds = max(MINIMUM_ROUNDS, int(BUDGET / sum(contender.round for contender in order)))
    dice = random.Random(rounds)
    gc.collect()
    gc.disable()  # as in timeit: a collection would hit whoever happens to run
    try:
        for _ in range(rounds):
            dice.shuffle(order)
            for contender in order:
                contender.once()
    finally:
        gc.enable()
    return {name: contender.best for name, contender in contenders.items()}

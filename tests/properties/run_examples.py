"""Run each property on many examples, faster than hypothesis does by itself, and say how many there were.

    python tests/properties/run_examples.py [EXAMPLES [SEED [SECONDS]]]    # of each property, 100,000 by default

The strategies and the tests are those of this folder. What hypothesis does besides, to avoid repetitions and to mutate
examples, costs as much as the examples themselves; here random bytes take its place (fuzz_one_input). A failure is printed
as hypothesis prints it, with the example, and ends the run; so does SECONDS.
"""

import gc
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import hypothesis
import test_exchange_properties as properties

import dlpackgo

ROUND = 1000  # examples of one property before it is the next one's turn


def run(examples: int, seed: int, limit: float) -> None:
    """Run the properties in turn, and print the counts after every tenth of the way."""
    hypothesis.settings.register_profile("many", database=None, deadline=None)
    hypothesis.settings.load_profile("many")
    tests = {
        name: test.hypothesis.fuzz_one_input for name, test in vars(properties).items() if name.startswith("test_")
    }
    counts, seconds = dict.fromkeys(tests, 0), dict.fromkeys(tests, 0.0)
    source = random.Random(seed)
    began, before, tenth = time.monotonic(), dlpackgo.debug.live(), 0
    while min(counts.values()) < examples and time.monotonic() - began < limit:
        for name, test in tests.items():
            start = time.process_time()
            counts[name] += sum(one(test, source) for _ in range(min(ROUND, examples - counts[name])))
            seconds[name] += time.process_time() - start
        gc.collect()
        after = dlpackgo.debug.live()
        assert after == before, f"left behind: {before} became {after}"
        if min(counts.values()) * 10 // examples > tenth:
            tenth = min(counts.values()) * 10 // examples
            report(counts, seconds, seed)
    report(counts, seconds, seed)


def report(counts: dict[str, int], seconds: dict[str, float], seed: int) -> None:
    """Print how far it came."""
    for name, count in counts.items():
        print(f"{count:9,} examples {seconds[name]:7.1f} s  {name}")
    total = sum(seconds.values())
    print(f"{sum(counts.values()):9,} examples {total:7.1f} s of one core, seed {seed}, no finding\n", flush=True)


def one(test: Callable[[bytes], bytes | None], source: random.Random) -> bool:
    """Run one example; False where the strategies made none of these bytes, or the test assumed another one."""
    return test(source.randbytes(300)) is not None


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]] + [0] * 3
    run(numbers[0] or 100_000, numbers[1] or random.SystemRandom().randrange(2**32), numbers[2] or float("inf"))

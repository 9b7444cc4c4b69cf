"""Interleaved rounds: every contestant has a turn in each, and ratios are of one round's times.

What disturbs a machine for seconds disturbs all contestants of a round; the median over rounds leaves out what disturbs
one. Threads of BLAS and OpenMP libraries spin after their last work, for up to some 100 ms: everyone waits until they
have stopped. A turn begins with calls that are not counted, until some 20 ms have passed: they bring caches, clocks and threads
to where they are in a program that makes such calls one after another.
"""

import statistics
import time

SETTLE_SECONDS = 0.02
MOST_SETTLE_SECONDS = 1.0
WARM_SECONDS = 0.02


def settle():
    """Until no thread of this process has used more than a tenth of SETTLE_SECONDS for as long."""
    end = time.perf_counter() + MOST_SETTLE_SECONDS
    while time.perf_counter() < end:
        used = time.process_time()
        time.sleep(SETTLE_SECONDS)
        if time.process_time() - used < 0.1 * SETTLE_SECONDS:
            return


def turn(contestant):
    settle()
    start = time.perf_counter()
    seconds = contestant.seconds()
    if seconds >= WARM_SECONDS:
        return seconds
    while time.perf_counter() - start < WARM_SECONDS:
        contestant.seconds()
    return contestant.seconds()


def measure(contestants, rounds):
    """{name: [seconds of each round]} of {name: contestant}."""
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            times[name].append(turn(contestant))
    return times


def median_ratio(numerators, denominators):
    return statistics.median(n / d for n, d in zip(numerators, denominators))

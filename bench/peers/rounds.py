"""Interleaved rounds. Every contestant takes a turn in each round, and ratios compare times of the same round.

A disturbance of the machine that lasts for seconds affects all contestants of a round, and the median over rounds
ignores shorter ones. Threads of BLAS and OpenMP libraries spin for up to some 100 ms after their last work, so each
turn waits until they have stopped. A turn begins with warm-up calls for some 20 ms. They bring caches, clock rates and
threads to the state that they have in a program that repeats such calls. A contestant that measures first calls
(`is_first_call`) has none.
"""

import statistics
import time

SETTLE_SECONDS = 0.02
MOST_SETTLE_SECONDS = 1.0
WARM_SECONDS = 0.02


def settle():
    """Waits, for at most MOST_SETTLE_SECONDS, until all threads of this process together have used less than a tenth of
    the processor for SETTLE_SECONDS."""
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
    if seconds >= WARM_SECONDS or getattr(contestant, "is_first_call", False):
        return seconds
    while time.perf_counter() - start < WARM_SECONDS:
        contestant.seconds()
    return contestant.seconds()


def measure(contestants, rounds):
    """{name: [seconds of each round]}, from {name: contestant}."""
    times = {name: [] for name in contestants}
    order = list(contestants.items())
    for _ in range(rounds):
        for name, contestant in order:
            times[name].append(turn(contestant))
        order.reverse()  # so that nobody always follows the same contestant
    return times


def median_ratio(numerators, denominators):
    return statistics.median(n / d for n, d in zip(numerators, denominators))

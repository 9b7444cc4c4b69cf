"""Tests wait for conditions, never for fixed times. Limits are minutes and only end hanging tests, so that slow or busy
machines do not make tests fail."""

import os
import time

HANG_SECONDS = 240


def wait_until(condition, seconds=HANG_SECONDS):
    """Returns whether the condition becomes true before the test counts as hung. It is polled every 20 ms."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def cpu_seconds(pid):
    """The CPU time of a process so far, which does not depend on other load on the machine."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_computing(pid, seconds=0.3):
    """Returns whether the process computes for so long from now on, which shows that its task has begun."""
    before = cpu_seconds(pid)
    return wait_until(lambda: cpu_seconds(pid) - before >= seconds)

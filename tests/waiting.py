"""How tests wait: for a condition, never for a time. Limits are minutes, which only end what hangs, so that neither a
slow machine nor a busy one makes a test fail."""

import os
import time

HANG_SECONDS = 240


def wait_until(condition, seconds=HANG_SECONDS):
    """Whether it comes true before the test counts as hung. It is looked at often, as it mostly comes true soon."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def cpu_seconds(pid):
    """What the process has computed so far, in seconds of a processor, whatever else the machine has to do."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_computing(pid, seconds=0.3):
    """Whether the process comes to compute for so long from now on: what it was asked to do has begun."""
    before = cpu_seconds(pid)
    return wait_until(lambda: cpu_seconds(pid) - before >= seconds)

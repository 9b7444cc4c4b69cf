"""The thirteen figures, and the test programs that produce them."""

import dataclasses
import glob
import os
from collections.abc import Callable

import counts

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = ("quick", "usual", "full")


@dataclasses.dataclass(frozen=True)
class Campaign:
    """A test program that makes many tries."""

    name: str
    command: list[str]
    count: Callable[[str], counts.Count]
    environment: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure and its campaigns. `needs` is a command that builds programs that not every build has."""

    name: str
    title: str
    campaigns: list[Campaign]
    needs: list[str] | None = None


class Programs:
    """The test programs of a build, as campaigns of one size. A tuple of three numbers holds one for each size."""

    def __init__(self, build, size):
        self.build = build
        self.index = SIZES.index(size)

    def of_size(self, numbers):
        return numbers[self.index]

    def _campaign(self, name, command, count, numbers):
        """`numbers` are environment variables, each with a tuple of a value for each size, or a value for all sizes."""
        chosen = {key: self.of_size(value) if isinstance(value, tuple) else value for key, value in numbers.items()}
        environment = {key: str(value) for key, value in chosen.items() if value is not None}
        return Campaign(name, command, count, environment)

    def path(self, name):
        return os.path.join(self.build, name)

    def python(self, test, *libraries, count=counts.lines, tests=(), **numbers):
        """A Python test of the program eindb. If `tests` are given, only these run."""
        command = ["/usr/bin/python3", os.path.join(ROOT, "tests", test), self.path("eindb"),
                   *(self.path(library) for library in libraries), *tests]  # fmt: skip
        return self._campaign(os.path.splitext(test)[0], command, count, numbers)

    def googletest(self, folder, tests, count=counts.lines, **numbers):
        command = [self.path(f"eindb_{folder}_tests"), f"--gtest_filter={tests}"]
        return self._campaign(folder, command, count, numbers)

    def scripts(self, mode, *preludes):
        options = [f"--prelude={prelude}" for prelude in preludes]
        command = [self.path("eindb_sqllogictest"), f"--mode={mode}", *options, os.path.join(ROOT, "tests/sql")]
        return self._campaign(f"sql-{mode}", command, counts.sqllogictest, {})

    def histories(self, kinds, harms, tests=()):
        """`kinds` selects harms by parts of their names. Each of the two tests does half of the number `harms`."""
        return self.python("history/history_test.py", "eindb_history_client", tests=tests, EINDB_HISTORY_KINDS=kinds,
                           EINDB_HISTORY_HARMS=harms)  # fmt: skip

    def simulation(self, seeds):
        """Seeds from 1001 on. The test suite runs those from 1 on."""
        command = [self.path("eindb_simulation"), "--first", "1001", "--seeds", str(self.of_size(seeds)),
                   "--jobs", str(os.cpu_count() or 1)]  # fmt: skip
        return self._campaign("simulation", command, counts.lines, {})

    def fuzz_targets(self, runs):
        """Each target has limits of its own for runs and seconds. An input of `backend` is a session, which takes as
        long as twenty inputs of others."""
        seconds = self.of_size((10, 60, 1800))
        campaigns = []
        for source in sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/*_fuzz.cpp"))):
            name = os.path.basename(source).removesuffix("_fuzz.cpp")
            dictionary = os.path.join(ROOT, f"tests/fuzz/{name}.dict")
            command = [
                os.path.join(ROOT, "build-fuzz/tests", f"fuzz_{name}"),
                f"-runs={self.of_size(runs) // (20 if name == 'backend' else 1)}",
                f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024", "-seed=1", "-print_final_stats=1",
                *([f"-dict={dictionary}"] if os.path.exists(dictionary) else []),
                os.path.join(ROOT, "tests/fuzz/seeds", name),
            ]  # fmt: skip
            campaigns.append(self._campaign(f"fuzz_{name}", command, counts.libfuzzer, {}))
        return campaigns


def figures(build, size):
    """All figures by name, in the order in which they run."""
    run = Programs(build, size)
    unittest = counts.unittest
    hung_disk = "tests/libhung_disk.so"
    fault_layer = "tests/libeindb_fault_layer.so"
    allocator = "tests/liballoc_faults.so"
    faults = {"EINDB_FAULTS_PLACES": (2, 30, None), "EINDB_FAULTS": (None, None, "all")}
    allocations = {"EINDB_FAULTS_TRIES": (2, 40, None), "EINDB_FAULTS": (None, None, "all")}
    found = [
        Figure("crashes", "crash points replayed: what a disk may hold after a power loss", [
            run.googletest("faults", "PowerLoss.*-*Lies", EINDB_FAULTS_IMAGES=(80, 1600, 10000)),
        ]),
        Figure("kills", "kills -9, with the history of all clients checked", [
            run.histories("killed", (10, 120, 500)),
            run.python("server/crash_test.py", EINDB_KILLS=(4, 40, 200)),
            run.python("cluster/crash_test.py", EINDB_CRASHES=(3, 30, 150)),
        ]),
        Figure("io", "I/O faults: one operation on a file fails, or all from there on", [
            run.googletest("faults", "*IoFaults*:MappedReads.*", **faults),
            run.python("faults/programs_test.py", fault_layer, **faults),
        ]),
        Figure("allocations", "allocation faults: one allocation, map of memory or thread fails", [
            run.python("faults/alloc_test.py", allocator, **allocations),
            run.python("faults/alloc_server_test.py", allocator, **allocations),
            run.python("faults/alloc_cluster_test.py", allocator, **allocations),
        ]),
        Figure("full_disks", "full disks", [
            run.histories("full", (6, 60, 200)),
            run.python("shell/full_disk_test.py", count=unittest),
            run.python("cluster/full_disk_test.py", count=unittest),
        ]),
        Figure("workers", "worker faults: killed, stopped, cut off, disks that hang, fill and fail", [
            run.python("cluster/faults_test.py", hung_disk, fault_layer, EINDB_WORKER_FAULTS=(8, 60, 300)),
            run.python("cluster/disk_test.py", hung_disk, count=unittest),
            run.python("cluster/pairs_test.py", count=unittest),
            run.python("cluster/kill_test.py", EINDB_KILLS=(4, 30, 150)),
            run.python("cluster/write_test.py", EINDB_KILLS=(4, 30, 150)),
            run.histories("worker", (10, 80, 400), ["Histories.test_workers"]),
        ]),
        Figure("simulation", "simulated clusters: links cut, slow and lossy, processes killed, in virtual time", [
            run.simulation((100, 2000, 10_000)),
        ]),
        Figure("memory", "statements and servers that keep to a memory limit", [
            run.scripts("tinymemory", "SET memory_limit = '2MiB'", "SET tile_bytes = 4096", "SET parallelism = 16"),
            run.python("shell/memory_limit_test.py", count=unittest),
            run.python("server/memory_test.py", count=unittest),
        ]),
        Figure("fuzz", "fuzz runs, under sanitizers", run.fuzz_targets((2000, 100_000, 10_000_000)),
               ["script/build", "fuzz", "fuzz_targets"]),
        Figure("hostile", "hostile files and databases", [
            run.python("shell/hostile_files_test.py", count=unittest),
            run.python("shell/damaged_tiles_test.py", count=unittest),
            run.python("shell/random_damage_test.py", EINDB_DAMAGE_TRIES=(100, 2000, 8000)),
            run.googletest("formats", "*", count=counts.googletest),
        ]),
        Figure("connections", "connections that are hostile, slow, silent, too many, or without rights", [
            run.python("server/hostile_test.py", count=unittest),
            run.python("server/limits_test.py", count=unittest),
            run.python("server/concurrency_test.py", count=unittest),
            run.python("cluster/trust_test.py", count=unittest),
        ]),
        Figure("brute_force", "choices of the optimizer held against all that there are", [
            run.googletest("optimizer", "EinDecomp.Optimal*:WeakPath.CostsAs*:Slicing.Agrees*:OptimalPath.IsTheBest*"),
        ]),
        Figure("random", "random statements against other implementations of the language", [
            run.python("numpy/types_test.py", EINDB_TYPE_STATEMENTS=(1000, 20_000, 100_000)),
            run.python("numpy/types_test.py", EINDB_TYPE_STATEMENTS=(300, 3000, 10_000), EINDB_TYPE_WORKERS=3,
                       EINDB_TYPE_SEED=4),
            run.python("numpy/subscripts_test.py"),
            run.googletest("engine", "RandomStatements.*", EINDB_RANDOM_STATEMENTS=(1000, 20_000, 200_000)),
        ]),
    ]  # fmt: skip
    return {figure.name: figure for figure in found}

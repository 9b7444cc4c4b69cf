"""Random redistributions over the mesh {x:2, y:2, z:2} on eight processes, over TCP and, where its plugin is built,
MPI. The plan is compared with "allgather everything, then dynslice". bench/cluster/redistribution_figures.hpp defines
the figures."""

import json
import os
import shutil
import subprocess

from case import Outcome
from scalapack import waiting

RANKS = 8


def commands(options):
    folder = os.path.join(options.build, "bench", "cluster")
    yield "tcp", [os.path.join(folder, "tcp_redistribution")]
    if shutil.which("mpirun") and os.path.exists(os.path.join(options.build, "libeindb_mpi.so")):
        mpirun = ["mpirun", "-n", str(RANKS), "--allow-run-as-root", "--oversubscribe", *waiting(RANKS)]
        yield "mpi", [*mpirun, os.path.join(folder, "mpi_redistribution")]


def run_case(name, command, megabytes, problems):
    outcome = Outcome("redistribution", name)
    done = subprocess.run([*command, str(megabytes), str(problems)], stdout=subprocess.PIPE, text=True, check=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    outcome.add("bytes, fallback over plan", figures["bytes"], at_least=3)
    outcome.add("time, fallback over plan", figures["time"], at_least=2)
    outcome.add("time by measured costs", figures["time_by_costs"])
    outcome.add("least time by measured costs", figures["least_time_by_costs"], at_least=1 / 1.1)
    outcome.add("problems slower than 1.1 fallbacks", figures["slower"], at_most=0)
    outcome.seconds = {"worst": figures["worst_seconds"], "its fallback": figures["worst_fallback_seconds"]}
    outcome.notes["worst"] = figures["worst"]
    outcome.notes["elements"] = ", ".join(f"{name} {value:.3g}" for name, value in figures["costs"].items())
    return outcome


def run(options):
    megabytes, problems = (8, 12) if options.quick else (64, 40)
    for exchange, command in commands(options):
        name = f"{problems} problems of {megabytes} MB over {exchange}"
        if options.selects(name):
            yield run_case(name, command, megabytes, problems)

"""ScaLAPACK for the chains: a process per core by Open MPI on this machine. The program is built here when the packages
are installed, which nothing else in the project needs."""

import os
import shutil
import subprocess

from contestants import LONG_SECONDS
from round_process import RoundProcess

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scalapack_chain.cpp")
BLOCKS = (128, 64, 256)


def build(folder):
    """The program's path, or None where the packages are missing."""
    program = os.path.join(folder, "scalapack_chain")
    if not shutil.which("mpicxx") or not shutil.which("mpirun"):
        return None
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(SOURCE):
        return program
    command = ["mpicxx", "-std=c++20", "-O2", SOURCE, "-o", program, "-lscalapack-openmpi"]
    return program if subprocess.run(command, capture_output=True).returncode == 0 else None


def waiting(processes):
    """How processes share cores: each has its own, or whoever waits lets others run."""
    if processes <= len(os.sched_getaffinity(0)):
        return ["--bind-to", "core"]
    return ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]


class ScalapackChain(RoundProcess):
    """The chain of one size, waiting for its turns."""

    def __init__(self, program, processes, dtype, sizes, block, rows=None, step=None):
        names = {"float32": "fp32", "float64": "fp64"}
        command = ["mpirun", "-n", str(processes), "--allow-run-as-root", "--oversubscribe", *waiting(processes)]
        # Within a machine; copies through shared memory are faster than those by way of the kernel.
        command += ["--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none"]
        command += [program, names[dtype], *map(str, sizes), str(block)]
        if rows:
            command += [str(rows), str(step or block)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        super().__init__(command, "ScaLAPACK", environment, subprocess.DEVNULL)
        self.description = f"pXgemm, block {block}"


def fastest_chain(program, processes, dtype, sizes):
    """With the block size that suits it best."""
    best, best_seconds = None, float("inf")
    for block in BLOCKS:
        chain = ScalapackChain(program, processes, dtype, sizes, block)
        seconds = chain.seconds()
        if seconds < LONG_SECONDS:
            seconds = chain.seconds()
        if seconds < best_seconds:
            best, chain = chain, best
            best_seconds = seconds
        if chain:
            chain.close()
        if seconds > LONG_SECONDS:  # blocks are a small part of what is this large
            break
    return best

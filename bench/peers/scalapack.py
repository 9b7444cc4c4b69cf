"""The chains in ScaLAPACK, with one process per core, started by Open MPI on this machine. If the packages are
installed, the program is built here. Nothing else in the project needs them."""

import os
import shutil
import subprocess

from contestants import LONG_SECONDS
from round_process import RoundProcess

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scalapack_chain.cpp")
BLOCKS = (128, 64, 256)


def build(folder):
    """The program's path, or None if the packages are missing."""
    program = os.path.join(folder, "scalapack_chain")
    if not shutil.which("mpicxx") or not shutil.which("mpirun"):
        return None
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(SOURCE):
        return program
    command = ["mpicxx", "-std=c++20", "-O2", SOURCE, "-o", program, "-lscalapack-openmpi"]
    return program if subprocess.run(command, capture_output=True).returncode == 0 else None


def waiting(processes):
    """The options of mpirun for sharing cores: processes are bound to cores, or yield while they wait."""
    if processes <= len(os.sched_getaffinity(0)):
        return ["--bind-to", "core"]
    return ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]


class ScalapackChain(RoundProcess):
    """The chain of one size in its own process, which computes it once per turn."""

    def __init__(self, program, processes, dtype, sizes, block, rows=None, step=None):
        names = {"float32": "fp32", "float64": "fp64"}
        command = ["mpirun", "-n", str(processes), "--allow-run-as-root", "--oversubscribe", *waiting(processes)]
        # Within a machine copies through shared memory are faster than copies by the kernel.
        command += ["--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none"]
        command += [program, names[dtype], *map(str, sizes), str(block)]
        if rows:
            command += [str(rows), str(step or block)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        super().__init__(command, "ScaLAPACK", environment, subprocess.DEVNULL)
        self.description = f"pXgemm, block {block}"


def fastest_chain(program, processes, dtype, sizes):
    """The chain with the fastest block size."""
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
        if seconds > LONG_SECONDS:  # the block size matters little for large chains
            break
    return best

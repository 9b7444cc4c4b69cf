"""OpenBLAS as its users would have it."""

import os


def cpu_flags():
    with open("/proc/cpuinfo") as file:
        return next((line.split() for line in file if line.startswith("flags")), [])


def prepare_environment(threads):
    """Before it is loaded: OpenBLAS does not know every processor, and falls back to kernels of the first x86-64. What
    the surroundings say of it may be for another machine, and does not count."""
    flags = cpu_flags()
    os.environ.pop("OPENBLAS_L2_SIZE", None)
    if "avx512vl" in flags:
        os.environ["OPENBLAS_CORETYPE"] = "SKYLAKEX"
    elif "avx2" in flags:
        os.environ["OPENBLAS_CORETYPE"] = "HASWELL"
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)

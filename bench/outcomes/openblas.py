"""Configures OpenBLAS as its users would."""

import os

from processor import processor_flags


def prepare_environment(threads):
    """Must be called before OpenBLAS is loaded. OpenBLAS does not recognize every processor, and uses kernels for the
    first x86-64 on others. Variables of the environment may be meant for another machine, so they are overwritten."""
    flags = processor_flags()
    os.environ.pop("OPENBLAS_L2_SIZE", None)
    if "avx512vl" in flags:
        os.environ["OPENBLAS_CORETYPE"] = "SKYLAKEX"
    elif "avx2" in flags:
        os.environ["OPENBLAS_CORETYPE"] = "HASWELL"
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)

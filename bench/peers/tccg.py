"""The 24 contractions of the benchmark of TCCG, the Tensor Contraction Code Generator, with its extents, in both precisions.

P. Springer and P. Bientinesi, Design of a high-performance GEMM-like tensor-tensor multiplication, arXiv 1607.00145. The
first twelve do 3 to 12 operations for each byte of operands and result, the last four 400 to 1300. Labels are written as
there, where the first one is contiguous; here, as in NumPy, the last one is.
"""

import math

import numpy as np

from patterns import F32, F64, run_contractions
from spellings import parse

CONTRACTIONS = (
    "efbad,cf->abcde efcad,bf->abcde dbea,ec->abcd ecbfa,fd->abcde deca,be->abcd bda,dc->abc ebad,ce->abcd dega,gfbc->abcdef "
    "dfgb,geac->abcdef degb,gfac->abcdef degc,gfab->abcdef dca,bd->abc ea,ebcd->abcd eb,aecd->abcd ec,abed->abcd adec,ebd->abc "
    "cad,dcb->ab acd,dbc->ab acd,db->abc adc,bd->abc ac,cb->ab aebf,fdec->abcd eafd,fbec->abcd aebf,dfce->abcd"
).split()
# A tensor times a matrix: the label of the result that the matrix has is of 24 indices.
TIMES_MATRIX = CONTRACTIONS[:7] + ["dca,bd->abc"]

WANTED = {"speed-up": 4.0, "of roofline": 0.65, "worst speed-up": 0.98}


def extents_of(subscripts, dtype):
    """The extents by the rule of the benchmark: all labels about equal, so that the tensor with the most labels would have
    200 MiB. The first label of a tensor is rounded up to a multiple of 24, others to the nearest multiple of 4."""
    operands, result = parse(subscripts)
    tensors = [result, *operands]
    average = (200 * 2**20 / np.dtype(dtype).itemsize) ** (1 / max(map(len, tensors)))
    first = {labels[0] for labels in tensors}
    extents = {
        label: math.ceil(average // 1 / 24) * 24 if label in first else 4 * round(average / 4)
        for label in sorted(set("".join(tensors)))
    }
    if subscripts in TIMES_MATRIX:
        extents[next(label for label in operands[1] if label in result)] = 24
    return extents


def run(context):
    contractions = [(labels, extents_of(labels, dtype), dtype) for dtype in (F32, F64) for labels in CONTRACTIONS]
    return run_contractions(context, "tccg", WANTED["worst speed-up"], contractions)

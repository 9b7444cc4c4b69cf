"""Contractions of all shapes that are computed in different ways. The comments in PATTERNS name the kinds.

A pattern consists of subscripts, extents and a type. With these extents a peer takes some 5 to 200 ms on a few cores.
"""

import math
import statistics

import numpy as np

from case import Outcome
from contestants import Statement, fastest
from context import check_close
from spellings import numpy_calls, parse, torch_calls

F32, F64 = "float32", "float64"

# The least figures of the whole group.
WANTED = {"speed-up": 2.0, "over einsum": 2.0, "of roofline": 0.6, "worst speed-up": 0.9}

PATTERNS = [
    # Matrix products in every combination of row-major and column-major operands and results.
    ("ab,bc->ac", dict(a=1536, b=1536, c=1536), F32),
    ("ab,cb->ac", dict(a=1536, b=1536, c=1536), F32),
    ("ba,bc->ac", dict(a=1536, b=1536, c=1536), F32),
    ("ba,cb->ac", dict(a=1536, b=1536, c=1536), F32),
    ("ab,bc->ca", dict(a=1536, b=1536, c=1536), F32),
    ("ba,cb->ca", dict(a=1536, b=1536, c=1536), F64),
    # Tall, wide and deep matrices.
    ("ab,bc->ac", dict(a=400000, b=32, c=32), F32),
    ("ab,bc->ac", dict(a=32, b=32, c=400000), F32),
    ("ab,cb->ac", dict(a=64, b=300000, c=64), F32),
    ("ba,bc->ac", dict(a=64, b=300000, c=64), F32),
    ("ab,bc->ac", dict(a=3000, b=12, c=3000), F32),
    ("ab,bc->ac", dict(a=1000, b=1000, c=7), F64),
    # Matrix-vector products, outer products, and products without a summed label.
    ("ab,b->a", dict(a=8192, b=8192), F32),
    ("ab,a->b", dict(a=8192, b=8192), F32),
    ("a,b->ab", dict(a=6000, b=6000), F32),
    ("ab,cd->dacb", dict(a=64, b=64, c=64, d=64), F32),
    ("ac,bc->abc", dict(a=256, b=256, c=256), F32),
    ("abc,cba->abc", dict(a=256, b=256, c=256), F32),
    # Batch labels at the front, at the end and in between, with large, small and tiny matrices.
    ("abc,acd->abd", dict(a=64, b=256, c=256, d=256), F32),
    ("bca,cda->bda", dict(a=64, b=128, c=128, d=128), F32),
    ("bac,cad->bad", dict(a=64, b=256, c=256, d=256), F32),
    ("abc,acd->abd", dict(a=100000, b=8, c=8, d=8), F32),
    ("abc,acd->abd", dict(a=20000, b=16, c=16, d=16), F32),
    ("abc,adc->abd", dict(a=200000, b=4, c=4, d=4), F64),
    ("abc,ac->ab", dict(a=64, b=1024, c=1024), F32),
    ("abcd,abed->abce", dict(a=8, b=16, c=256, d=64, e=256), F32),
    ("acbd,aebd->abce", dict(a=8, b=16, c=256, d=64, e=256), F32),
    ("abce,aebd->acbd", dict(a=8, b=16, c=256, d=64, e=256), F32),
    ("abx,bcx->acx", dict(a=96, b=96, c=96, x=256), F32),
    # Permuted contractions, with 3 to 6 labels per operand.
    ("abcde,efbad->cf", dict(a=12, b=16, c=64, d=16, e=32, f=64), F32),
    ("efbad,cf->abcde", dict(a=12, b=16, c=64, d=16, e=16, f=64), F32),
    ("eb,aecd->abcd", dict(a=16, b=256, c=32, d=32, e=256), F32),
    ("cad,dcb->ab", dict(a=768, b=768, c=64, d=64), F32),
    ("acd,dbc->ab", dict(a=512, b=512, c=64, d=96), F32),
    ("bda,dc->abc", dict(a=192, b=192, c=192, d=192), F32),
    ("acd,db->abc", dict(a=192, b=192, c=192, d=192), F32),
    ("adec,ebd->abc", dict(a=96, b=96, c=96, d=32, e=32), F32),
    ("aebf,dfce->abcd", dict(a=40, b=40, c=40, d=40, e=24, f=24), F32),
    ("aebf,fdec->abcd", dict(a=40, b=40, c=40, d=40, e=24, f=24), F32),
    ("eafd,fbec->abcd", dict(a=40, b=40, c=40, d=40, e=24, f=24), F64),
    ("ebad,ce->abcd", dict(a=48, b=48, c=48, d=48, e=48), F32),
    ("efcad,bf->abcde", dict(a=24, b=24, c=24, d=24, e=24, f=24), F32),
    ("ecbfa,fd->abcde", dict(a=24, b=24, c=24, d=24, e=24, f=24), F32),
    ("dega,gfbc->abcdef", dict(a=16, b=16, c=16, d=16, e=16, f=16, g=64), F32),
    ("dfgb,geac->abcdef", dict(a=16, b=16, c=16, d=16, e=16, f=16, g=64), F32),
    ("degb,gfac->abcdef", dict(a=16, b=16, c=16, d=16, e=16, f=16, g=64), F64),
    ("abcdef,fedg->abcg", dict(a=32, b=32, c=32, d=8, e=8, f=8, g=32), F32),
    ("abcdef,gb->agcdef", dict(a=16, b=4, c=32, d=32, e=16, f=16, g=4), F32),
    ("abcdef,ebgd->acgf", dict(a=16, b=16, c=16, d=16, e=16, f=16, g=16), F32),
    # Several summed labels and few free ones; labels of one operand only; three operands.
    ("abcd,db->ac", dict(a=192, b=64, c=192, d=32), F32),
    ("abc,cb->a", dict(a=512, b=256, c=256), F32),
    ("abc,bd->ad", dict(a=512, b=256, c=256, d=256), F32),
    ("abcd,badc->", dict(a=64, b=64, c=64, d=64), F32),
    ("abc,bd,cd->ad", dict(a=256, b=256, c=256, d=32), F32),
]


def name_of(subscripts, extents, dtype):
    return f"{subscripts} {'x'.join(f'{label}{extent}' for label, extent in extents.items())} {dtype}"


def flops_of(subscripts, extents):
    """The minimal number of operations for two operands. Three operands are contracted from left to right."""
    operands, result = parse(subscripts)
    if len(operands) == 3:
        first, *rest = operands
        kept = "".join(label for label in dict.fromkeys(first + rest[0]) if label in rest[1] + result)
        return flops_of(f"{first},{rest[0]}->{kept}", extents) + flops_of(f"{kept},{rest[1]}->{result}", extents)
    alone = {label for labels in operands for label in labels if sum(label in o for o in operands + [result]) == 1}
    joined = math.prod(extents[label] for label in set("".join(operands)) - alone)
    return (2.0 if set("".join(operands)) - alone - set(result) else 1.0) * joined


def bytes_of(labels, extents, dtype):
    return math.prod(extents[label] for label in labels) * np.dtype(dtype).itemsize


def run_contraction(context, group, at_least, subscripts, extents, dtype):
    """Measures a contraction as a case of a group. Its speed-up over the best peer is to be at least `at_least`."""
    outcome = Outcome(group, name_of(subscripts, extents, dtype))
    operands, result = parse(subscripts)
    arrays = [context.random([extents[label] for label in labels], dtype) for labels in operands]
    names = [f"X{n}" for n in range(len(arrays))]
    for name, array in zip(names, arrays):
        context.eindb.store(name, array)
    query = f"EINSUM '{subscripts}' ({', '.join(names)})"
    spellings = numpy_calls(subscripts, arrays, extents), torch_calls(subscripts, arrays, extents)
    numpy_call, torch_call = map(fastest, spellings)
    summed = math.prod(extents[label] for label in set("".join(operands)) - set(result))
    check_close(outcome, context.eindb.array(query), numpy_call.function(), summed)
    contestants = {"eindb": Statement(context.eindb, query), "numpy": numpy_call, "torch": torch_call}
    speedup, _ = context.compare(outcome, contestants)
    outcome.add("speed-up", speedup, at_least=at_least)
    einsum = min(calls[0].best_seconds for calls in spellings)
    outcome.add("over einsum", einsum / outcome.seconds["eindb"])
    read = sum(bytes_of(labels, extents, dtype) for labels in operands)
    context.add_roofline(
        outcome, dtype, flops_of(subscripts, extents), read, bytes_of(result, extents, dtype)
    )
    # The gain that is left for a program that reaches the roofline.
    best_peer = min(outcome.seconds[peer] for peer in ("numpy", "torch"))
    outcome.add("roofline over peers", best_peer / outcome.notes["roofline seconds"])
    return outcome


def run_contractions(context, group, at_least, contractions):
    context.machine.measure_all()
    for contraction in contractions:
        if context.selects(name_of(*contraction)):
            yield run_contraction(context, group, at_least, *contraction)
    context.machine.measure_all()


def run(context):
    return run_contractions(context, "patterns", WANTED["worst speed-up"], PATTERNS)


def totals(outcomes, wanted):
    """The figures of a whole group: geometric means, and the worst case. `wanted` are the least values by name."""
    total = Outcome(outcomes[0].group, f"geometric mean of {len(outcomes)}")
    for name in ("speed-up", "over einsum", "of roofline", "roofline over peers"):
        values = [value for value in (outcome.value(name) for outcome in outcomes) if value]
        total.add(name, statistics.geometric_mean(values), at_least=wanted.get(name))
    worst = min(outcome.value("speed-up") for outcome in outcomes)
    total.add("worst speed-up", worst, at_least=wanted["worst speed-up"])
    return total

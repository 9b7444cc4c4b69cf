"""Random calls of einsum that NumPy takes too."""
import numpy

EXTENTS = {"i": 2, "j": 3, "k": 4, "l": 1, "A": 2, "b": 3}
DTYPES = ["f4", "f8", "c8", "c16", "i8", "i4", "i2", "i1", "u1", "u4", "u8", "?", "f2", ">f8", ">i4"]


def _values(rng, shape, dtype):
    """Small integers, with which every order of addition gives the same in every type."""
    values = numpy.asarray(rng.integers(0, 2 if dtype == "?" else 4, shape)).astype(dtype)
    if values.dtype.kind == "c":
        values.imag = rng.integers(0, 3, shape)
    return values


def _array(rng, shape, dtype):
    """An array with some layout: row-major, Fortran's, backwards, with gaps, repeated, not aligned, read-only."""
    layout = rng.integers(0, 7)
    values = _values(rng, shape, dtype)
    if layout == 1:
        return numpy.asfortranarray(values)
    if layout == 2 and values.ndim:
        return values[::-1]
    if layout == 3 and values.ndim:
        wide = numpy.repeat(values, 2, axis=-1)
        return wide[..., ::2]
    if layout == 4 and values.ndim:
        return numpy.broadcast_to(values[:1], values.shape)
    if layout == 5:
        memory = numpy.zeros(values.nbytes + 1, "u1")
        shifted = memory[1:].view(values.dtype).reshape(values.shape)
        shifted[...] = values
        return shifted
    if layout == 6:
        values.flags.writeable = False
    return values


def random_call(rng):
    """Subscripts and operands; NumPy may refuse them."""
    dtypes = [DTYPES[rng.integers(len(DTYPES))] for _ in range(2)]
    ellipsis = [int(rng.integers(2, 4)) for _ in range(rng.integers(0, 3))]
    terms, operands = [], []
    for _ in range(rng.integers(1, 5)):
        labels = [list(EXTENTS)[rng.integers(len(EXTENTS))] for _ in range(rng.integers(0, 4))]
        shape = [EXTENTS[label] for label in labels]
        for place, label in enumerate(labels):
            # NumPy broadcasts dimensions of extent 1, but not those of a diagonal.
            if rng.random() < 0.16 and labels.count(label) == 1:
                shape[place] = 1 if rng.random() < 0.95 else 0
        term = "".join(labels)
        if rng.random() < 0.4:
            own = [1 if rng.random() < 0.3 else extent for extent in ellipsis[rng.integers(0, len(ellipsis) + 1):]]
            place = int(rng.integers(0, len(labels) + 1))
            term = term[:place] + "..." + term[place:]
            shape[place:place] = own
        terms.append(term)
        operands.append(_array(rng, shape, dtypes[rng.integers(2)]))
    subscripts = ",".join(terms)
    if rng.random() < 0.7:
        labels = sorted({c for c in subscripts if c.isalpha()})
        rng.shuffle(labels)
        output = "".join(labels[:rng.integers(0, len(labels) + 1)])
        if "..." in subscripts:
            place = int(rng.integers(0, len(output) + 1))
            output = output[:place] + "..." + output[place:]
        subscripts += "->" + output
    return subscripts, operands

"""eindb's orders of contraction for programs that contract by themselves. Imported where it is wanted: opt_einsum takes
objects of a class of its own alone."""

from ._planned_paths import planned_path

try:
    from opt_einsum.paths import PathOptimizer
except ImportError:
    PathOptimizer = object


class EindbOptimizer(PathOptimizer):
    """The planner as a path optimizer of opt_einsum, cotengra and quimb. Any number of threads may call it.

    >>> eindb.path_optimizer([{'a', 'b'}, {'b', 'c'}, {'c', 'd'}], {'a', 'd'}, {'a': 10, 'b': 20, 'c': 30, 'd': 2})
    [(1, 2), (0, 1)]
    """

    def __call__(self, inputs, output, size_dict, memory_limit=None, **_):
        """The path, a list of tuples of positions: what they name is taken out, and the product put at the end.

        inputs: sets or sequences of indices, of whatever has a hash; output: likewise.
        size_dict: the extent of each index.
        memory_limit: taken, and not kept to: the order is that of the least work.
        Raises KeyError for an index without an extent.
        """
        numbers = {index: number for number, index in enumerate(size_dict)}
        # Of sets, in the order of size_dict, so that all runs find the same.
        terms = [sorted(numbers[index] for index in term) for term in (*inputs, output)]
        extents = list(size_dict.values())
        shapes = [tuple(extents[number] for number in term) for term in terms[:-1]]
        return planned_path(terms[:-1], terms[-1], shapes, "auto")


path_optimizer = EindbOptimizer()

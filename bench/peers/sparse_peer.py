"""A library of the cases with sparse cells, as a program of its own, which can be ended when a case takes too long.

Usage: sparse_peer.py LIBRARY THREADS [FOLDER DATABASE]

The library eindb is the Python package in a folder, and reads the tensors that a database has stored.

It reads requests, one JSON object per line: {"prepare": workload, "files": {name: path}}, {"time": true} and {"result":
path without an ending}. It answers each with a line: {"seconds": ...}, {"path": ...}, {}, or {"failed": reason}.
"""

import json
import os
import sys

import numpy as np

MOST_DENSE_BYTES = 4 << 30


class NotOffered(Exception):
    """A library does not have the operation, or not for arrays of this size."""


def load(path):
    import scipy.sparse
    from sparse_inputs import Tensor

    if path.endswith(".arrays.npz"):
        tensor = Tensor.__new__(Tensor)
        with np.load(path) as arrays:
            tensor.keys, tensor.values, tensor.shape = arrays["keys"], arrays["values"], tuple(arrays["shape"])
        return tensor
    return scipy.sparse.load_npz(path) if path.endswith(".npz") else np.load(path)


class Library:
    """A library that takes tensors as they are read from files. `workloads` are functions of what inputs() returns."""

    def inputs(self, paths):
        return [self.convert(load(path)) for path in paths]


class Eindb:
    """Statements over stored tensors, with the machine's figures if they were measured, as text that is given again and
    again. The results are read by the program that stored the tensors."""

    def __init__(self, threads, folder, database):
        sys.path.insert(0, folder)
        import eindb
        from sparse_queries import QUERIES

        connection = eindb.connect(database)
        connection.execute(f"SET threads = {threads}")
        figures = os.path.join(os.path.dirname(database), "machine.json")
        if os.path.exists(figures):
            connection.execute(f"SET machine_file = '{figures}'")
        self.workloads = {name: lambda q=query: connection.execute(q) for name, query in QUERIES.items()}

    def inputs(self, paths):
        return []


class Numpy(Library):
    """Dense arrays."""

    def __init__(self):
        self.workloads = {
            "SpMV": lambda s, x: s @ x,
            "SpMM": lambda s, b: s @ b,
            "SpGEMM": lambda s, t: s @ t,
            "SDDMM": lambda s, a, b: s * (a @ b.T),
            "product": lambda s, t: s * t,
            "sum": lambda s, t: s + t,
        }

    def convert(self, value):
        if isinstance(value, np.ndarray):
            return value
        if 8 * float(np.prod(value.shape, dtype=float)) > MOST_DENSE_BYTES:
            raise NotOffered(f"dense arrays of {' x '.join(map(str, value.shape))} are too large")
        return value.toarray()

    def plain(self, result):
        return result


class Scipy(Library):
    """CSR matrices, and arrays of cells where SciPy has no matrix for them."""

    def __init__(self):
        self.workloads = {
            "SpMV": lambda s, x: s @ x,
            "SpMM": lambda s, b: s @ b,
            "SpGEMM": lambda s, t: s @ t,
            "SDDMM": self._sddmm,
            "MTTKRP": self._mttkrp,
            "triangles": lambda e: (e @ e).multiply(e).sum(),
            "product": lambda s, t: s.multiply(t),
            "sum": lambda s, t: s + t,
            "total": lambda t: t.values.sum(),
        }

    @staticmethod
    def _sddmm(s, a, b):
        import scipy.sparse

        rows = np.repeat(np.arange(s.shape[0]), np.diff(s.indptr))
        values = s.data * np.einsum("nk,nk->n", a[rows], b[s.indices])
        return scipy.sparse.csr_matrix((values, s.indices, s.indptr), shape=s.shape)

    @staticmethod
    def _mttkrp(t, b, c):
        import scipy.sparse

        cells = np.arange(len(t.values) + 1)
        i, j, k = t.keys.T
        order = scipy.sparse.csr_matrix((t.values, (i, cells[:-1])), shape=(t.shape[0], len(t.values)))
        return order @ (b[j] * c[k])

    def convert(self, value):
        return value

    def plain(self, result):
        return result


class Torch(Library):
    """CSR where PyTorch has the operation for it on CPUs, COO elsewhere."""

    def __init__(self):
        import torch

        self._torch = torch
        self.workloads = {
            "SpMV": lambda s, x: s[0] @ x[:, None],
            "SpMM": lambda s, b: s[0] @ b,
            "SpGEMM": lambda s, t: torch.sparse.mm(s[1], t[1]),
            "SDDMM": self._sddmm,
            "MTTKRP": self._mttkrp,
            "triangles": self._triangles,
            "product": lambda s, t: s[1] * t[1],
            "sum": lambda s, t: s[1] + t[1],
            "total": lambda t: torch.sparse.sum(t),
        }

    def _triangles(self, edges):
        """PyTorch 1.13 says that products are coalesced, but their rows are not sorted, and then multiplies by them wrongly."""
        torch = self._torch
        paths = torch.sparse.mm(edges[1], edges[1])
        paths = torch.sparse_coo_tensor(paths._indices(), paths._values(), paths.shape).coalesce()
        return torch.sparse.sum(paths * edges[1])

    def _sddmm(self, s, a, b):
        rows, columns = s[1].indices()
        values = s[1].values() * (a[rows] * b[columns]).sum(1)
        return self._torch.sparse_coo_tensor(s[1].indices(), values, s[1].shape)

    def _mttkrp(self, t, b, c):
        i, j, k = t.indices()
        terms = b[j] * c[k] * t.values()[:, None]
        return self._torch.zeros(t.shape[0], b.shape[1], dtype=b.dtype).index_add_(0, i, terms)

    def convert(self, value):
        torch = self._torch
        if isinstance(value, np.ndarray):
            return torch.from_numpy(value)
        if hasattr(value, "keys"):
            return torch.sparse_coo_tensor(value.keys.T.copy(), value.values, value.shape).coalesce()
        parts = [torch.from_numpy(part.astype(np.int64)) for part in (value.indptr, value.indices)]
        csr = torch.sparse_csr_tensor(*parts, torch.from_numpy(value.data), value.shape)
        cells = value.tocoo()
        coo = torch.sparse_coo_tensor(np.stack([cells.row, cells.col]), cells.data, value.shape).coalesce()
        return csr, coo

    def plain(self, result):
        import scipy.sparse

        if not result.is_sparse:
            return result.numpy()
        cells = result.coalesce()
        return scipy.sparse.coo_matrix((cells.values().numpy(), cells.indices().numpy()), shape=tuple(cells.shape))


class GraphBlas(Library):
    """SuiteSparse:GraphBLAS by its C interface."""

    def __init__(self, threads):
        import suitesparse_graphblas as graphblas

        self._ffi, self._lib, self._check = graphblas.ffi, graphblas.lib, graphblas.check_status
        graphblas.initialize()
        self._lib.GxB_Global_Option_set_INT32(self._lib.GxB_GLOBAL_NTHREADS, threads)
        self._times = self._lib.GrB_PLUS_TIMES_SEMIRING_FP64
        self.workloads = {
            "SpMV": self._product,
            "SpMM": self._product,
            "SpGEMM": self._product,
            "SDDMM": self._sddmm,
            "triangles": self._triangles,
            "product": lambda s, t: self._element_wise(self._lib.GrB_Matrix_eWiseMult_BinaryOp, self._lib.GrB_TIMES_FP64, s, t),
            "sum": lambda s, t: self._element_wise(self._lib.GrB_Matrix_eWiseAdd_BinaryOp, self._lib.GrB_PLUS_FP64, s, t),
        }

    def _call(self, function, target, *arguments):
        self._check(target, function(target[0], *arguments))

    def _new(self, rows, columns):
        lib = self._lib
        matrix = self._ffi.new("GrB_Matrix*")
        self._check(matrix, lib.GrB_Matrix_new(matrix, lib.GrB_FP64, rows, columns))
        freed = self._ffi.gc(matrix, lib.GrB_Matrix_free)
        return freed

    def _extents(self, matrix):
        counts = [self._ffi.new("GrB_Index*") for _ in range(2)]
        self._call(lambda m, n: self._lib.GrB_Matrix_nrows(n, m), matrix, counts[0])
        self._call(lambda m, n: self._lib.GrB_Matrix_ncols(n, m), matrix, counts[1])
        return counts[0][0], counts[1][0]

    def _finished(self, matrix):
        self._call(self._lib.GrB_Matrix_wait, matrix, self._lib.GrB_MATERIALIZE)
        return matrix

    def _product(self, s, t, mask=None, transposed=False):
        result = self._new(self._extents(s)[0], self._extents(t)[0 if transposed else 1])
        null = self._ffi.NULL
        descriptor = self._lib.GrB_DESC_T1 if transposed else null
        self._call(self._lib.GrB_mxm, result, mask[0] if mask else null, null, self._times, s[0], t[0], descriptor)
        return self._finished(result)

    def _element_wise(self, function, operator, s, t):
        result = self._new(*self._extents(s))
        null = self._ffi.NULL
        self._call(function, result, null, null, operator, s[0], t[0], null)
        return self._finished(result)

    def _sddmm(self, s, a, b):
        products = self._product(a, b, mask=s, transposed=True)
        return self._element_wise(self._lib.GrB_Matrix_eWiseMult_BinaryOp, self._lib.GrB_TIMES_FP64, s, products)

    def _triangles(self, edges):
        paths = self._product(edges, edges, mask=edges)
        total = self._ffi.new("double*")
        null = self._ffi.NULL
        self._call(lambda m: self._lib.GrB_Matrix_reduce_FP64(total, null, self._lib.GrB_PLUS_MONOID_FP64, m, null), paths)
        return total[0]

    def convert(self, value):
        import scipy.sparse

        if hasattr(value, "keys"):
            raise NotOffered("GraphBLAS has matrices alone")
        if isinstance(value, np.ndarray):
            value = value.reshape(len(value), -1)
            rows, columns = (axis.ravel() for axis in np.indices(value.shape))
            values, shape = value.ravel(), value.shape
        else:
            cells = scipy.sparse.coo_matrix(value)
            rows, columns, values, shape = cells.row, cells.col, cells.data, cells.shape
        matrix = self._new(*shape)
        keys = [self._ffi.from_buffer("GrB_Index[]", np.ascontiguousarray(part.astype(np.uint64))) for part in (rows, columns)]
        held = self._ffi.from_buffer("double[]", np.ascontiguousarray(values))
        self._call(self._lib.GrB_Matrix_build_FP64, matrix, *keys, held, len(values), self._lib.GrB_PLUS_FP64)
        return self._finished(matrix)

    def plain(self, result):
        import scipy.sparse

        if isinstance(result, float):
            return result
        count = self._ffi.new("GrB_Index*")
        self._call(lambda m: self._lib.GrB_Matrix_nvals(count, m), result)
        rows, columns = (np.empty(count[0], np.uint64) for _ in range(2))
        values = np.empty(count[0])
        buffers = [self._ffi.from_buffer("GrB_Index[]", part, require_writable=True) for part in (rows, columns)]
        held = self._ffi.from_buffer("double[]", values, require_writable=True)
        self._call(lambda m: self._lib.GrB_Matrix_extractTuples_FP64(*buffers, held, count, m), result)
        keys = rows.astype(np.int64), columns.astype(np.int64)
        return scipy.sparse.coo_matrix((values, keys), shape=self._extents(result))


def save(path, result):
    """Sparse results as npz files, others as npy files."""
    import scipy.sparse

    if scipy.sparse.issparse(result):
        scipy.sparse.save_npz(path + ".npz", result, compressed=False)
        return path + ".npz"
    np.save(path + ".npy", result)
    return path + ".npy"


class Server:
    def __init__(self, library):
        self._library = library
        self._call = None

    def answer(self, request):
        from contestants import Call
        from rounds import settle, turn

        if "prepare" in request:
            self._call = None
            workload = self._library.workloads.get(request["prepare"])
            if workload is None:
                raise NotOffered("it has no such operation")
            inputs = self._library.inputs(request["files"])
            self._call = Call(lambda: workload(*inputs))
            return {}
        if "time" in request:
            seconds = turn(self._call)
            settle()
            return {"seconds": seconds}
        return {"path": save(request["result"], self._library.plain(self._call.function()))}


def library_named(name, threads, arguments):
    if name == "eindb":
        return Eindb(threads, *arguments)
    if name == "torch":
        import torch

        torch.set_num_threads(threads)
        return Torch()
    return {"numpy": Numpy, "scipy": Scipy, "graphblas": lambda: GraphBlas(threads)}[name]()


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    try:
        server = Server(library_named(name, threads, sys.argv[3:]))
    except ImportError as error:
        print(json.dumps({"absent": str(error)}), file=answers, flush=True)
        return
    print(json.dumps({}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = server.answer(json.loads(line))
        except Exception as error:  # whatever a library throws, the case fails for it alone
            answer = {"failed": str(error).split("\n")[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    main()

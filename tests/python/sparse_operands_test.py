"""Matrices of scipy.sparse as tensors of statements: their values beside SciPy's, and plans that read cells alone."""

import unittest

import eindb
import numpy as np
import scipy.sparse as sp


class SparseOperands(unittest.TestCase):
    def setUp(self):
        self.db = eindb.connect()
        self.random = np.random.default_rng(3)

    def matrix(self, rows, columns, density, dtype="f8", form="csr"):
        made = sp.random(rows, columns, density, random_state=self.random, dtype="f8")
        return (made * 8).astype(dtype).asformat(form)

    def test_products_equal_scipys(self):
        for dtype in ("f4", "f8", "c8", "c16", "i8"):
            for form in ("csr", "csc", "coo", "bsr", "lil", "dok"):
                s = self.matrix(60, 40, 0.1, dtype, form)
                d = self.random.integers(-3, 4, (40, 7)).astype(dtype)
                found = self.db.einsum("Z[i,k] = SUM(S[i,j] * D[j,k])", S=s, D=d)
                np.testing.assert_allclose(found, s.toarray() @ d, rtol=1e-4, atol=1e-4)
                self.assertEqual(found.dtype, np.dtype(dtype))

    def test_large_ones_are_read_by_their_cells(self):
        s = self.matrix(200_000, 300_000, 1e-6)
        d = self.random.random((300_000, 2))
        np.testing.assert_allclose(self.db.einsum("Z[i,k] = SUM(S[i,j] * D[j,k])", S=s, D=d), s @ d, rtol=1e-12)
        total = self.db.einsum("s = SUM(S[i,j])", S=s)
        self.assertAlmostEqual(float(total), s.sum(), places=9)
        squares = self.db.einsum("d[i] = SUM(S[i,j] * T[i,j])", S=s, T=s)
        np.testing.assert_allclose(squares, np.asarray(s.multiply(s).sum(axis=1)).ravel(), rtol=1e-12)
        self.assertIn("cells", self.db.explain("s = SUM(S[i,j])", S=s))

    def test_rows_of_sql(self):
        s = sp.csr_matrix(([2.5, -1.0], ([1, 70_000], [3, 90_000])), shape=(100_000, 100_000))
        rows = self.db.execute("SELECT i, j, val FROM S WHERE val <> 0 ORDER BY i", S=s).fetchall()
        self.assertEqual(rows, [(1, 3, 2.5), (70_000, 90_000, -1.0)])

    def test_duplicates_are_summed_and_the_matrix_stays(self):
        s = sp.coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
        np.testing.assert_array_equal(self.db.einsum("Z[i,j] = S[i,j]", S=s), [[0, 3], [4, 0]])
        self.assertEqual(s.nnz, 3)
        unsorted = sp.csr_matrix((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
        np.testing.assert_array_equal(self.db.einsum("Z[i,j] = S[i,j]", S=unsorted), [[2, 0, 1]])
        self.assertEqual(list(unsorted.indices), [2, 0])

    def test_empty_ones(self):
        for shape in ((3, 4), (1, 1)):
            empty = sp.csr_matrix(shape)
            np.testing.assert_array_equal(self.db.einsum("Z[i,j] = S[i,j] + 1", S=empty), np.ones(shape))

    def test_variables_and_stored_tensors(self):
        S = self.matrix(50, 50, 0.05)
        v = self.random.random(50)
        np.testing.assert_allclose(self.db.einsum("y[i] = SUM(S[i,j] * v[j])"), S @ v)
        self.db.execute("CREATE TENSOR K AS EINSUM K[i,j] = 2 * S[i,j]", S=S)
        np.testing.assert_allclose(self.db["K"].numpy(), 2 * S.toarray())

    def test_other_values_are_refused(self):
        with self.assertRaisesRegex(TypeError, "out must be an array"):
            eindb.einsum("ij,jk->ik", np.ones((3, 3)), np.ones((3, 3)), out=self.matrix(3, 3, 0.5))
        for keywords in ({"out": np.ones((3, 3))}, {"dtype": "f4"}, {"casting": "unsafe"}, {"order": "F"}):
            with self.assertRaisesRegex(TypeError, "sparse operands"):
                eindb.einsum("ij,jk->ik", self.matrix(3, 3, 0.5), np.ones((3, 3)), **keywords)


class SparseEinsum(unittest.TestCase):
    """eindb.einsum with sparse operands, beside NumPy's with dense ones."""

    def setUp(self):
        self.random = np.random.default_rng(4)

    def matrix(self, rows, columns, dtype="f8", density=0.2):
        made = sp.random(rows, columns, density, random_state=self.random, dtype="f8")
        return (made * 8).astype(dtype).tocsr()

    def check(self, subscripts, *operands, sparse):
        dense = [operand.toarray() if sp.issparse(operand) else operand for operand in operands]
        expected = np.einsum(subscripts, *dense)
        found = eindb.einsum(subscripts, *operands)
        self.assertEqual(sp.issparse(found), sparse, subscripts)
        self.assertEqual(found.dtype, expected.dtype, subscripts)
        np.testing.assert_allclose(found.toarray() if sparse else found, expected, rtol=1e-5, atol=1e-5, err_msg=subscripts)

    def test_results_equal_numpys(self):
        s, t, square = self.matrix(9, 7), self.matrix(7, 8), self.matrix(6, 6)
        d, v = self.random.random((7, 5)), self.random.random(7)
        self.check("ij,jk->ik", s, d, sparse=False)
        self.check("ij,jk", s, d, sparse=False)
        self.check("ij,j->i", s, v, sparse=False)
        self.check("ij,jk->ik", s, t, sparse=True)
        self.check("ij,jk->ki", s, t, sparse=True)
        self.check("ij->ji", s, sparse=True)
        self.check("ij->i", s, sparse=False)
        self.check("ij->", s, sparse=False)
        self.check("ij,ij->ij", s, s, sparse=True)
        self.check("ij,jk,ik->", square, square, square, sparse=False)
        self.check("ii->i", square, sparse=False)
        self.check("ii", square, sparse=False)
        self.check("i,ij,j->", self.random.random(9), s, v, sparse=False)
        self.check("...j,jk->...k", self.random.random((2, 9)), s, sparse=False)
        self.check(",ij->ij", np.float64(3), s, sparse=False)
        self.check("ij,jk->ik", s, np.ones((1, 5)), sparse=False)
        self.check("ij,jk->ik", sp.csr_matrix((9, 7)), t, sparse=True)

    def test_dtypes_are_numpys(self):
        for first in ("f4", "f8", "c8", "c16", "i8", "i4", "i2", "u1", "?"):
            for second in ("f4", "f8", "c16", "i8", "i2", "?"):
                s = self.matrix(6, 5, first)
                self.check("ij,jk->ik", s, (self.random.random((5, 3)) * 4).astype(second), sparse=False)
                self.check("ij,jk->ik", s, self.matrix(5, 4, second), sparse=True)

    def test_large_ones_are_read_by_their_cells(self):
        s = self.matrix(200_000, 300_000, density=1e-6)
        v = self.random.random(300_000)
        np.testing.assert_allclose(eindb.einsum("ij,j->i", s, v), s @ v, rtol=1e-12)
        product = eindb.einsum("ij,kj->ik", s, s)
        self.assertAlmostEqual(abs(product - s @ s.T).max(), 0, places=9)

    def test_extents_and_paths(self):
        with self.assertRaises(ValueError):
            eindb.einsum("ij,jk->ik", self.matrix(3, 4), np.ones((5, 2)))
        with self.assertRaisesRegex(ValueError, "broadcast"):
            eindb.einsum("ij,jk->ik", self.matrix(3, 1), np.ones((5, 2)))
        a, b, c = self.matrix(5, 6), self.random.random((6, 7)), self.random.random((7, 2))
        found = eindb.einsum("ij,jk,kl->il", a, b, c, optimize=["einsum_path", (1, 2), (0, 1)])
        np.testing.assert_allclose(found, a.toarray() @ b @ c)


class SparseResults(unittest.TestCase):
    """Cells of results as matrices of SciPy."""

    def test_cells_of_results(self):
        db = eindb.connect()
        s = sp.random(300, 200, 0.01, random_state=3, format="csr")
        for dtype in ("f8", "f4", "i8", "c16"):
            S = (s * 10).astype(dtype)
            found = db.execute("EINSUM Z[j,i] = 2 * S[i,j]", S=S).scipy()
            self.assertEqual(found.dtype, S.dtype)
            self.assertTrue(found.has_canonical_format)
            np.testing.assert_array_equal(found.toarray(), 2 * S.toarray().T)
        sums = db.execute("EINSUM z[i] = SUM(S[i,j])", S=s).scipy()
        np.testing.assert_allclose(sums.toarray()[:, 0], np.asarray(s.sum(1))[:, 0])

    def test_tiles_in_any_order(self):
        db = eindb.connect()
        db.execute("CREATE TENSOR X PARTITION (3, 4) AS EINSUM X[i 9, j 8] = CASE WHEN (i * 5 + j) % 7 = 0 THEN i - j ELSE 0 END")
        dense = db["X"].numpy()
        for found in (db["X"].scipy(), db.execute("EINSUM Z[i,j] = X[i,j]").scipy()):
            np.testing.assert_array_equal(found.toarray(), dense)
            self.assertEqual(found.nnz, np.count_nonzero(dense))
            self.assertTrue(found.has_sorted_indices)

    def test_what_is_no_matrix(self):
        db = eindb.connect()
        with self.assertRaisesRegex(eindb.NotSupportedError, "holds a matrix, not 3 dimensions"):
            db.execute("EINSUM Z[i 2, j 2, k 2] = i").scipy()
        with self.assertRaisesRegex(eindb.ProgrammingError, "gives no tensor"):
            db.execute("SELECT 1").scipy()
        self.assertEqual(db.execute("EINSUM Z[i 0, j 3] = i").scipy().shape, (0, 3))


try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "PyTorch is not there")
class SparseTensors(unittest.TestCase):
    """Tensors of PyTorch in sparse layouts."""

    def setUp(self):
        self.dense = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], dtype=torch.float64)
        self.factor = torch.arange(12, dtype=torch.float64).reshape(3, 4)

    def test_layouts(self):
        expected = self.dense @ self.factor
        for made in (self.dense.to_sparse(), self.dense.to_sparse_csr()):
            found = eindb.einsum("ij,jk->ik", made, self.factor)
            self.assertTrue(torch.equal(found, expected))
            product = eindb.einsum("ij,kj->ik", made, made)
            self.assertEqual(product.layout, torch.sparse_coo)
            self.assertTrue(torch.equal(product.to_dense(), self.dense @ self.dense.T))
            db = eindb.connect()
            np.testing.assert_array_equal(db.einsum("Z[j] = SUM(S[i,j])", S=made), self.dense.sum(0).numpy())

    def test_any_number_of_dimensions(self):
        cells = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0], [1, 1, 1]], [1.0, 2.0, 4.0], (2, 3, 2))
        found = eindb.einsum("ijk->ij", cells)
        self.assertTrue(torch.equal(found.to_dense(), cells.to_dense().sum(2)))
        self.assertTrue(torch.equal(eindb.einsum("ijk->k", cells), cells.to_dense().sum((0, 1))))

    def test_storing(self):
        db = eindb.connect()
        db["S"] = self.dense.to_sparse()
        np.testing.assert_array_equal(db["S"].numpy(), self.dense.numpy())
        self.assertEqual(db["S"].scipy().nnz, 3)

    def test_others_are_refused(self):
        hybrid = torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 3), (2, 3))
        with self.assertRaisesRegex(TypeError, "to_dense"):
            eindb.einsum("ij->i", hybrid)
        wanted = self.dense.to_sparse().requires_grad_()
        with self.assertRaisesRegex(TypeError, "requires gradients"):
            eindb.einsum("ij->i", wanted)


if __name__ == "__main__":
    unittest.main()

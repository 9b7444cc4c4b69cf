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
        with self.assertRaisesRegex(TypeError, "scipy.sparse"):
            eindb.einsum("ij,jk->ik", self.matrix(3, 3, 0.5), np.ones((3, 3)))


if __name__ == "__main__":
    unittest.main()

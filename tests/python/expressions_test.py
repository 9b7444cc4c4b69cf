#!/usr/bin/python3
"""Lazy expressions over labels beside NumPy."""
import unittest

import eindb
import numpy as np

i, j, k = eindb.labels("i j k")


class Expressions(unittest.TestCase):
    def setUp(self):
        self.db = eindb.connect()
        self.addCleanup(self.db.close)
        self.X, self.Y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) - 5
        self.db["X"], self.db["Y"] = self.X, self.Y

    def test_products_and_sums(self):
        product = self.db["X"][i, j] * self.db["Y"][j, k]
        self.assertEqual(product.labels, ("i", "j", "k"))
        np.testing.assert_array_equal(product.sum(j).compute(), self.X @ self.Y)
        np.testing.assert_array_equal(product.sum(j).compute(k, i), (self.X @ self.Y).T)
        self.assertEqual(product.sum().compute(), (self.X @ self.Y).sum())
        np.testing.assert_array_equal(product.compute(), self.X[:, :, None] * self.Y)

    def test_operators(self):
        x, y = self.db["X"][i, j], self.db["Y"][j, k]
        for got, expected in (
            (x + 1, self.X + 1), (1 - x, 1 - self.X), (x / 4 - 0.5, self.X / 4 - 0.5), (2 / (x + 1), 2 / (self.X + 1)),
            (x**2, self.X**2), (2**x, 2**self.X), (-x, -self.X), (abs(-x), self.X), (x * -1.5e-3, self.X * -1.5e-3),
            (x.apply("EXP"), np.exp(self.X)), (y.apply("GREATEST", 0), np.maximum(self.Y, 0)),
            (x * np.float32(0.5), self.X / 2), (np.float64(2) * x, self.X * 2), (x + (1 + 2j), self.X + 1 + 2j),
            (x + i, self.X + np.arange(2)[:, None]), (x.mean(j), self.X.mean(1)), (y.max(j), self.Y.max(0)),
            (y.min(j, k), self.Y.min()), (x.prod(i), self.X.prod(0)),
            (self.db["X"][1, j], self.X[1]), ((x.sum(j) * self.db["X"][i, 2]).sum(), (self.X.sum(1) * self.X[:, 2]).sum()),
        ):  # fmt: skip
            np.testing.assert_allclose(got.compute(), expected, rtol=1e-14, err_msg=repr(got))

    def test_arrays(self):
        A = np.ones((4, 2))
        l = eindb.labels("l")  # noqa: E741
        expression = (self.db["X"][i, j] * self.db["Y"][j, k] * eindb.operand(A)[k, l]).sum(j, k)
        np.testing.assert_array_equal(expression.compute(), self.X @ self.Y @ A)
        a = eindb.operand(A)
        np.testing.assert_array_equal((a[i, j] * a[i, k]).sum(i).compute(), A.T @ A)
        twice = a[i, j] + a[i, j]
        self.assertEqual(len(twice._arrays), 1)

    def test_they_are_stored_and_explained(self):
        self.db["Z"] = (self.db["X"][i, j] * self.db["Y"][j, k]).sum(j)
        np.testing.assert_array_equal(self.db["Z"], self.X @ self.Y)
        self.db["X"] = self.db["X"][i, j] + 1
        np.testing.assert_array_equal(self.db["X"], self.X + 1)
        self.db.store("T", self.db["X"][i, j] * 1, labels=[j, i], type="FLOAT32")
        np.testing.assert_array_equal(self.db["T"], (self.X + 1).T)
        self.assertIn("scan X", self.db["X"][i, j].sum(j).explain())
        self.assertIn("SUM[j]", self.db["X"][i, j].sum(j)._repr_html_())

    def test_what_makes_no_sense_is_refused(self):
        x = self.db["X"][i, j]
        other = eindb.connect()
        other["X"] = self.X
        for error, call in (
            (ValueError, lambda: x.sum(k)), (ValueError, lambda: x.compute(i)), (TypeError, lambda: x.sum("j")),
            (IndexError, lambda: self.db["X"][i]), (TypeError, lambda: self.db["X"][i, 0:2]), (TypeError, lambda: x + self.X),
            (TypeError, lambda: bool(x)), (ValueError, lambda: x + other["X"][i, j]), (ValueError, lambda: x * float("nan")),
            (ValueError, lambda: eindb.labels("1x")), (ValueError, lambda: eindb.labels("")),
            (ValueError, lambda: x.apply("EXP(1); --")), (eindb.Error, lambda: x.apply("NOTHING").compute()),
            (eindb.Error, lambda: (self.db["X"][i, j] * self.db["Y"][i, j]).compute()),
        ):  # fmt: skip
            with self.assertRaises(error):
                call()


if __name__ == "__main__":
    unittest.main()

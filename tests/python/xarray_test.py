#!/usr/bin/python3
"""einsum of xarray's arrays by the names of dimensions, beside xarray's own products."""
import itertools
import sys
import unittest

import numpy as np

try:
    import xarray
except ImportError:
    print("xarray is not installed: skipped")
    sys.exit(0)

import eindb.xarray  # noqa: F401


def random_array(rng, sizes, name=None):
    dims = [str(dim) for dim in rng.permutation(list(sizes))[: rng.integers(1, len(sizes) + 1)]]
    coords = {dim: np.arange(sizes[dim]) * 10 for dim in dims if sizes[dim] % 2 == 0}
    return xarray.DataArray(rng.integers(-4, 5, [sizes[dim] for dim in dims]).astype(float), dims=dims, coords=coords, name=name)


class Einsums(unittest.TestCase):
    def test_products_are_those_of_xarray(self):
        rng = np.random.default_rng(24)
        for _ in range(60):
            sizes = {dim: int(rng.integers(1, 7)) for dim in ("city", "day", "kind", "depth")}
            arrays = [random_array(rng, sizes) for _ in range(rng.integers(1, 4))]
            dims = sorted({dim for array in arrays for dim in array.dims})
            to = [str(dim) for dim in rng.permutation(dims)[: rng.integers(0, len(dims) + 1)]]
            product = arrays[0]
            for other in arrays[1:]:
                product = product * other
            expected = product.sum([dim for dim in dims if dim not in to]).transpose(*to)
            found = arrays[0].eindb.einsum(*arrays[1:], to=to)
            xarray.testing.assert_allclose(found, expected)
            dataset = xarray.Dataset({f"v{n}": array for n, array in enumerate(arrays)})
            names = ", ".join(f"v{n}" for n in range(len(arrays)))
            xarray.testing.assert_allclose(dataset.eindb.einsum(f"{names} -> {', '.join(to)}"), expected)

    def test_other_algebras(self):
        rng = np.random.default_rng(25)
        x = xarray.DataArray(rng.random((3, 4)), dims=("a", "b"))
        y = xarray.DataArray(rng.random((5, 4)), dims=("c", "b"))
        reductions = {"MAX": "max", "MIN": "min", "SUM": "sum", "PROD": "prod", "AVG": "mean"}
        for (aggregate, method), join in itertools.product(reductions.items(), "*+"):
            joined = x * y if join == "*" else x + y
            expected = getattr(joined, method)("b").transpose("c", "a")
            xarray.testing.assert_allclose(x.eindb.einsum(y, to="c, a", aggregate=aggregate, join=join), expected)
        xarray.testing.assert_allclose(x.eindb.einsum(y, to=["a", "b", "c"], join="+"), (x + y).transpose("a", "b", "c"))

    def test_coordinates(self):
        x = xarray.DataArray(np.ones((2, 3)), dims=("city", "day"), coords={"city": ["Oslo", "Bergen"], "area": ("city", [4, 5])})
        found = x.eindb.einsum(to="city")
        self.assertEqual(list(found.city.values), ["Oslo", "Bergen"])
        self.assertEqual(list(found.area.values), [4, 5])
        other = xarray.DataArray([1.0, 2.0], dims="city", coords={"city": ["Oslo", "Rome"]})
        with self.assertRaises(ValueError):
            x.eindb.einsum(other, to="day")

    def test_errors(self):
        dataset = xarray.Dataset({"x": ("a", [1.0, 2.0])})
        for expression, said in (("x", "arrow"), ("-> a", "variables"), ("y -> a", "no variable 'y'"), ("x -> b", "dimension 'b'"),
                                 ("x -> a, a", "twice")):
            with self.assertRaisesRegex(ValueError, said):
                dataset.eindb.einsum(expression)
        with self.assertRaisesRegex(ValueError, "aggregate is one of"):
            dataset.eindb.einsum("x -> a", aggregate="MEDIAN")
        with self.assertRaisesRegex(ValueError, "join is"):
            dataset.eindb.einsum("x -> a", join="-")
        with self.assertRaisesRegex(TypeError, "DataArrays"):
            dataset.x.eindb.einsum(np.ones(2), to="a")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""einsum beside NumPy's: layouts, types, results, arguments and their errors."""
import array
import gc
import os
import signal
import subprocess
import sys
import threading
import unittest
import warnings

import eindb
import numpy as np
from random_equations import random_call

try:
    import torch
except ImportError:
    torch = None

warnings.simplefilter("ignore")


def resident_kib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def compare_calls(test, seed, count):
    """So many random calls beside NumPy; how many of them it refused."""
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(count):
        subscripts, operands = random_call(rng)
        said = f"{subscripts} {[(operand.shape, operand.dtype.str) for operand in operands]}"
        try:
            expected = np.einsum(subscripts, *operands)
        except TypeError:
            continue  # an uint64 without dimensions beside an int64, which may lie in its range or not
        except ValueError:
            refused += 1
            with test.assertRaises(ValueError, msg=said):
                eindb.einsum(subscripts, *operands)
            continue
        got = eindb.einsum(subscripts, *operands)
        np.testing.assert_array_equal(got, expected, said)
        np.testing.assert_array_equal(eindb.einsum(subscripts, *operands), expected, said + " again")
        test.assertEqual((got.dtype, got.shape, type(got)), (expected.dtype, expected.shape, type(expected)), said)
    return refused


class BesideNumPy(unittest.TestCase):
    def test_random_calls_from_eight_threads(self):
        failures = []

        def calls(seed):
            try:
                compare_calls(self, seed, 125)
            except BaseException as error:  # noqa: BLE001, told by the main thread
                failures.append(error)

        threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def test_random_calls(self):
        refused = compare_calls(self, 100, 1000)
        self.assertLess(refused, 500)

    def test_large_operands_of_all_layouts(self):
        rng = np.random.default_rng(7)
        A, B = rng.standard_normal((300, 200)), rng.standard_normal((200, 260))
        for a in (A, np.asfortranarray(A), np.repeat(A, 2, 1)[:, ::2], A[::-1][::-1]):
            np.testing.assert_allclose(eindb.einsum("ij,jk->ik", a, B), A @ B, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(eindb.einsum("ij,jk->ik", A[::-1, ::-1], B[::-1]), A[::-1] @ B, atol=1e-11)
        wide = np.broadcast_to(B[0], (200, 260))
        np.testing.assert_allclose(eindb.einsum("ij,jk->ik", A, wide), A @ wide, atol=1e-11)

    def test_sums_and_extremes_of_any_layout(self):
        rng = np.random.default_rng(20261130)
        for _ in range(150):
            shape = tuple(int(n) for n in rng.integers(1, 40, 3))
            order = rng.permutation(3)
            room = rng.integers(-4, 5, [shape[d] + int(rng.integers(0, 3)) for d in order]).astype("f4")
            array = room[tuple(slice(0, shape[d]) for d in order)].transpose(np.argsort(order))
            if rng.integers(0, 6) == 0:
                array = array[::-1]
            if rng.integers(0, 6) == 0:
                array = np.broadcast_to(array[:1], shape)
            other = rng.integers(-4, 5, (shape[2], shape[0])).astype("f4").T
            with eindb.connect() as db:
                db.execute(f"SET parallelism = {2 ** int(rng.integers(0, 6))}")
                found = db.einsum("Z[j,a] = MAX[b](X[a,j,b] + Y[a,b])", X=array, Y=other)
                np.testing.assert_array_equal(found, (array + other[:, None, :]).max(2).T)
                found = db.einsum("Z[a,b] = SUM[j](X[a,j,b]) - Y[a,b]", X=array, Y=other)
                np.testing.assert_array_equal(found, array.sum(1) - other)

    def test_changed_arrays_at_the_same_address(self):
        for n in (8, 200):
            A, B = np.ones((n, n)), np.ones((n, n))
            for scale in range(1, 4):
                A[...] = scale
                np.testing.assert_array_equal(eindb.einsum("ij,jk->ik", A, B), np.full((n, n), float(n * scale)))
                np.testing.assert_array_equal(eindb.einsum("ij,jk->ik", A.T[::-1], B), np.full((n, n), float(n * scale)))

    def test_calls_with_the_same_subscripts(self):
        """What one call worked out holds for another only if the arrays are of the same types and lie alike."""
        rng = np.random.default_rng(7)
        subscripts = "ij,jk->ik"
        raw = np.zeros(8 * 36 + 4, dtype=np.uint8)
        unaligned = raw[4:].view(np.float64).reshape(6, 6)
        unaligned[:] = rng.random((6, 6))
        wide = rng.random((12, 12))
        plain = rng.random((6, 6))
        matrices = [plain, rng.random((6, 6)), plain.T, wide[::2, ::2], wide[:6, :6], plain[::-1], unaligned,
                    plain.astype(np.float32), plain.astype(">f8"), np.arange(36).reshape(6, 6), plain > 0.5,
                    rng.random((1, 6)), rng.random((6, 1)), rng.random((0, 6)), plain + 1j, plain.astype(np.float16),
                    np.matrix(plain), np.ma.masked_array(plain)]  # fmt: skip
        for _ in range(3):
            for left in matrices:
                for right in matrices:
                    said = f"{left.shape} {left.strides} {left.dtype} {right.shape} {right.strides} {right.dtype}"
                    try:
                        expected = np.einsum(subscripts, np.asarray(left), np.asarray(right))
                    except ValueError:
                        with self.assertRaises(ValueError, msg=said):
                            eindb.einsum(subscripts, left, right)
                        continue
                    got = eindb.einsum(subscripts, left, right)
                    self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape), said)
                    tolerance = 1e-2 if got.dtype == np.float16 else 1e-5 if got.dtype == np.float32 else 1e-12
                    np.testing.assert_allclose(got, expected, tolerance, err_msg=said)
        first = eindb.einsum(subscripts, plain, plain)
        second = eindb.einsum(subscripts, plain, plain)
        first[:] = 0
        np.testing.assert_allclose(second, plain @ plain)

    def test_names_are_used_again(self):
        """Statements take over what others attached that are no longer kept, and failed ones give it back."""
        rng = np.random.default_rng(8)
        for n in range(400):
            a, b = rng.random((1 + n % 7, 1 + n // 7)), rng.random((1 + n // 7, 3))
            np.testing.assert_allclose(eindb.einsum("ij,jk->ik", a, b), a @ b)
            if n % 50 == 49:
                with self.assertRaises(ValueError):
                    eindb.einsum("ij,jk->ik", a, rng.random((2 + n // 7, 3)))
            large = rng.random((120 + n % 3, 100))
            np.testing.assert_allclose(eindb.einsum("ij,ij->i", large, large), (large * large).sum(axis=1))

    def test_more_shapes_than_are_kept(self):
        for n in [*range(1, 200), *range(1, 20)]:
            self.assertEqual(eindb.einsum("i,i->", np.ones(n), np.ones(n)), n)

    def test_many_operands(self):
        chain = ",".join(f"{chr(97 + n)}{chr(98 + n)}" for n in range(20))
        matrices = [np.full((2, 2), 1.0)] * 20
        np.testing.assert_array_equal(eindb.einsum(chain + "->au", *matrices), np.full((2, 2), 2.0 ** 19))
        self.assertEqual(eindb.einsum(*[np.ones(3), [0]] * 40), eindb.einsum(*[np.ones(3), [0]] * 40, []))

    def test_zero_extents(self):
        np.testing.assert_array_equal(eindb.einsum("ij,jk->ik", np.ones((2, 0)), np.ones((0, 3))), np.zeros((2, 3)))
        self.assertEqual(eindb.einsum("ij,jk->ik", np.ones((0, 2)), np.ones((2, 3))).shape, (0, 3))
        self.assertEqual(eindb.einsum("i,i->", np.ones(0), np.ones(1)), 0)


class Types(unittest.TestCase):
    def test_results_have_the_types_of_numpy(self):
        codes = np.typecodes["AllInteger"] + "?efdFD"
        for a in codes:
            for b in codes:
                x, y = np.ones(3, a), np.ones(3, b)
                for subscripts in ("i,i->", "i,i->i", "i,j->ij"):
                    self.assertEqual(eindb.einsum(subscripts, x, y).dtype, np.einsum(subscripts, x, y).dtype, (a, b))
                self.assertEqual(eindb.einsum("i,->i", x, y[0]).dtype, np.einsum("i,->i", x, y[0]).dtype, (a, b))

    def test_integers_wrap_in_their_type(self):
        for code in np.typecodes["AllInteger"]:
            x = np.full(5, np.iinfo(code).max, code)
            for subscripts in ("i,i->i", "i,i->"):
                np.testing.assert_array_equal(eindb.einsum(subscripts, x, x), np.einsum(subscripts, x, x))

    def test_longdouble_keeps_its_digits(self):
        x = np.array([1, np.finfo(np.longdouble).eps], np.longdouble)
        self.assertEqual(eindb.einsum("i->", x), x.sum())

    def test_dtype_and_casting(self):
        x = np.array([1.5, 2.5])
        self.assertEqual(eindb.einsum("i->", x, dtype="c16").dtype, np.dtype("c16"))
        self.assertEqual(eindb.einsum("i->", x, dtype="f4", casting="same_kind").dtype, np.dtype("f4"))
        self.assertEqual(eindb.einsum("i->", x, dtype="i4", casting="unsafe"), 3)
        self.assertEqual(eindb.einsum("i->i", x, dtype="f4", casting="same_kind").dtype, np.dtype("f4"))
        for keywords in ({"dtype": "f4"}, {"dtype": "i4", "casting": "same_kind"}, {"out": np.zeros((), "i8")}):
            with self.assertRaises(TypeError):
                eindb.einsum("i->", x, **keywords)

    def test_values_that_are_not_finite(self):
        x = np.array([np.inf, -np.inf, np.nan, 0.0, 1e308])
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(eindb.einsum("i,i->i", x, x), x * x)
        half = np.array([60000.0, 60000.0], "f2")
        with np.errstate(all="ignore"):
            self.assertEqual(eindb.einsum("i->", half), np.float16(np.inf))


class Operands(unittest.TestCase):
    def test_lists_numbers_and_buffers(self):
        self.assertEqual(eindb.einsum("i,i", [1, 2, 3], (4, 5, 6)), 32)
        self.assertEqual(eindb.einsum(",", 3, 4.5), 13.5)
        self.assertEqual(eindb.einsum("i->", memoryview(array.array("d", [1, 2, 4]))), 7)
        self.assertEqual(eindb.einsum("i,i->", bytearray(b"\1\2"), np.array([1, 1], "u1")), 3)

    def test_array_interface(self):
        class Holder:
            def __init__(self, values):
                self.values = values
                self.__array_interface__ = values.__array_interface__

        self.assertEqual(eindb.einsum("i->", Holder(np.arange(5.0))), 10)

    def test_dlpack(self):
        class Holder:
            def __init__(self, values):
                self.values = values

            def __dlpack__(self, stream=None):
                return self.values.__dlpack__()

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

        self.assertEqual(eindb.einsum("ij->", Holder(np.arange(6.0).reshape(2, 3).T)), 15)

    def test_dead_memory_is_not_kept(self):
        A = np.ones((300, 300))
        references = sys.getrefcount(A)
        result = eindb.einsum("ij,jk->ik", A, A)
        self.assertEqual(sys.getrefcount(A), references)
        del A
        gc.collect()
        np.testing.assert_array_equal(eindb.einsum("ij,jk->ik", np.ones((300, 300)), np.ones((300, 300))), result)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_tensors(self):
        a, b = torch.arange(6.0).reshape(2, 3), torch.ones(3, 4, dtype=torch.float64)
        result = eindb.einsum("ij,jk->ik", a.double().t().contiguous().t(), b)
        self.assertIsInstance(result, torch.Tensor)
        self.assertTrue(torch.equal(result, a.double() @ b))
        self.assertIsInstance(eindb.einsum("ij->", a), torch.Tensor)
        view = eindb.einsum("ij->ji", a)
        view[0, 0] = 9
        self.assertEqual(a[0, 0], 9)
        out = torch.zeros(2)
        self.assertIs(eindb.einsum("ij->i", a, out=out), out)
        self.assertEqual(out.tolist(), [12, 12])
        weights = torch.ones(3, requires_grad=True)
        with self.assertRaises(TypeError):
            eindb.einsum("ij,j->i", a, weights)
        with torch.no_grad():
            self.assertEqual(eindb.einsum("ij,j->i", a, weights).tolist(), [12, 12])
        self.assertTrue(torch.equal(eindb.einsum("i->i", torch.tensor([1 + 2j]).conj()), torch.tensor([1 - 2j])))


class Results(unittest.TestCase):
    def test_they_are_writable_and_outlive_operands(self):
        result = eindb.einsum("i,j->ij", np.arange(3.0), np.arange(4.0))
        result += 1
        np.testing.assert_array_equal(result, np.outer(range(3), range(4)) + 1)
        again = eindb.einsum("i,j->ij", np.arange(3.0), np.arange(4.0))
        np.testing.assert_array_equal(again, np.outer(range(3), range(4)))

    def test_expressions_check_their_shapes(self):
        for shapes, keywords in [(((2, 3), (4, 4)), {}), (((2, 3), (3, 4)), {"constants": [1]}), (((2, 3), (3,)), {})]:
            with self.assertRaises(ValueError):
                eindb.contract_expression("ij,jk->ik", *shapes, **keywords)
        one = eindb.contract_expression("ij,jk->ik", (2, 3), (1, 4))
        self.assertEqual(one(np.ones((2, 3)), np.ones((1, 4)))[0, 0], 3)

    def test_order(self):
        A, B = np.ones((2, 3)), np.ones((3, 4))
        self.assertTrue(eindb.einsum("ij,jk->ik", A, B, order="F").flags.f_contiguous)
        self.assertTrue(eindb.einsum("ij,jk->ik", A, B, order="c").flags.c_contiguous)
        for order in "CFAK":  # a view is one in any order, as NumPy's
            M = np.zeros((2, 2))
            eindb.einsum("ii->i", M, order=order)[:] = 7
            np.testing.assert_equal(M, 7 * np.eye(2))
        for subscripts in ("ij,jk->ik", "ij,jk->ki", "ij,kj->ik", "ij,kl->ijkl"):
            for a in (A, np.asfortranarray(A)):
                for b in (A.T, B, np.asfortranarray(B)):
                    try:
                        expected = np.einsum(subscripts, a, b)
                    except ValueError:
                        continue
                    self.assertEqual(eindb.einsum(subscripts, a, b).strides, expected.strides, subscripts)

    def test_out(self):
        A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        for out in (np.zeros((2, 4)), np.zeros((4, 2)).T, np.zeros((2, 8))[:, ::2], np.zeros((2, 4), ">f8"),
                    np.zeros((2, 4), "c16")):  # fmt: skip
            self.assertIs(eindb.einsum("ij,jk->ik", A, B, out=out), out)
            np.testing.assert_array_equal(out, A @ B)
        square = np.arange(9.0).reshape(3, 3)
        expected = square @ square
        eindb.einsum("ij,jk->ik", square, square, out=square)
        np.testing.assert_array_equal(square, expected)
        read_only = np.zeros((2, 4))
        read_only.flags.writeable = False
        for out in (np.zeros((2, 3)), np.zeros(8), read_only):
            with self.assertRaises(ValueError):
                eindb.einsum("ij,jk->ik", A, B, out=out)
        with self.assertRaises(TypeError):
            eindb.einsum("ij,jk->ik", A, B, out=[[0] * 4] * 2)


class Paths(unittest.TestCase):
    OPERANDS = [np.arange(4.0).reshape(2, 2), np.ones((2, 2)), np.arange(4.0).reshape(2, 2).T]

    def test_whatever_the_order_the_result_is_the_same(self):
        expected = np.einsum("ij,jk,kl->il", *self.OPERANDS)
        for optimize in (True, False, None, "greedy", "optimal", "auto", "random-greedy-128", ("greedy", 1000),
                         [(0, 1), (0, 1)], ["einsum_path", (1, 2), (0, 1)], [(0, 1, 2)], [(0,), (1, 2), (0, 1)], [(2,), (0, 1), (1, 0)]):  # fmt: skip
            np.testing.assert_array_equal(eindb.einsum("ij,jk,kl->il", *self.OPERANDS, optimize=optimize), expected)
            np.testing.assert_array_equal(eindb.contract("ij,jk,kl->il", *self.OPERANDS, optimize=optimize), expected)

    def test_wrong_paths(self):
        for optimize, error in (("fast", KeyError), (5, TypeError), ([1, 2], TypeError), ([(0, 1)], RuntimeError),
                                ([(0, 3), (0, 1)], ValueError), ([(0, 0), (0, 1)], ValueError)):  # fmt: skip
            with self.assertRaises(error):
                eindb.einsum("ij,jk,kl->il", *self.OPERANDS, optimize=optimize)

    def test_reports(self):
        path, report = eindb.einsum_path("ij,jk,kl->il", *self.OPERANDS)
        self.assertEqual((path, report), np.einsum_path("ij,jk,kl->il", *self.OPERANDS))
        path, info = eindb.contract_path("ij,jk,kl->il", *self.OPERANDS)
        self.assertEqual(len(path), 2)
        self.assertEqual(str(info).splitlines()[0], "  Complete contraction:  ij,jk,kl->il")
        sublists = [("left", 0), (0, ("mid", 1)), (("mid", 1), "right")]
        named, report = eindb.contract_path(*(part for pair in zip(self.OPERANDS, sublists) for part in pair), ("left", "right"))
        self.assertEqual((named, report.opt_cost), (path, info.opt_cost))
        np.testing.assert_array_equal(eindb.einsum("ij,jk,kl->il", *self.OPERANDS, optimize=path),
                                      np.einsum("ij,jk,kl->il", *self.OPERANDS))

    def test_planned_orders_of_random_networks(self):
        rng = np.random.default_rng(11)
        for count in (3, 5, 9, 14, 30, 70):
            for dangling in range(4):
                # A tree of operands with some labels more, and some that are summed in one operand or kept.
                ends = [(int(rng.integers(0, n)), n) for n in range(1, count)] + [(0, count - 1)] * dangling
                sublists = [[label for label, pair in enumerate(ends) if n in pair] for n in range(count)]
                sublists[0].append(len(ends))
                sublists[-1].append(len(ends) + 1)
                shapes = [(2,) * len(sublist) for sublist in sublists]
                terms = ["".join(chr(0x4E00 + label) for label in sublist) for sublist in sublists]
                equation = ",".join(terms) + "->" + chr(0x4E00 + len(ends))
                path, info = eindb.contract_path(equation, *shapes, shapes=True)
                self.assertEqual(sum(len(step) - 1 for step in path), count - 1)
                self.assertEqual(info.contraction_list[-1][3], (chr(0x4E00 + len(ends)),))
                self.assertLessEqual(info.opt_cost, info.naive_cost)
                arrays = [np.ones(shape) for shape in shapes]
                got = eindb.contract(equation, *arrays, optimize=path)
                np.testing.assert_allclose(got, eindb.contract(equation, *arrays), rtol=1e-12)
        path, _ = eindb.contract_path(",ab,b,->a", (), (3, 2), (2,), (), shapes=True)
        self.assertEqual(sum(len(step) - 1 for step in path), 3)
        self.assertRaises(ValueError, eindb.contract_path, "ab,bc,c", (2, 3), (4, 5), (5,), shapes=True)

    def test_expressions(self):
        A, B = self.OPERANDS[:2]
        expression = eindb.contract_expression("ij,jk->ik", A.shape, B.shape)
        np.testing.assert_array_equal(expression(A, B), A @ B)
        out = np.zeros((2, 2))
        self.assertIs(expression(A, B, out=out), out)
        constant = eindb.contract_expression("ij,jk->ik", A, B.shape, constants=[0])
        np.testing.assert_array_equal(constant(B), A @ B)
        for arrays in ((A,), (A, B, B), (A, np.ones(2))):
            with self.assertRaises(ValueError):
                expression(*arrays)
        with self.assertRaises(ValueError):
            eindb.contract_expression("ij,jk->ik", (2,), (2, 2))


class Optimizers(unittest.TestCase):
    OPERANDS = [np.arange(6.0).reshape(2, 3), np.ones((3, 4)), np.ones((4, 2)), np.ones((2, 2, 3))]
    EQUATION = "ab,bc,cd,dab->da"
    INPUTS = [{"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "a", "b"}]
    SIZES = {"a": 2, "b": 3, "c": 4, "d": 2}

    def test_the_path_is_that_of_the_planner(self):
        operands = self.OPERANDS
        expected = eindb.contract_path(self.EQUATION, *operands)[0]
        self.assertEqual(eindb.path_optimizer(self.INPUTS, {"d", "a"}, self.SIZES, None), expected)
        as_numbers = [[0, 1], [1, 2], [2, 3], [3, 0, 1]]
        self.assertEqual(eindb.path_optimizer(as_numbers, (3, 0), {0: 2, 1: 3, 2: 4, 3: 2}, memory_limit=10), expected)
        self.assertEqual(eindb.path_optimizer([("x",), ("x",)], (), {"x": 5}), [(0, 1)])
        self.assertRaises(KeyError, eindb.path_optimizer, self.INPUTS, {"d"}, {"a": 1})

    def test_opt_einsum_takes_it(self):
        text = (
            "import sys, types\n"
            "package, paths = types.ModuleType('opt_einsum'), types.ModuleType('opt_einsum.paths')\n"
            "class PathOptimizer: pass\n"
            "paths.PathOptimizer = PathOptimizer\n"
            "sys.modules.update({'opt_einsum': package, 'opt_einsum.paths': paths})\n"
            "import eindb\n"
            "print(isinstance(eindb.path_optimizer, PathOptimizer), eindb.path_optimizer(['ab', 'b', 'b'], '', dict(a=2, b=3)))\n"
        )
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"^True \[\(\d, \d\), \(0, 1\)\]$")

    def test_others_are_asked(self):
        calls = []

        def optimizer(inputs, output, size_dict, memory_limit=None):
            calls.append((inputs, output, size_dict, memory_limit))
            return [(0, 1)] * (len(inputs) - 1)

        operands = self.OPERANDS
        got = eindb.contract(self.EQUATION, *operands, optimize=optimizer, memory_limit=9)
        np.testing.assert_allclose(got, np.einsum(self.EQUATION, *operands))
        self.assertEqual(calls, [(self.INPUTS, {"a", "d"}, self.SIZES, 9)])
        self.assertEqual(eindb.contract_path(self.EQUATION, *operands, optimize=optimizer)[0], [(0, 1)] * 3)
        self.assertEqual(eindb.contract("a,a", [1, 2], [3, 4], optimize=optimizer), 11)
        self.assertEqual(len(calls), 2)
        self.assertRaises(RuntimeError, eindb.contract, self.EQUATION, *operands, optimize=lambda *_: [(0, 1)])

    def test_array_contract(self):
        a, b, c = self.OPERANDS[:3]
        got = eindb.array_contract([a, b, c], [("in", 0), (0, (1, 2)), ((1, 2), "out")])
        np.testing.assert_allclose(got, a @ b @ c)
        got = eindb.array_contract((a, b, c), (("z", 0), (0, 1), (1, "a")), ("a", "z"), optimize=eindb.path_optimizer)
        np.testing.assert_allclose(got, (a @ b @ c).T)
        # Indices that occur once, as they come and not in their own order.
        self.assertEqual(eindb.array_contract([b, a.T], ["zk", "zb"]).shape, (4, 2))
        self.assertEqual(eindb.array_contract([np.eye(3)], [("x", "x")]), 3)
        np.testing.assert_array_equal(eindb.array_contract([a, a], [("x", "y"), ("x", "y")], ("x", "y")), a * a)
        for inputs in ([("x", "y")], [("x",), ("x", "y")]):
            self.assertRaises(ValueError, eindb.array_contract, [a, a], inputs)


class Backend(unittest.TestCase):
    """What opt_einsum asks of a module."""

    def test_tensordot(self):
        rng = np.random.default_rng(3)
        a, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 3, 2))
        for axes in (1, 0, ([1, 2], [1, 0]), ([0, -1], [2, 0]), (1, 1), ([], [])):
            np.testing.assert_allclose(eindb.tensordot(a, b, axes), np.tensordot(a, b, axes), rtol=1e-12)
        self.assertEqual(eindb.tensordot([1, 2], [3, 4], 1), 11)
        for axes in (4, ([0], [0]), ([0, 0], [2, 2]), ([0, 1], [2]), ([3], [0])):
            self.assertRaises(ValueError, eindb.tensordot, a, b, axes)

    def test_transpose(self):
        a = np.arange(24).reshape(2, 3, 4)
        for axes in (None, (2, 0, 1), (-1, 0, 1)):
            np.testing.assert_array_equal(eindb.transpose(a, axes), np.transpose(a, axes))
        self.assertRaises(ValueError, eindb.transpose, a, (0, 0, 1))


class Errors(unittest.TestCase):
    def test_arguments_that_are_wrong(self):
        A = np.ones((2, 3))
        for error, call in (
            (ValueError, lambda: eindb.einsum()),
            (ValueError, lambda: eindb.einsum("ij,jk->ik", A)),
            (ValueError, lambda: eindb.einsum("ij,jk->ik", A, A)),
            (ValueError, lambda: eindb.einsum("ij->ijk", A)),
            (ValueError, lambda: eindb.einsum("ij->ii", A)),
            (ValueError, lambda: eindb.einsum("i-j", A)),
            (ValueError, lambda: eindb.einsum("ij->i->j", A)),
            (ValueError, lambda: eindb.einsum("ij->i,j", A)),
            (ValueError, lambda: eindb.einsum("...i->i", A)),
            (ValueError, lambda: eindb.einsum("i...j...", A)),
            (ValueError, lambda: eindb.einsum(A, [0, 52])),
            (ValueError, lambda: eindb.einsum(A, [0, 1], [0, 0])),
            (TypeError, lambda: eindb.einsum(A, [0, "a"])),
            (TypeError, lambda: eindb.einsum(A, 5)),
            (TypeError, lambda: eindb.einsum("i,i", [1, 2], ["a", "b"])),
            (TypeError, lambda: eindb.einsum("ij->", A, nothing=1)),
            (TypeError, lambda: eindb.einsum("ij->", A, casting=None)),
            (ValueError, lambda: eindb.einsum("ij->", A, order="CF")),
        ):
            with self.assertRaises(error):
                call()

    def test_what_is_too_large_is_refused(self):
        huge = np.broadcast_to(1.0, (1 << 20,))
        with self.assertRaises(eindb.Error):
            eindb.einsum("a,b,c,d->abcd", huge, huge, huge, huge)
        self.assertEqual(eindb.einsum("i->", np.ones(3)), 3)


class Process(unittest.TestCase):
    def test_ten_thousand_calls_keep_nothing(self):
        A, B = np.ones((40, 40)), np.ones((120, 120))

        def calls(count):
            for _ in range(count):
                eindb.einsum("ij,jk->ik", A, A)
                eindb.einsum("ij->ji", A)
                eindb.einsum("ij,jk->ik", A.astype("i4"), [[1] * 2] * 40)
            for _ in range(count // 50):
                eindb.einsum("ij,jk->ik", B, B.copy())

        calls(500)
        gc.collect()
        before = resident_kib()
        calls(3400)
        gc.collect()
        self.assertLess(resident_kib() - before, 8192)

    def test_a_child_of_fork_computes(self):
        self.assertEqual(eindb.einsum("i,i->", np.ones(3), np.ones(3)), 3)
        child = os.fork()
        if child == 0:
            os._exit(0 if eindb.einsum("i,i->", np.ones(3), np.ones(3)) == 3 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_ctrl_c_ends_a_long_call(self):
        text = (
            "import eindb, numpy, sys\n"
            "A = numpy.ones((12000, 12000), 'f4')\n"  # a product that takes seconds
            "try:\n"
            "    print('begun', flush=True)\n"
            "    while True: eindb.einsum('ij,jk->ik', A, A)\n"
            "except KeyboardInterrupt:\n"
            "    print(eindb.einsum('i->', [1, 2]))\n"
        )
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "begun\n")
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.stdout.read(), "3\n")
        self.assertEqual(program.returncode, 0)

    def test_handlers_of_a_program_run_in_a_long_call(self):
        text = (
            "import eindb, numpy, signal, sys\n"
            "class Stop(Exception): pass\n"
            "heard = []\n"
            "def handler(number, frame):\n"
            "    heard.append(number)\n"
            "    print('heard', flush=True)\n"
            "    if len(heard) == 2: raise Stop\n"
            "signal.signal(signal.SIGINT, handler)\n"
            "A = numpy.ones((12000, 12000), 'f4')\n"
            "try:\n"
            "    print('begun', flush=True)\n"
            "    while True: eindb.einsum('ij,jk->ik', A, A)\n"
            "except Stop:\n"
            "    print(eindb.einsum('i->', [1, 2]))\n"
        )
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as program:
            for line in ("begun\n", "heard\n"):
                self.assertEqual(program.stdout.readline(), line)
                program.send_signal(signal.SIGINT)
            self.assertEqual(program.stdout.readline(), "heard\n")
            self.assertEqual(program.stdout.read(), "3\n")
        self.assertEqual(program.returncode, 0)


if __name__ == "__main__":
    unittest.main()

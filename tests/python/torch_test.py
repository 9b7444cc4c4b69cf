#!/usr/bin/python3
"""eindb.torch.einsum beside PyTorch's: values, gradients, gradients of gradients."""
import unittest

try:
    import torch
except ImportError:
    torch = None

EQUATIONS = [
    "ij,jk->ik", "ij,jk,kl->il", "ij,ij->", "ij->i", "ij->", "ij->ji", "ii->i", "ii->", "iij,j->i", "bij,bjk->bik",
    "i,j->ij", "i,j->", "ij,k->i", "...ij,jk->...ik", "...i,...i->...", "ij,jk", "ijij->ij", ",i->i",
]  # fmt: skip
EXTENTS = {"i": 3, "j": 2, "k": 4, "l": 2, "b": 2}


@unittest.skipIf(torch is None, "there is no PyTorch")
class Gradients(unittest.TestCase):
    def setUp(self):
        import eindb.torch

        self.einsum = eindb.torch.einsum
        torch.manual_seed(5)

    def operands(self, equation, dtype):
        shapes = []
        for term in equation.partition("->")[0].split(","):
            shape = [3, 2] if term.startswith("...") else []
            shapes.append(shape + [2 if term == "ijij" and c == "i" else EXTENTS[c] for c in term if c.isalpha()])
        return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]

    def test_values_and_gradients(self):
        for equation in EQUATIONS:
            for dtype in (torch.float64, torch.complex128):
                operands = self.operands(equation, dtype)
                expected = torch.einsum(equation, *operands)
                got = self.einsum(equation, *operands)
                torch.testing.assert_close(got, expected, msg=equation)
                weights = torch.randn_like(expected)
                wanted = torch.autograd.grad((expected * weights).sum().abs(), operands)
                gradients = torch.autograd.grad((got * weights).sum().abs(), operands)
                for gradient, one in zip(gradients, wanted):
                    torch.testing.assert_close(gradient, one, msg=equation)

    def test_derivatives_of_derivatives(self):
        for equation in EQUATIONS:
            operands = self.operands(equation, torch.float64)
            self.assertTrue(torch.autograd.gradgradcheck(lambda *xs, e=equation: self.einsum(e, *xs), operands), equation)

    def test_broadcasting(self):
        a = torch.randn(1, 3, dtype=torch.float64, requires_grad=True)
        b = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x, y: self.einsum("ij,ij->i", x, y), (a, b)))
        self.assertTrue(torch.autograd.gradcheck(lambda x, y: self.einsum("...j,...j->...", x, y), (a, b)))

    def test_types(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.complex64):
            a = torch.ones(2, 3).to(dtype)
            self.assertEqual(self.einsum("ij,kj->ik", a, a).dtype, dtype)
            self.assertEqual(self.einsum("ij,kj->ik", a, a).real.tolist(), [[3, 3], [3, 3]])
        self.assertEqual(self.einsum("i,i->i", torch.ones(2), torch.ones(2, dtype=torch.float64)).dtype, torch.float64)
        half = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
        self.einsum("i,i->", half, half).backward()
        self.assertEqual(half.grad.tolist(), [2, 2, 2])

    def test_training(self):
        x, w = torch.randn(20, 4), torch.zeros(4, requires_grad=True)
        goal = x @ torch.arange(4.0)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(200):
            optimizer.zero_grad()
            ((self.einsum("bi,i->b", x, w) - goal) ** 2).mean().backward()
            optimizer.step()
        torch.testing.assert_close(w.detach(), torch.arange(4.0), atol=0.1, rtol=0.1)

    def test_errors(self):
        a = torch.ones(2, 3)
        for error, call in (
            (TypeError, lambda: self.einsum("ij->i", [[1]])), (ValueError, lambda: self.einsum("ij,jk", a, a)),
            (ValueError, lambda: self.einsum("ii", a)), (ValueError, lambda: self.einsum("ij->k", a)),
        ):  # fmt: skip
            with self.assertRaises(error):
                call()


if __name__ == "__main__":
    unittest.main()

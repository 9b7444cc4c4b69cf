"""The spellings of a contraction in NumPy and in PyTorch. All sensible ones are tried, and the fastest counts.

einsum chooses its own way. Alternatively the operands are brought into the form of a (batched) matrix product:
    eb,aecd->abcd   ->   (e,b) transposed to b x e, times a x (e, cd), which broadcasting makes a batch over a
In general the order is: batch labels, free labels, contracted labels. The result is a view with permuted axes.
"""

import math

import numpy as np
import torch

from contestants import Call


# Without `optimize` einsum loops over all labels. That is useful for few iterations, and takes seconds for many.
EINSUM_LOOP_LIMIT = 200_000_000


def parse(subscripts):
    operands, result = subscripts.split("->")
    return operands.split(","), result


class ProductForm:
    """A contraction of two operands as one batched matrix product of their permuted axes."""

    def __init__(self, subscripts, extents, contracted_as_in):
        (self.x, self.y), self.result = parse(subscripts)
        self.extents = extents
        self.summed_x = [n for n, label in enumerate(self.x) if label not in self.y + self.result]
        self.summed_y = [n for n, label in enumerate(self.y) if label not in self.x + self.result]
        x = [label for label in self.x if label in self.y + self.result]
        y = [label for label in self.y if label in self.x + self.result]
        self.x_kept, self.y_kept = x, y
        self.batch = [label for label in self.result if label in x and label in y]
        order = x if contracted_as_in == "x" else y
        self.contracted = [label for label in order if label in x and label in y and label not in self.result]
        self.free_x = [label for label in x if label not in y]
        self.free_y = [label for label in y if label not in x]
        labels = self.batch + self.free_x + self.free_y
        self.result_axes = [labels.index(label) for label in self.result]

    def size(self, labels):
        return math.prod(self.extents[label] for label in labels)

    def shapes(self):
        b, m, n, k = map(self.size, (self.batch, self.free_x, self.free_y, self.contracted))
        lead = (b,) if self.batch else ()
        return (*lead, m, k), (*lead, k, n), [self.extents[label] for label in self.batch + self.free_x + self.free_y]

    def axes(self):
        x = [self.x_kept.index(label) for label in self.batch + self.free_x + self.contracted]
        y = [self.y_kept.index(label) for label in self.batch + self.contracted + self.free_y]
        return x, y


def _numpy_product(form, x, y):
    x_shape, y_shape, result_shape = form.shapes()
    x_axes, y_axes = form.axes()

    def call():
        left = x.sum(axis=tuple(form.summed_x)) if form.summed_x else x
        right = y.sum(axis=tuple(form.summed_y)) if form.summed_y else y
        product = np.matmul(left.transpose(x_axes).reshape(x_shape), right.transpose(y_axes).reshape(y_shape))
        return product.reshape(result_shape).transpose(form.result_axes)

    return call


def _torch_product(form, x, y):
    x_shape, y_shape, result_shape = form.shapes()
    x_axes, y_axes = form.axes()

    def call():
        left = x.sum(dim=form.summed_x) if form.summed_x else x
        right = y.sum(dim=form.summed_y) if form.summed_y else y
        product = torch.matmul(left.permute(x_axes).reshape(x_shape), right.permute(y_axes).reshape(y_shape))
        return product.reshape(result_shape).permute(form.result_axes)

    return call


def _product_forms(subscripts, extents):
    operands, result = parse(subscripts)
    repeated = any(len(set(labels)) != len(labels) for labels in [*operands, result])
    if len(operands) != 2 or repeated:
        return []
    return [ProductForm(subscripts, extents, side) for side in ("x", "y")]


def _broadcast(subscripts, arrays, permute):
    """Views of the arrays with the result's axes, for a product by broadcasting. None for other contractions."""
    operands, result = parse(subscripts)
    if any(set(labels) - set(result) or len(set(labels)) != len(labels) for labels in operands):
        return None
    views = []
    for labels, array in zip(operands, arrays):
        view = permute(array, [labels.index(label) for label in result if label in labels])
        views.append(view[tuple(slice(None) if label in labels else None for label in result)])
    return views


def numpy_calls(subscripts, arrays, extents):
    calls = [Call(lambda: np.einsum(subscripts, *arrays, optimize=True), "einsum(optimize=True)")]
    if math.prod(extents.values()) < EINSUM_LOOP_LIMIT:
        calls.append(Call(lambda: np.einsum(subscripts, *arrays), "einsum"))
    for form in _product_forms(subscripts, extents):
        calls.append(Call(_numpy_product(form, *arrays), "transpose, matmul"))
    views = _broadcast(subscripts, arrays, lambda array, axes: array.transpose(axes))
    if views and len(views) == 2:
        calls.append(Call(lambda: views[0] * views[1], "broadcasting"))
    return calls


def torch_calls(subscripts, arrays, extents):
    tensors = [torch.from_numpy(array) for array in arrays]
    calls = [Call(lambda: torch.einsum(subscripts, *tensors), "einsum")]
    for form in _product_forms(subscripts, extents):
        calls.append(Call(_torch_product(form, *tensors), "permute, matmul"))
    views = _broadcast(subscripts, tensors, lambda tensor, axes: tensor.permute(axes))
    if views and len(views) == 2:
        calls.append(Call(lambda: views[0] * views[1], "broadcasting"))
    return calls

"""einsum for tensors of PyTorch, with gradients that are computed by einsums of eindb."""

import torch as _torch

from . import _eindb
from ._eindb import einsum as _einsum
from ._paths import extents_of, spelt_equation


def einsum(*operands, optimize=True):
    """torch.einsum, computed by eindb, with derivatives of any order.

    operands: subscripts and tensors on the CPU, or tensors and sublists, as for eindb.einsum. Of several dtypes the
        result has the one to which PyTorch promotes them; BFLOAT16 is computed in FLOAT32.
    Returns a tensor. Raises ValueError and TypeError as eindb.einsum does.

        >>> import torch, eindb.torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> eindb.torch.einsum('i,i->', x, x).backward()
        >>> x.grad
        tensor([2., 4.])
    """
    terms, output, tensors = _eindb.read_equation(tuple(operands))
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, _torch.Tensor):
            raise TypeError(f"operand {number} is no tensor of PyTorch, but a {type(tensor).__name__}")
        if tensor.layout != _torch.strided:
            raise TypeError(f"operand {number} is sparse: eindb.einsum takes such tensors, without gradients")
    terms, output = _eindb.resolve_equation(terms, output, [tensor.ndim for tensor in tensors])
    tensors, result_dtype = _in_one_dtype(tensors)
    extents = extents_of(terms, [tensor.shape for tensor in tensors])
    clean = [_without_repeats(tensor, list(term), extents) for tensor, term in zip(tensors, terms)]
    values, labels = [tensor for tensor, _ in clean], [tuple(term) for _, term in clean]
    if len(values) == 1 and set(labels[0]) == set(output):
        result = values[0].permute([labels[0].index(label) for label in output])
    else:
        result = _Contraction.apply(tuple(labels), tuple(output), optimize, *values)
    return result.to(result_dtype)


class _Contraction(_torch.autograd.Function):
    """A sum of products of tensors, each of which has a label once and in its full extent.

    The derivative by an operand is the contraction of the derivative by the result with all other operands, conjugated.
    Labels that no other has are repeated along.
    """

    @staticmethod
    def forward(context, terms, output, optimize, *tensors):
        context.save_for_backward(*tensors)
        context.terms, context.output, context.optimize = terms, output, optimize
        arrays = [tensor.detach().resolve_conj().resolve_neg().numpy() for tensor in tensors]
        return _torch.as_tensor(_einsum(spelt_equation(terms, output), *arrays, optimize=optimize))

    @staticmethod
    def backward(context, gradient):
        tensors = context.saved_tensors
        gradients = [
            _derivative(gradient, number, tensors, context.terms, context.output) if needed else None
            for number, needed in enumerate(context.needs_input_grad[3:])
        ]
        return (None, None, None, *gradients)


def _derivative(gradient, number, tensors, terms, output):
    own = terms[number]
    others = [n for n in range(len(tensors)) if n != number]
    known = set(output).union(*(terms[n] for n in others))
    reached = tuple(label for label in own if label in known)
    factors = [gradient, *(tensors[n].conj() for n in others)]
    factor_terms = (output, *(terms[n] for n in others))
    if len(factors) == 1 and set(reached) == set(output):
        made = gradient.permute([output.index(label) for label in reached])
    else:
        made = _Contraction.apply(factor_terms, reached, True, *factors)
    for place, label in enumerate(own):
        if label not in known:
            made = made.unsqueeze(place)
    return made.expand(tensors[number].shape)


def _in_one_dtype(tensors):
    """The tensors in the dtype to compute in, and the dtype of the result."""
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = _torch.promote_types(dtype, tensor.dtype)
    computed = _torch.float32 if dtype == _torch.bfloat16 else dtype
    return [tensor.to(computed) for tensor in tensors], dtype


def _without_repeats(tensor, term, extents):
    """The tensor as diagonals of repeated labels, without dimensions that are broadcast, and its labels."""
    for label in sorted(set(term)):
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise ValueError("dimensions of one label of one operand differ")
            tensor = tensor.diagonal(0, first, second)
            del term[second], term[first]
            term.append(label)
    for place in reversed(range(len(term))):
        if tensor.shape[place] != extents[term[place]]:
            tensor = tensor.squeeze(place)
            del term[place]
    return tensor, term

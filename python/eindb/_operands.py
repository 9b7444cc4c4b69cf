"""What einsum takes beside arrays of NumPy. Called by the extension module."""

import sys

import numpy

from . import _arrow, _sparse

is_sparse = _sparse.is_sparse
sparse_einsum = _sparse.einsum

# NumPy's own function, whatever stands in its place later.
numpy_einsum = numpy.einsum


def is_tensor(operand):
    """Whether the operand is a tensor of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(operand, torch.Tensor)


def as_array(operand):
    """The operand as an array on its own memory, where that can be had, else as a copy."""
    if _sparse.is_sparse(operand):
        raise TypeError("an array is wanted, not a sparse matrix or tensor: einsum and statements take these")
    if is_tensor(operand):
        return array_of_tensor(operand)
    has_numpys = hasattr(operand, "__array__") or hasattr(operand, "__array_interface__")
    if hasattr(operand, "__dlpack__") and not has_numpys:
        return numpy.from_dlpack(operand)
    if not has_numpys and _arrow.has_arrow(operand):
        return _arrow.array_of(operand)
    return numpy.asarray(operand)


def to_tensor(array):
    """A tensor of PyTorch on the array's memory."""
    return sys.modules["torch"].from_numpy(numpy.asarray(array))


def array_of_tensor(tensor):
    """An array on the memory of a tensor of PyTorch."""
    check_tensor(tensor)
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def check_tensor(tensor):
    """Raises TypeError for a tensor of PyTorch that eindb cannot read."""
    torch = sys.modules["torch"]
    if tensor.device.type != "cpu":
        raise TypeError(f"eindb computes on the CPU, but a tensor is on {tensor.device}: move it by .cpu()")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise TypeError("a tensor requires gradients: eindb.torch.einsum has them; or detach() it")
    if tensor.dtype == torch.bfloat16:
        raise TypeError("NumPy has no bfloat16: eindb.torch.einsum takes it; or convert the tensor by .float()")

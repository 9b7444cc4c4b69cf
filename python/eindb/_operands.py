"""What einsum takes beside arrays of NumPy. Called by the extension module."""

import sys

import numpy

from . import _arrow, _sparse

# NumPy's own function, whatever stands in its place later.
numpy_einsum = numpy.einsum


def is_tensor(operand):
    """Whether the operand is a tensor of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(operand, torch.Tensor)


def as_array(operand):
    """The operand as an array on its own memory, where that can be had, else as a copy."""
    if is_tensor(operand):
        return _array_of_tensor(operand)
    if _sparse.is_sparse(operand):
        raise TypeError("eindb.einsum takes arrays: eindb.connect().einsum('Z[i,k] = SUM(S[i,j] * D[j,k])', S=s, D=d) takes matrices of scipy.sparse, too, and reads their cells alone")
    has_numpys = hasattr(operand, "__array__") or hasattr(operand, "__array_interface__")
    if hasattr(operand, "__dlpack__") and not has_numpys:
        return numpy.from_dlpack(operand)
    if not has_numpys and _arrow.has_arrow(operand):
        return _arrow.array_of(operand)
    return numpy.asarray(operand)


def to_tensor(array):
    """A tensor of PyTorch on the array's memory."""
    return sys.modules["torch"].from_numpy(numpy.asarray(array))


def _array_of_tensor(tensor):
    torch = sys.modules["torch"]
    if tensor.device.type != "cpu":
        raise TypeError(f"eindb computes on the CPU, but a tensor is on {tensor.device}: move it by .cpu()")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise TypeError("a tensor requires gradients: eindb.torch.einsum has them; or detach() it")
    if tensor.dtype == torch.bfloat16:
        raise TypeError("NumPy has no bfloat16: eindb.torch.einsum takes it; or convert the tensor by .float()")
    return tensor.detach().resolve_conj().resolve_neg().numpy()

from collections.abc import Sequence
from typing import Any

# A torch.Tensor.
def einsum(*operands: Any, optimize: bool | str | Sequence[Any] | None = ...) -> Any: ...

"""Arrow's PyCapsule interface: what other libraries hand over, and what they are handed."""

from . import _eindb


def has_arrow(value):
    """Whether the object hands itself over by Arrow's interface."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def input_of(value):
    """The object's rows or array, by a stream if it has one."""
    if hasattr(value, "__arrow_c_stream__"):
        return _eindb.ArrowInput.of_stream(value.__arrow_c_stream__())
    return _eindb.ArrowInput.of_array(*value.__arrow_c_array__())


def array_of(value):
    """An array of NumPy on the memory that the object hands over, where that can be had, else a copy. Raises TypeError for
    rows of columns."""
    given = input_of(value)
    if given.has_rows:
        raise TypeError("rows of Arrow are no array: db.store makes a tensor of them, by columns of labels and val")
    return given.array()


class ArrowTensor:
    """A tensor as one array of Arrow, of the extension arrow.fixed_shape_tensor, on the memory of its result: what
    pyarrow.array(...) and others take by __arrow_c_array__."""

    def __init__(self, result):
        self._result = result

    def __arrow_c_array__(self, requested_schema=None):
        return self._result.arrow_tensor()

    def __arrow_c_schema__(self):
        return self._result.arrow_tensor()[0]

"""A consumer and a producer of Arrow's C interfaces, for tests: they follow the specification of the C data interface and
the PyCapsule interface, and are strict about who releases what.
"""
import ctypes
import gc
import struct

import numpy as np


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)), ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
    ("release", RELEASE_ARRAY), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR),
                   ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p)]

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

NUMBERS = {"c": "i1", "C": "u1", "s": "<i2", "S": "<u2", "i": "<i4", "I": "<u4", "l": "<i8", "L": "<u8", "e": "<f2",
           "f": "<f4", "g": "<f8", "tdD": "<i4", "tss:": "<i8"}


# ---- A consumer ----------------------------------------------------------------------------------------------------


def held_by(capsule, name, kind):
    return ctypes.cast(get_pointer(capsule, name), ctypes.POINTER(kind)).contents


def take(capsule, name, kind):
    """The struct that a capsule holds, which then has nothing left to release."""
    return moved(held_by(capsule, name, kind))


def moved(source):
    """A copy of the struct, in the place of the source, which counts as released."""
    copy = type(source)()
    ctypes.memmove(ctypes.byref(copy), ctypes.byref(source), ctypes.sizeof(source))
    source.release = type(source.release)()
    return copy


def release(held):
    held.release(ctypes.byref(held))
    assert not held.release, "a released struct says so"


def bytes_at(address, count):
    return ctypes.string_at(address, count) if count else b""


def metadata_of(schema):
    if not schema.metadata:
        return {}
    at, out = schema.metadata, {}

    def number():
        nonlocal at
        value = struct.unpack("i", bytes_at(at, 4))[0]
        at += 4
        return value

    def text():
        nonlocal at
        size = number()
        value = bytes_at(at, size)
        at += size
        return value.decode()

    for _ in range(number()):
        key = text()
        out[key] = text()
    return out


def values_of(schema, array):
    """The values of a column as Python has them."""
    assert schema.release and array.release, "children are released by themselves or by their parent, not before"
    format_ = schema.format.decode()
    assert array.length >= 0 and array.offset >= 0 and -1 <= array.null_count <= array.length
    count, begin = array.length, array.offset
    buffers = [array.buffers[n] for n in range(array.n_buffers)]
    if format_ == "n":
        assert array.n_buffers == 0
        return [None] * count
    valid = [True] * count
    if buffers[0]:
        bits = bytes_at(buffers[0], (begin + count + 7) // 8)
        valid = [bool(bits[(begin + n) // 8] >> (begin + n) % 8 & 1) for n in range(count)]
    else:
        assert array.null_count == 0
    assert valid.count(False) == array.null_count
    if not array.null_count and count:
        assert bool(schema.flags & 2) or buffers[0] is None
    if format_ == "+s":
        assert array.n_buffers == 1 and array.n_children == schema.n_children
        columns = [values_of(schema.children[n].contents, array.children[n].contents) for n in range(array.n_children)]
        assert all(len(column) >= begin + count for column in columns)
        return list(zip(*columns)) if columns else [()] * count
    if format_.startswith("+w:"):
        size = int(format_[3:])
        inner = values_of(schema.children[0].contents, array.children[0].contents)
        out = [inner[n * size:(n + 1) * size] for n in range(begin, begin + count)]
    elif format_ == "b":
        bits = bytes_at(buffers[1], (begin + count + 7) // 8)
        out = [bool(bits[(begin + n) // 8] >> (begin + n) % 8 & 1) for n in range(count)]
    elif format_ in ("U", "Z"):
        assert array.n_buffers == 3 and buffers[1]
        positions = struct.unpack(f"{count + 1}q", bytes_at(buffers[1] + 8 * begin, 8 * (count + 1)))
        out = [bytes_at(buffers[2] + positions[n], positions[n + 1] - positions[n]) for n in range(count)]
        out = [one.decode() for one in out] if format_ == "U" else out
    else:
        dtype = np.dtype(NUMBERS[format_])
        assert array.n_buffers == 2 and (not count or buffers[1] % dtype.itemsize == 0), "numbers are aligned"
        data = bytes_at(buffers[1] + begin * dtype.itemsize, count * dtype.itemsize)
        out = np.frombuffer(data, dtype).tolist()
    return [value if is_there else None for value, is_there in zip(out, valid)]


def consume(source):
    """(formats by column, rows, rows of each batch) of an object with __arrow_c_stream__."""
    stream = take(source.__arrow_c_stream__(), b"arrow_array_stream", Stream)
    gc.collect()  # the capsule
    schema = Schema()
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0, error_of(stream)
    formats = {schema.children[n].contents.name.decode(): schema.children[n].contents.format.decode()
               for n in range(schema.n_children)}
    rows, sizes = [], []
    while True:
        array = Array()
        code = stream.get_next(ctypes.byref(stream), ctypes.byref(array))
        if code:
            message = error_of(stream)
            release(schema)
            release(stream)
            raise RuntimeError(message)
        if not array.release:
            break
        batch = values_of(schema, array)
        # Children may be moved away from their parent, which then leaves them alone.
        if array.n_children:
            child = moved(array.children[array.n_children - 1].contents)
            release(array)
            assert values_of(schema.children[schema.n_children - 1].contents, child) == [row[-1] for row in batch]
            release(child)
        else:
            release(array)
        rows += batch
        sizes.append(len(batch))
    release(stream)
    release(schema)
    return formats, rows, sizes


def error_of(stream):
    text = stream.get_last_error(ctypes.byref(stream))
    return ctypes.string_at(text).decode() if text else None


# ---- A producer ----------------------------------------------------------------------------------------------------


class Producer:
    """Columns by name, each a tuple (format, buffers, length) with more under "children", "offset", "nulls"; counts what is
    released."""

    everyone = []  # callbacks must live until all that was handed over is released

    def __init__(self, batches, error=None):
        self.everyone.append(self)
        self.batches, self.error = batches, error
        self.live = 0
        self.kept = []
        self.next = 0

    def schema(self, description, name=""):
        schema = Schema()
        schema.format = description.get("format", "").encode() if description.get("format") is not None else None
        schema.name = name.encode()
        schema.flags = 2
        children = description.get("children", {})
        made = [self.schema(child, name) for name, child in children.items()]
        pointers = (ctypes.POINTER(Schema) * len(made))(*[ctypes.pointer(one) for one in made])
        schema.n_children = description.get("n_children_of_schema", len(made))
        schema.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(Schema)))
        if "dictionary" in description:
            inner = self.schema(description["dictionary"])
            schema.dictionary = ctypes.pointer(inner)
            made.append(inner)
        if "metadata" in description:
            pairs = description["metadata"]
            packed = struct.pack("i", len(pairs))
            for pair in pairs.items():
                for text in pair:
                    packed += struct.pack("i", len(text)) + text.encode()
            buffer = ctypes.create_string_buffer(packed, len(packed))
            schema.metadata = ctypes.addressof(buffer)
            self.kept.append(buffer)
        self._give(schema, RELEASE_SCHEMA, made)
        self.kept += [schema, pointers, made]
        return schema

    def array(self, description):
        array = Array()
        array.length = description.get("length", 0)
        array.null_count = description.get("nulls", 0)
        array.offset = description.get("offset", 0)
        buffers = description.get("buffers", [])
        addresses = []
        for buffer in buffers:
            if buffer is None or isinstance(buffer, int):
                addresses.append(buffer)
                continue
            held = np.frombuffer(bytes(buffer) + bytes(8), "u1").copy()
            self.kept.append(held)
            addresses.append(held.ctypes.data)
        pointers = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        array.n_buffers = description.get("n_buffers", len(addresses))
        array.buffers = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))
        made = [self.array(child) for child in description.get("children", {}).values()]
        children = (ctypes.POINTER(Array) * max(1, len(made)))(*[ctypes.pointer(one) for one in made])
        array.n_children = description.get("n_children", len(made))
        array.children = ctypes.cast(children, ctypes.POINTER(ctypes.POINTER(Array)))
        if "dictionary" in description and description.get("has_dictionary", True):
            inner = self.array(description["dictionary"])
            array.dictionary = ctypes.pointer(inner)
            made.append(inner)
        self._give(array, RELEASE_ARRAY, made)
        self.kept += [array, pointers, children, made]
        return array

    def _give(self, held, kind, children):
        def let_go(pointer):
            for child in children:
                if child.release:
                    child.release(ctypes.byref(child))
            self.live -= 1
            pointer.contents.release = kind()

        self.live += 1
        callback = kind(let_go)
        self.kept.append(callback)
        held.release = callback

    def __arrow_c_stream__(self, requested_schema=None):
        stream = Stream()

        def get_schema(_, out):
            if self.error == "schema":
                return 5
            made = self.schema(self.batches[0])
            ctypes.memmove(out, ctypes.byref(made), ctypes.sizeof(Schema))
            return 0

        def get_next(_, out):
            if self.next == len(self.batches):
                if self.error == "next":
                    return 5
                ctypes.memset(out, 0, ctypes.sizeof(Array))
                return 0
            made = self.array(self.batches[self.next])
            self.next += 1
            ctypes.memmove(out, ctypes.byref(made), ctypes.sizeof(Array))
            return 0

        message = ctypes.create_string_buffer(b"the cable is cut")
        callbacks = GET_SCHEMA(get_schema), GET_NEXT(get_next), GET_ERROR(lambda _: ctypes.addressof(message))
        stream.get_schema, stream.get_next, stream.get_last_error = callbacks
        self.kept += [callbacks, message, stream]
        self._give(stream, RELEASE_STREAM, [])
        return new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


class ArrayProducer(Producer):
    """The same for one array."""

    __arrow_c_stream__ = property()

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.schema(self.batches[0]), self.array(self.batches[0])
        return (new_capsule(ctypes.addressof(schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(array), b"arrow_array", None))


def numbers(format_, values, **more):
    data = np.asarray(values, NUMBERS[format_])
    return {"format": format_, "length": len(data), "buffers": [None, data.tobytes()], **more}


def texts(values, format_="u", **more):
    data = [value.encode() for value in values]
    positions = np.cumsum([0, *map(len, data)]).astype("<i4" if format_ == "u" else "<i8")
    return {"format": format_, "length": len(values), "buffers": [None, positions.tobytes(), b"".join(data)], **more}


def views(values):
    """The views of Utf8View: short texts in themselves, long ones in a buffer."""
    buffer, out = b"", b""
    for value in map(str.encode, values):
        if len(value) <= 12:
            out += struct.pack("<i12s", len(value), value)
        else:
            out += struct.pack("<i4sii", len(value), value[:4], 0, len(buffer))
            buffer += value
    return {"format": "vu", "length": len(values), "buffers": [None, out, buffer, struct.pack("<q", len(buffer))]}


def table(**columns):
    length = min((column["length"] for column in columns.values()), default=0)
    return {"format": "+s", "length": length, "buffers": [None], "children": columns}

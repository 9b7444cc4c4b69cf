#!/usr/bin/python3
"""formats_test.py EINDB: tests that eindb reads files of other programs, and that they read eindb's.

.npz files are compared with NumPy, .h5 files with h5py, where it is installed, and safetensors files with a short
reader and writer in this file, which follow the public description of the format.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import numpy as np

try:
    import h5py
except ImportError:
    h5py = None

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
MODES = ["", "SET threads = 1;", "SET tile_bytes = 256;"]
SAFETENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
               "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}


def write_safetensors(path, tensors):
    """Writes tensors {name: (dtype, shape, bytes)} to a file."""
    header, data = {"__metadata__": {"format": "np"}}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    """Returns the tensors {name: (dtype, shape, bytes)} of a file."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    data = content[8 + size:]
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], tuple(entry["shape"]), data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}


def bfloat16(values):
    """The bits of float32 numbers without NaN, rounded to bfloat16, ties to even."""
    bits = values.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


class FormatTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.rng = np.random.default_rng(20240608)

    def run_eindb(self, statements):
        done = subprocess.run([EINDB, "-c", statements], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def imported(self, source, mode=""):
        """The tensor that COPY X FROM `source` creates, exported to an NPY file."""
        self.run_eindb(f"{mode} COPY X FROM {source}; COPY X TO 'out.npy'")
        return np.load(self.folder / "out.npy")

    def export(self, values, target, mode=""):
        np.save(self.folder / "in.npy", values)
        self.run_eindb(f"{mode} COPY X FROM 'in.npy'; COPY X TO {target}")

    def assert_same(self, result, expected):
        self.assertEqual((result.dtype, result.shape), (expected.dtype, expected.shape))
        self.assertTrue(np.array_equal(result, expected))

    def arrays(self):
        real = self.rng.standard_normal((30, 7, 11))
        return {"f8": real, "f4": np.asfortranarray(real.astype("f4")), "c16": real + 1j * real[::-1],
                "c8": (real * 1j).astype("c8"), "i8": self.rng.integers(-99, 99, (50, 3)), "scalar": np.float64(2.5),
                "empty": np.zeros((3, 0), "f4"), "vector": np.arange(5.0)}


class Npz(FormatTest):
    def test_what_numpy_writes(self):
        arrays = self.arrays()
        for save in (np.savez, np.savez_compressed):
            save(self.folder / "all.npz", **arrays, **{"a/b": np.arange(3.0)})
            for mode in MODES:
                for name, values in arrays.items():
                    self.assert_same(self.imported(f"'all.npz' (MEMBER {name!r})", mode), np.asarray(values))
            self.assert_same(self.imported("'all.npz' (MEMBER 'a/b.npy')"), np.arange(3.0))
            save(self.folder / "one.npz", np.arange(4.0))
            self.assert_same(self.imported("'one.npz'"), np.arange(4.0))

    def test_what_a_pipe_gets(self):
        """Archives that were written to a pipe can be read. Their sizes follow the data, with unneeded ZIP64 fields."""
        class Pipe:
            def __init__(self, path):
                self.file = open(path, "wb")
            def write(self, data):
                return self.file.write(data)
            def flush(self):
                self.file.flush()
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            pipe = Pipe(self.folder / "piped.npz")
            with zipfile.ZipFile(pipe, "w", method) as archive:
                with archive.open("x.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.arange(1000.0))
            pipe.file.close()
            self.assert_same(self.imported("'piped.npz'"), np.arange(1000.0))

    def test_what_numpy_reads(self):
        for options in ("", "(COMPRESSION deflate)"):
            for mode in MODES:
                for values in self.arrays().values():
                    self.export(values, f"'out.npz' {options}", mode)
                    with np.load(self.folder / "out.npz") as archive:
                        self.assertEqual(archive.files, ["X"])
                        self.assert_same(archive["X"], np.asarray(values))
                    with zipfile.ZipFile(self.folder / "out.npz") as archive:
                        self.assertIsNone(archive.testzip())


class Safetensors(FormatTest):
    def test_what_others_write(self):
        tensors, expected = {}, {}
        for dtype, code in SAFETENSORS.items():
            values = self.rng.integers(0, 2 if dtype == "BOOL" else 100, (20, 7)).astype(code)
            tensors[dtype] = (dtype, values.shape, values.tobytes())
            wide = {"F64": "f8", "F32": "f4", "F16": "f4"}.get(dtype, "i8")
            expected[dtype] = values.astype(wide)
        brain = bfloat16(self.rng.standard_normal(33).astype("f4"))
        tensors["layers.0.weight"] = ("BF16", brain.shape, brain.tobytes())
        expected["layers.0.weight"] = (brain.astype("<u4") << 16).view("<f4")
        write_safetensors(self.folder / "model.safetensors", tensors)
        for mode in MODES:
            for name, values in expected.items():
                self.assert_same(self.imported(f"'model.safetensors' (TENSOR '{name}')", mode), values)

    def test_what_others_read(self):
        for mode in MODES:
            for code, dtype in (("f8", "F64"), ("f4", "F32"), ("i8", "I64")):
                values = (self.rng.standard_normal((30, 7)) * 100).astype(code)
                self.export(values, "'out.safetensors' (TENSOR 'a \"b\"')", mode)
                self.assertEqual(read_safetensors(self.folder / "out.safetensors"),
                                 {'a "b"': (dtype, values.shape, values.tobytes())})

    def test_rounding(self):
        values = np.concatenate([self.rng.standard_normal(2000) * 10.0 ** self.rng.integers(-9, 6, 2000),
                                 [0.0, -0.0, np.inf, -np.inf, 65504, 65519.9, 65520, 2.0**-24, 2.0**-25]])
        for code in ("f4", "f8"):
            numbers = values.astype(code)
            with np.errstate(over="ignore"):
                expected = {"F16": numbers.astype("<f2").tobytes(), "F32": numbers.astype("<f4").tobytes(),
                            "F64": numbers.astype("<f8").tobytes()}
            if code == "f4":  # bfloat16() rounds from float32
                expected["BF16"] = bfloat16(numbers).tobytes()
            for dtype, content in expected.items():
                self.export(numbers, f"'out.safetensors' (DTYPE {dtype})")
                self.assertEqual(read_safetensors(self.folder / "out.safetensors"),
                                 {"X": (dtype, numbers.shape, content)})


@unittest.skipIf(h5py is None, "h5py is not installed")
class Hdf5(FormatTest):
    def test_what_h5py_writes(self):
        arrays = self.arrays()
        with h5py.File(self.folder / "all.h5", "w") as file:
            for name, values in arrays.items():
                file[f"group/{name}"] = values
            for code in ("<f2", ">f2", ">f8", ">c16", ">i2", "<u4"):
                file[code[1:] + code[0].replace("<", "l").replace(">", "b")] = np.arange(6).astype(code)
            file["bool"] = np.array([True, False])
            file.create_dataset("zipped", data=arrays["f8"], chunks=(7, 3, 11), compression="gzip", shuffle=True)
        for mode in MODES:
            for name, values in arrays.items():
                self.assert_same(self.imported(f"'all.h5' (DATASET '/group/{name}')", mode), np.asarray(values))
            self.assert_same(self.imported("'all.h5' (DATASET 'zipped')", mode), arrays["f8"])
        for name, wide in (("f2l", "f4"), ("f2b", "f4"), ("f8b", "f8"), ("c16b", "c16"), ("i2b", "i8"), ("u4l", "i8")):
            self.assert_same(self.imported(f"'all.h5' (DATASET '{name}')"), np.arange(6).astype(wide))
        self.assert_same(self.imported("'all.h5' (DATASET 'bool')"), np.array([1, 0]))

    def test_what_h5py_reads(self):
        for options in ("", "(DATASET '/g/x', CHUNKED on)", "(COMPRESSION deflate)"):
            for mode in MODES:
                for values in self.arrays().values():
                    self.export(values, f"'out.h5' {options}", mode)
                    with h5py.File(self.folder / "out.h5") as file:
                        self.assert_same(np.asarray(file["/g/x" if "DATASET" in options else "X"][()]),
                                         np.asarray(values))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/python3
"""formats_test.py EINDB: tests that eindb reads files of other programs, and that they read eindb's.

.npz files are compared with NumPy, .h5 files with h5py and sparse matrices with SciPy, where these are installed, and
safetensors files with a short reader and writer in this file, which follow the public description of the format.
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
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None

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
                "empty": np.zeros((3, 0), "f4"), "vector": np.arange(5.0), "truth": self.rng.random((9, 11)) < 0.5,
                "f2": real.astype("f2"),
                **{code: self.rng.integers(np.iinfo(code).min, np.iinfo(code).max, (7, 13), endpoint=True).astype(code)
                   for code in ("i1", "u1", "i2", "u2", "i4", "u4")}}


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


class SparseMatrices(FormatTest):
    """The arrays of scipy.sparse.save_npz, made and read with NumPy alone."""
    def cells(self, code):
        """A matrix with a tenth of its cells."""
        values = np.where(self.rng.random((40, 23)) < 0.1, self.rng.integers(1, 100, (40, 23)), 0).astype(code)
        return values * (1 - 2j) if code in ("c8", "c16") else values

    def csr_arrays(self, dense):
        rows, columns = np.nonzero(dense)
        pointers = np.searchsorted(rows, np.arange(len(dense) + 1)).astype("i4")
        return {"indices": columns.astype("i4"), "indptr": pointers, "format": b"csr", "shape": dense.shape,
                "data": dense[rows, columns]}

    def dense_of(self, path):
        with np.load(path) as archive:
            self.assertEqual(archive["format"].item(), b"csr")
            dense = np.zeros(archive["shape"], archive["data"].dtype)
            rows = np.repeat(np.arange(len(dense)), np.diff(archive["indptr"]))
            dense[rows, archive["indices"]] = archive["data"]
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
        return dense

    def test_both_ways(self):
        for code in ("f8", "f4", "c16", "c8", "i8", "i4", "u4", "i2", "u2", "i1", "u1", "?"):
            dense = self.cells(code).astype(code)
            for save in (np.savez, np.savez_compressed):
                save(self.folder / "m.npz", **self.csr_arrays(dense))
                for mode in MODES:
                    self.assert_same(self.imported("'m.npz'", mode), dense)
            for options in ("", ", COMPRESSION deflate"):
                for mode in MODES:
                    self.export(dense, f"'out.npz' (FORMAT scipy{options})", mode)
                    self.assert_same(self.dense_of(self.folder / "out.npz"), dense)

    def test_coordinates_and_wide_elements(self):
        dense = self.cells("f8")
        rows, columns = np.nonzero(dense)
        order = self.rng.permutation(len(rows))
        for code in (">i4", "<u2", "<i8"):
            np.savez(self.folder / "m.npz", row=rows[order].astype(code), col=columns[order].astype(code), format="coo",
                     shape=dense.shape, data=dense[rows, columns][order].astype(">f8"), _is_array=True)
            for mode in MODES:
                self.assert_same(self.imported("'m.npz'", mode), dense)

    @unittest.skipIf(sparse is None, "SciPy is not installed")
    def test_what_scipy_writes_and_reads(self):
        for name in ("csr", "csc", "coo", "bsr", "dia"):
            for code in ("f8", "c8", "i4", "?"):
                dense = self.cells(code).astype(code)
                sparse.save_npz(self.folder / "m.npz", sparse.coo_matrix(dense).asformat(name))
                for mode in MODES:
                    self.assert_same(self.imported("'m.npz'", mode), dense)
                self.run_eindb("COPY X FROM 'm.npz'; COPY X TO 'out.npz' (FORMAT scipy)")
                back = sparse.load_npz(self.folder / "out.npz")
                back.check_format(full_check=True)
                self.assertEqual((back.format, back.indices.dtype, back.nnz), ("csr", np.int32, np.count_nonzero(dense)))
                self.assert_same(back.toarray(), dense)

    def test_damage_is_found(self):
        """Whatever byte is changed, it is the same matrix or an error."""
        dense = self.cells("f8")
        np.savez(self.folder / "m.npz", **self.csr_arrays(dense))
        good = (self.folder / "m.npz").read_bytes()
        for at in self.rng.choice(len(good), 60, replace=False):
            bad = bytearray(good)
            bad[at] ^= 1 << self.rng.integers(8)
            (self.folder / "bad.npz").write_bytes(bad)
            done = subprocess.run([EINDB, "-c", "COPY X FROM 'bad.npz'; COPY X TO 'out.npy'"], capture_output=True,
                                  text=True, cwd=self.folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            if done.returncode == 0:
                self.assertTrue(np.array_equal(np.load(self.folder / "out.npy"), dense), at)
            else:
                self.assertIn("bad.npz", done.stderr)


class Safetensors(FormatTest):
    def test_what_others_write(self):
        tensors, expected = {}, {}
        for dtype, code in SAFETENSORS.items():
            values = self.rng.integers(0, 2 if dtype == "BOOL" else 100, (20, 7)).astype(code)
            tensors[dtype] = (dtype, values.shape, values.tobytes())
            expected[dtype] = values.astype("i8" if dtype == "U64" else code)
        brain = bfloat16(self.rng.standard_normal(33).astype("f4"))
        tensors["layers.0.weight"] = ("BF16", brain.shape, brain.tobytes())
        expected["layers.0.weight"] = (brain.astype("<u4") << 16).view("<f4")
        write_safetensors(self.folder / "model.safetensors", tensors)
        for mode in MODES:
            for name, values in expected.items():
                self.assert_same(self.imported(f"'model.safetensors' (TENSOR '{name}')", mode), values)

    def test_every_type_comes_back(self):
        for dtype in (*SAFETENSORS, "BF16", "F8_E4M3", "F8_E5M2"):
            if dtype == "U64":
                continue
            size = np.dtype(SAFETENSORS.get(dtype, "i2" if dtype == "BF16" else "i1")).itemsize
            content = self.rng.integers(0, 256, 35 * size, dtype="u1")
            if dtype == "BOOL":
                content %= 2
            elif dtype[0] in "FB":  # no NaN, whose bits may change
                content[size - 1::size] &= 0xBB
            tensor = {"t": (dtype, (5, 7), content.tobytes())}
            write_safetensors(self.folder / "in.safetensors", tensor)
            for mode in MODES:
                self.run_eindb(f"{mode} COPY t FROM 'in.safetensors'; COPY t TO 'back.safetensors' (OVERWRITE)")
                self.assertEqual(read_safetensors(self.folder / "back.safetensors"), tensor)

    def test_what_others_read(self):
        for mode in MODES:
            for code, dtype in (("f8", "F64"), ("f4", "F32"), ("i8", "I64"), ("i2", "I16"), ("u4", "U32"), ("?", "BOOL")):
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


def write_gguf(path, tensors, alignment=32):
    """Writes tensors {name: (type number, shape, bytes)} with some metadata."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    words = struct.pack("<IQ", 8, 3) + text("a") + text("") + text("c" * 70000)
    metadata = [("general.name", 8, text("a model")), ("general.alignment", 4, struct.pack("<I", alignment)),
                ("tokenizer.words", 9, words), ("nested", 9, struct.pack("<IQ", 9, 1) + struct.pack("<IQ6s", 2, 3, bytes(6))),
                ("truth", 7, b"\x01"), ("real", 12, struct.pack("<d", 2.5)), ("big", 10, struct.pack("<Q", 1 << 60))]
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, kind, value in metadata:
        header += text(key) + struct.pack("<I", kind) + value
    data = b""
    for name, (kind, shape, content) in tensors.items():
        data += bytes(-len(data) % alignment)
        header += text(name) + struct.pack("<I", len(shape))
        header += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        header += struct.pack("<IQ", kind, len(data))
        data += content
    path.write_bytes(header + bytes(-len(header) % alignment) + data)


def from_q8_0(blocks):
    parts = np.frombuffer(blocks, np.dtype([("scale", "<f2"), ("levels", "i1", 32)]))
    return parts["levels"].astype("f4") * parts["scale"].astype("f4")[:, None]


def from_q4_0(blocks):
    parts = np.frombuffer(blocks, np.dtype([("scale", "<f2"), ("levels", "u1", 16)]))
    levels = np.concatenate([parts["levels"] & 15, parts["levels"] >> 4], axis=1).astype("f4") - 8
    return levels * parts["scale"].astype("f4")[:, None]


def k_scales(blocks):
    """The scales and the minima of 8 parts, of 6 bits each, from 12 bytes."""
    first, second, last = (blocks[:, at:at + 4].astype(int) for at in (0, 4, 8))
    return (np.concatenate([first & 63, last & 15 | first >> 6 << 4], axis=1),
            np.concatenate([second & 63, last >> 4 | second >> 6 << 4], axis=1))


def from_k_quant(blocks, bits):
    raw = np.frombuffer(blocks, "u1").reshape(-1, {4: 144, 5: 176, 6: 210}[bits])
    halves = lambda at: np.ascontiguousarray(raw[:, at:at + 2]).view("<f2").astype("f4")  # noqa: E731
    if bits == 6:
        low, high = raw[:, :128].reshape(-1, 2, 2, 32).astype(int), raw[:, 128:192].reshape(-1, 2, 1, 32).astype(int)
        low = np.concatenate([low & 15, low >> 4], axis=2)
        levels = (low | (high >> np.array([0, 2, 4, 6])[:, None] & 3) << 4) - 32
        scales = np.ascontiguousarray(raw[:, 192:208]).view("i1").reshape(-1, 2, 4, 2)
        scaled = halves(208)[:, :, None, None] * np.repeat(scales, 16, axis=3).astype("f4")
        return scaled * levels.astype("f4")
    scales, minima = k_scales(raw[:, 4:16])
    low = raw[:, -128:].reshape(-1, 4, 1, 32).astype(int)
    levels = np.concatenate([low & 15, low >> 4], axis=2).reshape(-1, 8, 32)
    if bits == 5:
        levels = levels | (raw[:, None, 16:48].astype(int) >> np.arange(8)[:, None] & 1) << 4
    return (halves(0) * scales.astype("f4"))[..., None] * levels.astype("f4") - (halves(2) * minima.astype("f4"))[..., None]


class Gguf(FormatTest):
    def test_what_ggml_writes(self):
        rng = self.rng
        tensors, expected = {}, {}
        for name, kind, code in (("w.f32", 0, "f4"), ("w.f16", 1, "f2"), ("w.i8", 24, "i1"), ("w.i16", 25, "i2"),
                                 ("w.i32", 26, "i4"), ("w.i64", 27, "i8"), ("w.f64", 28, "f8")):
            values = (rng.standard_normal((6, 5, 3)) * 50).astype(code)
            tensors[name], expected[name] = (kind, values.shape, values.tobytes()), values
        brain = bfloat16(rng.standard_normal((4, 9)).astype("f4"))
        tensors["w.bf16"], expected["w.bf16"] = (30, brain.shape, brain.tobytes()), (brain.astype("<u4") << 16).view("<f4")
        for name, kind, bytes_each, decode in (("w.q8_0", 8, 34, from_q8_0), ("w.q4_0", 2, 18, from_q4_0)):
            shape = (3, 7, 96)
            blocks = rng.integers(0, 256, (3 * 7 * 3, bytes_each), dtype="u1")
            blocks[:, 1] = 0x2C  # a scale of moderate size
            tensors[name] = (kind, shape, blocks.tobytes())
            expected[name] = decode(blocks.tobytes()).reshape(shape)
        for name, kind, bits, bytes_each in (("w.q4_k", 12, 4, 144), ("w.q5_k", 13, 5, 176), ("w.q6_k", 14, 6, 210)):
            blocks = rng.integers(0, 256, (6, bytes_each), dtype="u1")
            for at in [208] if bits == 6 else [0, 2]:
                blocks[:, at + 1] = 0x2C
            tensors[name] = (kind, (3, 512), blocks.tobytes())
            expected[name] = from_k_quant(blocks.tobytes(), bits).reshape(3, 512)
        for alignment in (32, 8, 4096):
            write_gguf(self.folder / "model.gguf", {**tensors, "w.q2_k": (10, (256,), bytes(84))}, alignment)
            for mode in MODES:
                for name, values in expected.items():
                    self.assert_same(self.imported(f"'model.gguf' (TENSOR '{name}')", mode), values)
        self.assert_same(self.imported("'model.gguf' (TENSOR 'w.q8_0', SHAPE '63,32')"),
                         expected["w.q8_0"].reshape(63, 32))
        # Rows that are no whole blocks, of which tiles with 32 columns have parts.
        self.assert_same(self.imported("'model.gguf' (TENSOR 'w.q8_0', SHAPE '32,63')",
                                       "CREATE TENSOR X (i 32, j 63) FLOAT32 PARTITION (2, 2);"),
                         expected["w.q8_0"].reshape(32, 63))

    def test_all_of_them(self):
        values = self.rng.standard_normal((4, 64)).astype("f4")
        write_gguf(self.folder / "model.gguf", {"a.b": (0, values.shape, values.tobytes()), "c": (24, (3,), b"abc")})
        self.run_eindb("COPY ALL FROM 'model.gguf'; COPY \"a.b\" TO 'a.npy'; COPY c TO 'c.npy'")
        self.assert_same(np.load(self.folder / "a.npy"), values)
        self.assert_same(np.load(self.folder / "c.npy"), np.frombuffer(b"abc", "i1"))

    def test_damage(self):
        values = self.rng.standard_normal((4, 64)).astype("f4")
        write_gguf(self.folder / "model.gguf", {"w": (0, values.shape, values.tobytes())})
        good = (self.folder / "model.gguf").read_bytes()
        for length in (0, 3, 11, 30, 200, 70200, len(good) - 1):
            (self.folder / "bad.gguf").write_bytes(good[:length])
            done = subprocess.run([EINDB, "-c", "COPY X FROM 'bad.gguf'"], capture_output=True, text=True, cwd=self.folder)
            self.assertIn("is no valid GGUF file", done.stderr)
        for at, value in ((4, 1), (4, 9), (8, 255), (16, 255)):
            (self.folder / "bad.gguf").write_bytes(good[:at] + bytes([value]) + good[at + 1:])
            done = subprocess.run([EINDB, "-c", "COPY X FROM 'bad.gguf'"], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "is no valid GGUF file|has the version")


@unittest.skipIf(h5py is None, "h5py is not installed")
class Hdf5(FormatTest):
    def test_all_of_them(self):
        values = self.rng.standard_normal((4, 64)).astype("f4")
        with h5py.File(self.folder / "all.h5", "w") as file:
            file["runs/1/a"] = values
            file["c"] = np.arange(3, dtype=">u2")
        self.run_eindb("COPY ALL FROM 'all.h5'; COPY \"runs/1/a\" TO 'a.npy'; COPY c TO 'c.npy'")
        self.assert_same(np.load(self.folder / "a.npy"), values)
        self.assert_same(np.load(self.folder / "c.npy"), np.arange(3, dtype="u2"))
        with h5py.File(self.folder / "many.h5", "w") as file:
            for n in range(9000):
                file[f"group {n % 90}/{n}"] = float(n)
        done = subprocess.run([EINDB, "-c", "SHOW TENSORS IN 'many.h5'"], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stdout.count("FLOAT64,[],1,float64"), 9000, done.stderr)

    def test_what_h5py_writes(self):
        arrays = {name: values for name, values in self.arrays().items() if name != "truth"}  # kept as integers
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
        for name, kept in (("f2l", "f2"), ("f2b", "f2"), ("f8b", "f8"), ("c16b", "c16"), ("i2b", "i2"), ("u4l", "u4")):
            self.assert_same(self.imported(f"'all.h5' (DATASET '{name}')"), np.arange(6).astype(kept))
        self.assert_same(self.imported("'all.h5' (DATASET 'bool')"), np.array([1, 0], "i1"))

    def test_what_h5py_reads(self):
        for options in ("", "(DATASET '/g/x', CHUNKED on)", "(COMPRESSION deflate)"):
            for mode in MODES:
                for values in (values for name, values in self.arrays().items() if name != "truth"):
                    (self.folder / "out.h5").unlink(missing_ok=True)
                    self.export(values, f"'out.h5' {options}", mode)
                    with h5py.File(self.folder / "out.h5") as file:
                        self.assert_same(np.asarray(file["/g/x" if "DATASET" in options else "X"][()]),
                                         np.asarray(values))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

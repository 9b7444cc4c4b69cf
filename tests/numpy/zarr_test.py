#!/usr/bin/python3
"""zarr_test.py EINDB: directories of Zarr that other programs write are read, and those of eindb are read by them.

Version 2 is compared with Zarr for Python and xarray, version 3 with a writer and a reader in this file, which follow the
public specification.
"""
import itertools
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

import numcodecs
import numpy as np
import zarr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cluster"))
from small_disk import SmallDisk  # noqa: E402

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
V3_TYPES = {"b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
            "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64",
            "c16": "complex128"}
COMPRESSIONS = ("none", "zstd", "gzip", "blosc")


def crc32c(data):
    """The CRC-32C of RFC 3720, bit by bit."""
    sum_ = 0xFFFFFFFF
    for byte in data:
        sum_ ^= byte
        for _ in range(8):
            sum_ = sum_ >> 1 ^ (0x82F63B78 if sum_ & 1 else 0)
    return struct.pack("<I", sum_ ^ 0xFFFFFFFF)


def codec(name, **configuration):
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


def encode_v3(values, codecs):
    """The bytes of a chunk behind codecs of version 3."""
    data = values
    for one in codecs:
        name, options = one["name"], one.get("configuration", {})
        if name == "transpose":
            data = data.transpose(options["order"])
        elif name == "bytes":
            order = ">" if options.get("endian") == "big" else "<"
            data = np.ascontiguousarray(data).astype(data.dtype.newbyteorder(order)).tobytes()
        elif name == "gzip":
            data = numcodecs.GZip(options["level"]).encode(data)
        elif name == "zstd":
            data = numcodecs.Zstd(options["level"]).encode(data)
        elif name == "blosc":
            shuffle = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}[options["shuffle"]]
            blosc = numcodecs.Blosc(options["cname"], options["clevel"], shuffle)
            data = blosc.encode(np.frombuffer(data, f"V{options['typesize']}"))
        elif name == "crc32c":
            data = bytes(data) + crc32c(data)
        else:
            raise ValueError(name)
    return bytes(data)


def full_chunks(values, chunk, fill):
    """Pairs of a chunk's key and its values, filled beyond the shape."""
    counts = [-(-extent // size) for extent, size in zip(values.shape, chunk)]
    for key in itertools.product(*map(range, counts)):
        begin = [index * size for index, size in zip(key, chunk)]
        part = values[tuple(slice(at, at + size) for at, size in zip(begin, chunk))]
        whole = np.full(chunk, fill, values.dtype)
        whole[tuple(map(slice, part.shape))] = part
        yield key, whole


def write_v3(path, values, chunk, codecs, fill=0, names=None, keys=None, shard=None, skip=lambda key: False):
    """Writes an array of version 3; with `shard`, the options of sharding_indexed, its chunks lie in shards."""
    path.mkdir(parents=True, exist_ok=True)
    metadata = {"zarr_format": 3, "node_type": "array", "shape": list(values.shape),
                "data_type": V3_TYPES[values.dtype.newbyteorder("=").str[1:]],
                "chunk_grid": codec("regular", chunk_shape=list(chunk)),
                "chunk_key_encoding": keys or codec("default", separator="/"),
                "fill_value": fill, "codecs": codecs, "attributes": {}}
    if names:
        metadata["dimension_names"] = names
    if shard:
        metadata["codecs"] = [codec("sharding_indexed", chunk_shape=shard["chunk"], codecs=codecs,
                                    index_codecs=shard["index_codecs"], index_location=shard["location"])]
    (path / "zarr.json").write_text(json.dumps(metadata))
    for key, whole in full_chunks(values, chunk, 0):
        if skip(key):
            continue
        if shard:
            parts, at, index = b"", 0, []
            counts = [size // part for size, part in zip(chunk, shard["chunk"])]
            index_bytes = 16 * int(np.prod(counts)) + 4 * (len(shard["index_codecs"]) - 1)
            at = index_bytes if shard["location"] == "start" else 0
            for _, inner in full_chunks(whole, shard["chunk"], 0):
                if not inner.any():
                    index += [2**64 - 1, 2**64 - 1]
                    continue
                data = encode_v3(inner, codecs)
                index += [at, len(data)]
                at += len(data)
                parts += data
            order = ">" if shard["index_codecs"][0]["configuration"]["endian"] == "big" else "<"
            head = struct.pack(f"{order}{len(index)}Q", *index)
            if len(shard["index_codecs"]) > 1:
                head += crc32c(head)
            data = head + parts if shard["location"] == "start" else parts + head
        else:
            data = encode_v3(whole, codecs)
        separator = (keys or {}).get("configuration", {}).get("separator", "/")
        prefix = ["c"] if (keys or {"name": "default"})["name"] == "default" else []
        file = path / (separator.join(prefix + [str(index) for index in key]) or "0")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def read_v3(path):
    """The values of an array of version 3 as eindb writes it."""
    metadata = json.loads((path / "zarr.json").read_text())
    code = next(code for code, name in V3_TYPES.items() if name == metadata["data_type"])
    values = np.zeros(metadata["shape"], code)
    chunk = metadata["chunk_grid"]["configuration"]["chunk_shape"]
    for key, whole in full_chunks(values, chunk, 0):
        file = path / "/".join(["c", *map(str, key)])
        if not file.exists():
            continue
        data = file.read_bytes()
        for one in reversed(metadata["codecs"][1:]):
            data = {"gzip": numcodecs.GZip(), "zstd": numcodecs.Zstd(), "blosc": numcodecs.Blosc()}[one["name"]].decode(data)
        whole = np.frombuffer(data, np.dtype(code).newbyteorder("<")).reshape(chunk)
        place = tuple(slice(index * size, index * size + size) for index, size in zip(key, chunk))
        values[place] = whole[tuple(map(slice, values[place].shape))]
    return values, metadata


class ZarrTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.rng = np.random.default_rng(7)

    def run_eindb(self, statements):
        done = subprocess.run([EINDB, "-c", statements], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def failure(self, statements):
        done = subprocess.run([EINDB, "-c", statements], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def imported(self, source, mode=""):
        self.run_eindb(f"{mode} COPY X FROM {source}; COPY X TO 'out.npy'")
        return np.load(self.folder / "out.npy")

    def assert_same(self, result, expected):
        self.assertEqual((result.dtype, result.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(result, expected)

    def arrays(self):
        real = self.rng.standard_normal((13, 7, 5))
        return {"f8": real, "f4": real.astype("f4"), "f2": real.astype("f2"), "c16": real + 1j * real[::-1],
                "c8": (real * 1j).astype("c8"), "i8": self.rng.integers(-99, 99, (20, 3)), "scalar": np.float64(2.5),
                "empty": np.zeros((3, 0), "f4"), "vector": np.arange(5.0), "truth": self.rng.random((9, 11)) < 0.5,
                **{code: self.rng.integers(np.iinfo(code).min, np.iinfo(code).max, (7, 13), endpoint=True).astype(code)
                   for code in ("i1", "u1", "i2", "u2", "i4", "u4")}}


class Version2(ZarrTest):
    def test_what_zarr_writes(self):
        compressors = [None, numcodecs.Blosc("lz4", 5, 1), numcodecs.Blosc("zstd", 3, 2), numcodecs.Zstd(3),
                       numcodecs.GZip(5), numcodecs.Zlib(1)]
        choices = itertools.cycle(itertools.product(compressors, "CF", "./"))
        group = zarr.open_group(str(self.folder / "all.zarr"), mode="w")
        arrays = self.arrays()
        for (name, values), (compressor, order, separator) in zip(arrays.items(), choices):
            chunks = tuple(max(1, extent // 2) for extent in values.shape) or True
            made = group.create_dataset(f"g/{name}", shape=values.shape, dtype=values.dtype, chunks=chunks, order=order,
                                        compressor=compressor, dimension_separator=separator)
            made[...] = values
        statements = "".join(f"COPY {name}_ FROM 'all.zarr' (MEMBER 'g/{name}'); COPY {name}_ TO '{name}.npy';"
                             for name in arrays)
        for mode in ("", "SET tile_bytes = 256;"):
            self.run_eindb(mode + statements)
            for name, values in arrays.items():
                self.assert_same(np.load(self.folder / f"{name}.npy"), np.asarray(values))
        listed = self.run_eindb("SHOW TENSORS IN 'all.zarr'")
        self.assertIn('g/f4,FLOAT32,"[13, 7, 5]",455,<f4', listed)
        self.run_eindb("COPY ALL FROM 'all.zarr'; COPY \"g/f8\" TO 'f8.npy'")
        self.assert_same(np.load(self.folder / "f8.npy"), arrays["f8"])

    def test_all_codecs(self):
        values = (np.arange(600) % 37).reshape(20, 30).astype("i2")
        for number, (order, compressor, code) in enumerate(itertools.product(
                "CF", [None, numcodecs.Blosc("blosclz", 9, 1), numcodecs.Blosc("lz4hc"), numcodecs.Blosc("zlib", 1, 0),
                       numcodecs.Zstd(1), numcodecs.GZip(1), numcodecs.Zlib(9)], ("<i2", ">i2", ">f8", ">c16"))):
            made = zarr.open_array(str(self.folder / f"{number}.zarr"), mode="w", shape=values.shape, chunks=(7, 11),
                                   dtype=code, order=order, compressor=compressor)
            made[...] = values
        results = []
        statements = ""
        for n in range(number + 1):
            statements += f"COPY X{n} FROM '{n}.zarr'; COPY X{n} TO '{n}.npy';"
        self.run_eindb(statements)
        for n in range(number + 1):
            np.testing.assert_array_equal(np.load(self.folder / f"{n}.npy"), values)

    def test_missing_chunks_and_fill_values(self):
        for number, (code, fill, expected) in enumerate((
                ("f8", np.nan, np.nan), ("f4", np.inf, np.inf), ("f8", -np.inf, -np.inf), ("f8", 2.5, 2.5), ("i4", -7, -7),
                ("u1", 255, 255), ("b1", True, True), ("c16", 1 + 2j, 1 + 2j), ("f8", None, 0), ("i8", 0, 0))):
            path = self.folder / f"{number}.zarr"
            made = zarr.open_array(str(path), mode="w", shape=(10, 6), chunks=(4, 4), dtype=code, fill_value=fill)
            made[4:8, :4] = 1
            values = np.full((10, 6), expected, code)
            values[4:8, :4] = 1
            self.assert_same(self.imported(f"'{number}.zarr'"), values)

    def test_what_zarr_reads(self):
        for number, (name, values) in enumerate(self.arrays().items()):
            np.save(self.folder / "in.npy", values)
            mode = "SET tile_bytes = 256;" if number % 2 else ""
            compression = COMPRESSIONS[number % 4]
            self.run_eindb(f"{mode} COPY X FROM 'in.npy'; COPY X TO '{name}.zarr' (COMPRESSION {compression});"
                           f"COPY X TO '{name}.zarr' (COMPRESSION {compression})")
            self.assert_same(zarr.open_array(str(self.folder / f"{name}.zarr"), mode="r")[...], np.asarray(values))
        self.assertFalse(list(self.folder.glob("*.tmp-*")))

    def test_groups(self):
        np.save(self.folder / "in.npy", np.arange(12.0).reshape(3, 4))
        self.run_eindb("COPY X FROM 'in.npy'; COPY X TO 's.zarr' (MEMBER 'a/b/x'); COPY X TO 's.zarr' (MEMBER 'a/y');"
                       "COPY (EINSUM Z[row,col] = 2 * X[row,col]) TO 's.zarr' (MEMBER 'z', COMPRESSION zstd)")
        group = zarr.open_group(str(self.folder / "s.zarr"), mode="r")
        self.assertEqual(sorted(name for name, _ in group.groups()), ["a"])
        self.assert_same(group["a/b/x"][...], np.arange(12.0).reshape(3, 4))
        self.assertEqual(group["z"].attrs["_ARRAY_DIMENSIONS"], ["row", "col"])
        self.run_eindb("COPY Z FROM 's.zarr' (MEMBER 'z'); CREATE TABLE t AS SELECT row, col, val FROM Z")
        listed = self.run_eindb("SHOW TENSORS IN 's.zarr'")
        self.assertEqual([line.split(",")[0] for line in listed.splitlines()[1:]], ["a/b/x", "a/y", "z"])
        exists = "COPY X FROM 'in.npy'; COPY X TO 's.zarr' (MEMBER 'a/y'"
        self.assertIn("is an array already", self.failure(exists + ")"))
        self.run_eindb(exists + ", OVERWRITE, COMPRESSION gzip)")
        self.assertIn("is an array, and has no arrays in it", self.failure("COPY X FROM 'in.npy'; COPY X TO 's.zarr' (MEMBER 'z/w')"))
        self.assertIn("has arrays in it, which would be lost", self.failure("COPY X FROM 'in.npy'; COPY X TO 's.zarr'"))
        self.assertIn("is of version 2", self.failure("COPY X FROM 'in.npy'; COPY X TO 's.zarr' (MEMBER 'v', VERSION 3)"))
        self.run_eindb("COPY X FROM 'in.npy'; COPY X TO 's.zarr' (OVERWRITE)")
        self.assert_same(zarr.open_array(str(self.folder / "s.zarr"), mode="r")[...], np.arange(12.0).reshape(3, 4))
        (self.folder / "mine").mkdir()
        (self.folder / "mine/file").write_text("kept")
        self.assertIn("no store of Zarr", self.failure("COPY X FROM 'in.npy'; COPY X TO 'mine' (FORMAT zarr, OVERWRITE)"))
        self.assertEqual((self.folder / "mine/file").read_text(), "kept")

    def test_chunks_are_tiles_where_they_agree(self):
        values = self.rng.standard_normal((64, 96))
        made = zarr.open_array(str(self.folder / "x.zarr"), mode="w", shape=values.shape, chunks=(16, 24), dtype="f8")
        made[...] = values
        out = self.run_eindb("SET tile_bytes = 4096; COPY X FROM 'x.zarr'; DESCRIBE X; COPY X TO 'y.zarr';"
                             "COPY X TO 'z.zarr' (CHUNKS '10,96')")
        self.assertIn("4", [field for line in out.splitlines() for field in line.split(",")])
        self.assertEqual(zarr.open_array(str(self.folder / "y.zarr"), mode="r").chunks, (16, 24))
        self.assertEqual(zarr.open_array(str(self.folder / "z.zarr"), mode="r").chunks, (10, 96))
        for name in "yz":
            self.assert_same(zarr.open_array(str(self.folder / f"{name}.zarr"), mode="r")[...], values)

    def test_absent_tiles_are_absent_chunks(self):
        self.run_eindb("SET tile_bytes = 256; CREATE TENSOR X (i 100, j 100); INSERT INTO TENSOR X VALUES (3, 5, 7);"
                       "COPY X TO 'x.zarr'")
        self.assertEqual(len([file for file in os.listdir(self.folder / "x.zarr") if not file.startswith(".")]), 1)
        values = np.zeros((100, 100))
        values[3, 5] = 7
        self.assert_same(zarr.open_array(str(self.folder / "x.zarr"), mode="r")[...], values)

    def test_xarray(self):
        import xarray

        data = xarray.Dataset({"t": (("lat", "lon"), np.arange(12.0).reshape(3, 4))}, {"lat": [1.0, 2.0, 3.0]})
        data.to_zarr(str(self.folder / "d.zarr"), consolidated=True)
        self.run_eindb("COPY t FROM 'd.zarr' (MEMBER 't'); COPY lat FROM 'd.zarr' (MEMBER 'lat');"
                       "EINSUM Z[lon] = SUM(t[lat,lon] * lat[lat]); COPY t TO 'e.zarr' (MEMBER 'u');"
                       "COPY (SELECT lat, lon, val FROM t) TO 'rows.csv'")
        self.assertEqual((self.folder / "rows.csv").read_text().splitlines()[0], "lat,lon,val")
        found = xarray.open_zarr(str(self.folder / "e.zarr"), consolidated=False)
        self.assertEqual(found["u"].dims, ("lat", "lon"))
        np.testing.assert_array_equal(found["u"].values, data["t"].values)
        self.assertIn("consolidated metadata", self.failure("COPY t FROM 'd.zarr' (MEMBER 't'); COPY t TO 'd.zarr' (MEMBER 'u')"))


    def test_packed_values(self):
        import xarray

        data = xarray.Dataset({"t": (("x",), np.array([1.5, np.nan, -2.0, 0.25]))})
        packed = {"dtype": "i2", "scale_factor": 0.25, "add_offset": 1.0, "_FillValue": -999}
        data.to_zarr(str(self.folder / "p.zarr"), encoding={"t": packed}, consolidated=False)
        self.assert_same(self.imported("'p.zarr' (MEMBER 't')"), data["t"].values)
        self.assert_same(self.imported("'p.zarr' (MEMBER 't', RAW)"), np.array([2, -999, -12, -3], "i2"))
        self.assertIn("t,FLOAT64,[4],4,<i2", self.run_eindb("SHOW TENSORS IN 'p.zarr'"))
        self.assertIn("t,INT16,[4],4,<i2", self.run_eindb("SHOW TENSORS IN 'p.zarr' (RAW)"))
        made = zarr.open_array(str(self.folder / "m.zarr"), mode="w", shape=(3,), dtype="i4", fill_value=0)
        made[...] = [5, -1, 7]
        made.attrs["missing_value"] = [-1, -2]
        self.assertIn("has missing cells (missing_value -1)", self.failure("COPY X FROM 'm.zarr'"))
        self.assert_same(self.imported("'m.zarr' (RAW)"), np.array([5, -1, 7], "i4"))
        made.attrs.update({"missing_value": "none", "scale_factor": "wide", "add_offset": None, "_FillValue": {}})
        self.assert_same(self.imported("'m.zarr'"), np.array([5, -1, 7], "i4"))


class Version3(ZarrTest):
    CHAINS = ([codec("bytes", endian="little")], [codec("bytes", endian="big")],
              [codec("bytes", endian="little"), codec("gzip", level=5)],
              [codec("bytes", endian="little"), codec("zstd", level=3, checksum=False), codec("crc32c")],
              [codec("bytes", endian="big"), codec("crc32c"), codec("gzip", level=1)],
              [codec("bytes", endian="little"),
               codec("blosc", cname="zstd", clevel=5, shuffle="bitshuffle", typesize=2, blocksize=0)])

    def test_codecs(self):
        values = (np.arange(13 * 7 * 5) % 97).reshape(13, 7, 5).astype("f2")
        statements = ""
        for n, chain in enumerate(self.CHAINS):
            order = list(itertools.permutations(range(3)))[n % 6]
            chain = [codec("transpose", order=list(order)), *chain]
            write_v3(self.folder / f"{n}.zarr", values, (4, 3, 2), chain, names=["t", "y", "x"])
            statements += f"COPY X{n} FROM '{n}.zarr'; COPY X{n} TO '{n}.npy';"
        self.run_eindb(statements + "COPY (SELECT * FROM X0) TO 'rows.csv'")
        for n in range(len(self.CHAINS)):
            self.assert_same(np.load(self.folder / f"{n}.npy"), values)
        self.assertEqual((self.folder / "rows.csv").read_text().splitlines()[0], "t,y,x,val")

    def test_shards(self):
        values = self.rng.integers(-5, 5, (20, 18)).astype("i4")
        values[8:12] = 0
        indexes = ([codec("bytes", endian="little"), codec("crc32c")], [codec("bytes", endian="big")])
        for n, (index, location) in enumerate(itertools.product(indexes, ("start", "end"))):
            shard = {"chunk": (4, 3), "index_codecs": index, "location": location}
            write_v3(self.folder / f"{n}.zarr", values, (8, 6), self.CHAINS[n + 1], shard=shard, skip=lambda key: key == (2, 1))
            expected = values.copy()
            expected[16:, 6:12] = 0
            self.assert_same(self.imported(f"'{n}.zarr'"), expected)

    def test_types_keys_and_fill_values(self):
        for number, values in enumerate(self.arrays().values()):
            values = np.asarray(values)
            keys = [None, codec("v2", separator="."), codec("v2", separator="/"), codec("default", separator=".")][number % 4]
            fill = {"f": "0x7ff8000000000000"[:2 + 2 * values.itemsize], "c": [0, "NaN"], "b": False}.get(values.dtype.kind, 0)
            chunk = tuple(max(1, extent // 2) for extent in values.shape)
            write_v3(self.folder / f"{number}.zarr", values, chunk, self.CHAINS[number % 2], fill=fill, keys=keys)
            self.assert_same(self.imported(f"'{number}.zarr'"), values)
        write_v3(self.folder / "n.zarr", np.zeros((4, 2)), (2, 2), self.CHAINS[0], fill="-Infinity", skip=lambda key: key[0] > 0)
        self.assert_same(self.imported("'n.zarr'"), np.array([[0, 0], [0, 0], [-np.inf] * 2, [-np.inf] * 2]))

    def test_what_is_written(self):
        for number, (name, values) in enumerate(self.arrays().items()):
            np.save(self.folder / "in.npy", values)
            self.run_eindb(f"COPY X FROM 'in.npy'; COPY X TO 's.zarr' (MEMBER 'g/{name}', VERSION 3,"
                           f"COMPRESSION {COMPRESSIONS[number % 4]})")
            found, metadata = read_v3(self.folder / f"s.zarr/g/{name}")
            self.assert_same(found, np.asarray(values))
            self.assertEqual(metadata.get("dimension_names", []), list("ijk"[:np.ndim(values)]))
            self.assert_same(self.imported(f"'s.zarr' (MEMBER 'g/{name}')"), np.asarray(values))
        self.assertEqual(json.loads((self.folder / "s.zarr/zarr.json").read_text())["node_type"], "group")


class FullDisk(ZarrTest):
    def test_what_was_there_stays(self):
        """A store that does not fit is not there, and one that was to be replaced is as it was."""
        disk = self.folder / "disk"
        small = SmallDisk(str(disk))
        self.addCleanup(small.close)
        if not small.is_mounted:
            self.skipTest("only root may mount a disk")
        np.save(self.folder / "in.npy", np.arange(100.0))
        self.run_eindb("COPY X FROM 'in.npy'; COPY X TO 'disk/kept.zarr'; COPY X TO 'disk/group.zarr' (MEMBER 'x')")
        before = sorted(path.relative_to(disk) for path in disk.rglob("*"))
        small.fill()
        for target in ("'disk/new.zarr'", "'disk/kept.zarr'", "'disk/group.zarr' (MEMBER 'g/y')"):
            message = self.failure(f"CREATE TENSOR Y AS EINSUM Y[i 300, j 300] = i + j; COPY Y TO {target}")
            self.assertRegex(message, "No space left on device")
            small.free()
            self.assertEqual(sorted(path.relative_to(disk) for path in disk.rglob("*")), before)
            small.fill()
        small.free()
        self.assert_same(self.imported("'disk/kept.zarr'"), np.arange(100.0))
        self.assert_same(self.imported("'disk/group.zarr'"), np.arange(100.0))


class Hostile(ZarrTest):
    def broken(self, expected, change_metadata=None, chunk=None, compressor=numcodecs.Zstd(1)):
        path = self.folder / "bad.zarr"
        shutil.rmtree(path, ignore_errors=True)
        made = zarr.open_array(str(path), mode="w", shape=(6, 4), chunks=(3, 4), dtype="f8", compressor=compressor)
        made[...] = 1
        if change_metadata:
            metadata = json.loads((path / ".zarray").read_text())
            metadata = change_metadata(metadata) or metadata
            (path / ".zarray").write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))
        if chunk is not None:
            (path / "0.0").write_bytes(chunk)
        self.assertRegex(self.failure("COPY X FROM 'bad.zarr'"), expected)

    def test_metadata(self):
        for change, expected in (
                ({"shape": [6, -4]}, "has -4 in it"), ({"shape": [2**62, 4]}, "overflows"), ({"shape": "6"}, "is no list"),
                ({"shape": [2**64, 1]}, "no integer of 64 bits"), ({"shape": [6.0, 4]}, "no integer"),
                ({"chunks": [3]}, "one extent per dimension"), ({"chunks": [0, 4]}, "extent 0"),
                ({"chunks": [2**40, 2**40]}, "overflows"), ({"chunks": [2**31, 2**20]}, "quarter of memory_limit"),
                ({"dtype": "<U4"}, "elements of type"), ({"dtype": [["a", "<f4"]]}, "structured"), ({"order": "K"}, "neither C nor F"),
                ({"compressor": {"id": "lzma"}}, "the compressor 'lzma'"), ({"filters": [{"id": "delta"}]}, "has filters"),
                ({"fill_value": "zero"}, "no number"), ({"zarr_format": 7}, "version is not 2"),
                ({"dimension_separator": ".."}, "neither '.' nor '/'"), ({"shape": [1] * 65}, "more than 64 dimensions")):
            self.broken(expected, lambda metadata: metadata.update(change))
        self.broken("no object of JSON", lambda metadata: "{" * 9)
        self.broken("nested more than 32 deep", lambda metadata: "[" * 100_000)

    def test_chunks(self):
        good = np.ones(12).tobytes()
        for codec_ in (numcodecs.Zstd(1), numcodecs.GZip(1), numcodecs.Zlib(1), numcodecs.Blosc()):
            self.broken("bytes, and a chunk has 96|no buffer|zlib cannot decode|more bytes than a chunk|zstd cannot",
                        chunk=codec_.encode(good + b"12345678"), compressor=codec_)
            self.broken("bytes, and a chunk has 96", chunk=codec_.encode(good[:-8]), compressor=codec_)
            self.broken("cannot decode|no buffer", chunk=bytes(codec_.encode(good))[:-7], compressor=codec_)
            self.broken("cannot decode|no buffer|decodes to 0 bytes", chunk=b"", compressor=codec_)
        self.broken("has 95 bytes, and a chunk has 96", chunk=good[:-1], compressor=None)
        self.broken("before it is compressed", chunk=good * 9000)
        bomb = zlib.compress(bytes(50_000_000), 9)
        self.broken("more bytes than a chunk has", chunk=bomb, compressor=numcodecs.Zlib(9))

    def test_paths(self):
        np.save(self.folder / "in.npy", np.arange(3.0))
        for name in ("../x", "a/../../x", "/x", "a//x", "./x", "a/", ".zarray", "__x", "zarr.json", "a/.z"):
            message = self.failure(f"COPY X FROM 'in.npy'; COPY X TO 's.zarr' (MEMBER '{name}')")
            self.assertRegex(message, "is no path below a directory|cannot have the name", name)
            self.assertFalse((self.folder / "s.zarr").exists())
        zarr.open_array(str(self.folder / "s.zarr"), mode="w", shape=3, dtype="f8", compressor=None)[...] = 1
        self.assertRegex(self.failure("COPY X FROM 's.zarr' (MEMBER '../s.zarr')"), "is no path below a directory")
        os.remove(self.folder / "s.zarr/0")
        os.symlink("/etc/hostname", self.folder / "s.zarr/0")
        self.assertRegex(self.failure("COPY X FROM 's.zarr'"), "symbolic links within a directory are not followed")
        self.assertRegex(self.failure("COPY X FROM 'in.npy'; COPY X TO '/dev/stdout' (FORMAT zarr)"), "cannot (read|write)")
        self.assertRegex(self.failure("COPY X FROM 'none.zarr'"), "No such file")
        (self.folder / "f.zarr").write_text("a file")
        self.assertRegex(self.failure("COPY X FROM 'in.npy'; COPY X TO 'f.zarr'"), "Not a directory")
        (self.folder / "empty.zarr").mkdir()
        self.assertRegex(self.failure("COPY X FROM 'empty.zarr'"), "no store of Zarr")
        self.run_eindb("COPY X FROM 'in.npy'; COPY X TO 'empty.zarr'")

    def test_damaged_shards(self):
        shard = {"chunk": (2, 2), "index_codecs": [codec("bytes", endian="little"), codec("crc32c")], "location": "end"}
        path = self.folder / "s.zarr"
        write_v3(path, np.ones((4, 4)), (4, 4), Version3.CHAINS[0], shard=shard)
        file = path / "c/0/0"
        good = file.read_bytes()
        file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        self.assertIn("do not match their CRC-32C", self.failure("COPY X FROM 's.zarr'"))
        for begin, count in ((2**63, 32), (0, 2**63), (len(good), 1), (0, 31)):
            index = struct.pack("<QQ", begin, count) + good[-52:-4]
            file.write_bytes(good[:-68] + index + crc32c(index))
            self.assertRegex(self.failure("COPY X FROM 's.zarr'"), "lies outside its file|bytes, and a chunk has 32")
        file.write_bytes(good[:40])
        self.assertIn("ends before its index", self.failure("COPY X FROM 's.zarr'"))

    def test_random_damage(self):
        """Whatever is damaged, it is read or an error that says so."""
        path = self.folder / "x.zarr"
        made = zarr.open_array(str(path), mode="w", shape=(6, 4), chunks=(3, 4), dtype="f8", compressor=numcodecs.Blosc())
        made[...] = self.rng.standard_normal((6, 4))
        for name in (".zarray", "0.0"):
            good = bytearray((path / name).read_bytes())
            for _ in range(25):
                bad = bytearray(good)
                for _ in range(self.rng.integers(1, 4)):
                    bad[self.rng.integers(len(bad))] = self.rng.integers(256)
                (path / name).write_bytes(bad)
                done = subprocess.run([EINDB, "-c", "COPY X FROM 'x.zarr'"], capture_output=True, text=True, cwd=self.folder)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertNotIn("internal error", done.stderr)
            (path / name).write_bytes(good)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

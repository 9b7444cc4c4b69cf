#!/usr/bin/python3
"""hostile_files_test.py EINDB: malicious files are refused within 100 ms of CPU time and 64 MiB of memory.

The CPU time of an empty statement is subtracted. Since CPU time is measured, other load does not fail the test. The
kernel enforces the limit on memory.
"""
import os
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib
from pathlib import Path

try:
    import h5py
except ImportError:
    h5py = None

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
MEBIBYTE = 1 << 20
SECONDS = 0.1
STARTS = 6  # or what so many starts of the program take: some machines are slower than others
TRIES = 4


def npy(shape, data=b"", descr="<f8"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def safetensors(header, data=b""):
    return struct.pack("<Q", len(header)) + header + data


class HostileFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.nothing = min(self.cpu_time("SELECT 1")[0] for _ in range(TRIES))

    def cpu_time(self, statement):
        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (64 * MEBIBYTE, 64 * MEBIBYTE))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([EINDB, "--threads", "1", "-c", statement], capture_output=True, text=True,
                              cwd=self.folder, timeout=240, preexec_fn=limit)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done

    def assert_refused(self, name, content, words):
        if content is not None:
            (self.folder / name).write_bytes(content)
        times = []
        for _ in range(TRIES):
            seconds, done = self.cpu_time(f"COPY X FROM '{name}'")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(words, done.stderr)
            self.assertIn(name, done.stderr)
            times.append(seconds - self.nothing)
            if times[-1] < max(SECONDS, STARTS * self.nothing):
                return
        self.fail(f"{name}: {min(times):.2f} s of CPU time")

    def test_npz_that_inflates_beyond_its_array(self):
        with zipfile.ZipFile(self.folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            with archive.open("x.npy", "w") as member:
                member.write(npy("(3,)", b"\0" * 24))
                for _ in range(200):
                    member.write(b"\0" * MEBIBYTE)
        self.assert_refused("bomb.npz", None, "but its array ends after")

    def test_npz_that_hides_how_much_it_inflates_to(self):
        with zipfile.ZipFile(self.folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr("x.npy", npy("(3,)", b"\0" * (200 * MEBIBYTE)))
        content = bytearray((self.folder / "bomb.npz").read_bytes())
        true_size, lie = (struct.pack("<I", size) for size in (len(npy("(3,)")) + 200 * MEBIBYTE, len(npy("(3,)")) + 24))
        self.assert_refused("bomb.npz", bytes(content).replace(true_size, lie), "more than the")

    def test_npz_of_very_many_members(self):
        central = b"".join(b"PK\1\2" + bytes(24) + struct.pack("<H", 5) + bytes(16) + b"%05x" % n
                           for n in range((4 * MEBIBYTE - 100) // 51))
        end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, len(central), 0, 0)
        self.assert_refused("many.npz", central + end, "many.npz")
        count = len(central) // 51
        end64 = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(central), 0)
        locator = b"PK\6\7" + struct.pack("<IQI", 0, len(central), 1)
        self.assert_refused("many.npz", central + end64 + locator + end, "many.npz")

    def test_npz_of_very_many_true_members(self):
        with zipfile.ZipFile(self.folder / "many.npz", "w") as archive:
            for n in range(60000):
                archive.writestr(f"{n}.npy", b"")
        self.assert_refused("many.npz", None, "holds 60000 arrays")

    def test_npz_with_a_directory_longer_than_the_file(self):
        self.assert_refused("long.npz", b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, 0xFFFFFFF0, 0, 0), "long.npz")

    def test_npz_member_with_an_endless_npy_header(self):
        with zipfile.ZipFile(self.folder / "header.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 100 * MEBIBYTE) + b" " * (100 * MEBIBYTE))
        self.assert_refused("header.npz", None, "longer than any array needs")

    def test_safetensors_headers(self):
        size = 3 * MEBIBYTE
        for words, content in {
            "longer than the file": struct.pack("<Q", 2**63) + b"{}",
            "are read": safetensors(b"{" + b" " * (99 * 1000 * 1000)),
            "an array is not expected": safetensors(b'{"a":' + b"[" * (size - 10)),
            "no JSON at byte": safetensors(b'{"' + b"a" * (size - 10)),
            "'__metadata__'": safetensors(b'{"__metadata__":{' + b'"a":"b",' * (size // 8 - 20) + b'"a":1}}'),
            "more than 64": safetensors(b'{"x":{"dtype":"U8","shape":[' + b"1," * (size // 2 - 99) + b"1]}}"),
        }.items():
            self.assert_refused("bad.safetensors", content, words)

    def test_safetensors_of_very_many_tensors(self):
        entry = '"%x":{"dtype":"U8","shape":[],"data_offsets":[%d,%d]}'
        count = 50000
        entries = [entry % (n, n, n + 1) for n in range(count)]
        for last, words in ((entry % (count, 0, 1), "overlaps"), (entry % (0, count, count + 1), "have the name '0'"),
                            (entry % (count, count, count + 1), f"holds {count + 1} arrays")):
            header = ("{" + ",".join([*entries, last]) + "}").encode()
            self.assertLess(len(header), 3 * MEBIBYTE)
            self.assert_refused("many.safetensors", safetensors(header, bytes(count + (words != "overlaps"))), words)

    def test_hdf5_that_is_none(self):
        self.assert_refused("none.h5", b"\x89HDF\r\n\x1a\n" + b"\xff" * 4096, "none.h5")
        self.assert_refused("long.h5", bytes(MEBIBYTE), "no valid HDF5 file")

    @unittest.skipIf(h5py is None, "h5py is not installed")
    def test_hdf5_that_claims_too_much(self):
        for shape, chunks in (((2**56,), (1024,)), ((2**28, 2**28), (1, 1024)), ((2**36,), (2**28,))):
            with h5py.File(self.folder / "bomb.h5", "w") as file:
                file.create_dataset("x", shape, "f8", chunks=chunks)
            self.assert_refused("bomb.h5", None, "claims")
        # The chunk's 800 bytes decompress to half a gigabyte, which libhdf5 does before it looks at the size.
        with h5py.File(self.folder / "bomb.h5", "w") as file:
            data = file.create_dataset("x", (100,), "f8", chunks=(100,), compression="gzip")
            data.id.write_direct_chunk((0,), zlib.compress(bytes(512 * MEBIBYTE)))
        self.assert_refused("bomb.h5", None, "bomb.h5")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

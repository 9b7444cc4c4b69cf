"""The disk of a worker is full. Its tiles can be read and dropped, new tiles go to other workers, errors name the
worker, it starts again with a full disk, and DROP frees space.

    full_disk_test.py EINDB

The disk is a small file system if this process may mount one, and otherwise the worker's --disk-limit.
"""

import os
import re
import signal
import tempfile
import unittest
import urllib.request

import psycopg

from nodes import Cluster, wait_until
from small_disk import MEBIBYTE, SIZE, SmallDisk

TILES = 16  # each of half a mebibyte


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.disk = SmallDisk(os.path.join(folder.name, "w0"))
        self.addCleanup(self.disk.close)
        self.cluster = Cluster(3, folder=folder.name, options=("--http", "127.0.0.1:0"))
        self.addCleanup(self.cluster.close)
        self.worker = self.cluster.workers[0]
        if not self.disk.is_mounted:
            self.worker.end()
            self.worker.options = ("--disk-limit", f"{SIZE // MEBIBYTE}MiB")
            self.worker.start()
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)
        self.cluster.wait_for_workers(self.connection)

    def execute(self, statement):
        return self.connection.execute(statement)

    def make(self, name, replicas=1, columns=256):
        self.execute(f"CREATE TENSOR {name} PARTITION ({TILES}, 1) REPLICAS {replicas} AS "
                     f"EINSUM {name}[i {TILES * 256}, j {columns}] = i + 1")  # fmt: skip

    def sum_of(self, name):
        return self.execute(f"EINSUM Z[] = SUM({name}[i,j])").fetchone()[-1]

    def status(self):
        return self.cluster.statuses(self.connection)[self.worker.address]

    def tensors(self):
        return [row[0] for row in self.execute("SHOW TENSORS").fetchall()]

    def fill(self):
        """Fills the disk with tensors until the worker takes no more, then with a file or with small tensors."""
        names = []
        for _ in range(100):
            if names and names[-1] not in self.worker.contents():
                break
            name = f"Full{len(names)}"
            try:
                self.make(name, replicas=2)
            except psycopg.errors.IoError as error:  # the last room went after the tiles were placed
                self.assertIn("full", str(error))
                continue
            names.append(name)
            wait_until(lambda: self.status()["tiles"] == len(self.worker.contents()))
        self.disk.fill()
        for n in range(200):
            if self.disk.is_mounted or self.status()["bytes_free"] == 0:
                break
            self.make(f"Small{n}", replicas=2, columns=16)
            wait_until(lambda: self.status()["tiles"] == len(self.worker.contents()))
        self.assertTrue(wait_until(lambda: self.status()["bytes_free"] == 0), self.status())
        return names

    def is_full(self):
        status = self.status()
        return status["bytes_free"] == 0 and "full" in (status["reason"] or "")

    def assert_reads(self, names):
        for name in names:
            self.assertEqual(self.sum_of(name), 256 * (TILES * 256) * (TILES * 256 + 1) // 2)

    def test_life_on_a_full_disk(self):
        names = self.fill()
        self.assertTrue(self.is_full(), self.status())
        self.assertEqual(self.status()["state"], "up")
        self.assertRegex(self.cluster.log(), f"worker full node={self.worker.address}")
        self.assertTrue(wait_until(lambda: "disk full" in self.worker.log()), self.worker.log())
        held = self.worker.contents()

        # New tensors go to the other workers.
        self.make("Elsewhere", replicas=2)
        self.execute("CREATE TENSOR Cells (i 64, j 64) PARTITION (64, 1) REPLICAS 2")
        self.execute("INSERT INTO TENSOR Cells VALUES (0, 0, 1), (63, 63, 2)")
        self.assertEqual(self.worker.contents(), held)
        for statement in ("CREATE TENSOR Everywhere REPLICAS 3 AS EINSUM Everywhere[i 64] = i + 1",
                          "ALTER TENSOR Cells REPLICAS 3"):  # fmt: skip
            with self.assertRaises(psycopg.Error) as raised:
                self.execute(statement)
            self.assertIn(self.worker.address, str(raised.exception))
            self.assertIn("full", str(raised.exception))
        self.assertNotIn("Everywhere", self.tensors())
        self.assert_reads([*names, "Elsewhere"])

        # The worker starts again with a full disk.
        self.worker.send_signal(signal.SIGKILL)
        self.worker.restart()
        self.cluster.wait_for_workers(self.connection)
        self.assertTrue(wait_until(self.is_full), self.status())
        self.assert_reads([names[0], "Elsewhere"])

        # Dropped tensors free space, on the disk as well.
        before = os.path.getsize(os.path.join(self.worker.folder, "shard.db"))
        for name in self.tensors():
            if name.startswith(("Full", "Small")):
                self.execute(f"DROP TENSOR {name}")
        self.assertTrue(wait_until(lambda: not self.worker.contents()), self.worker.contents())
        self.assertTrue(wait_until(
            lambda: os.path.getsize(os.path.join(self.worker.folder, "shard.db")) < before / 4))  # fmt: skip
        self.assertTrue(wait_until(lambda: not self.is_full()), self.status())
        self.assertRegex(self.cluster.log(), f"worker has room node={self.worker.address}")
        self.disk.free()
        self.make("Everywhere", replicas=3)
        self.assertIn("Everywhere", self.worker.contents())
        self.assert_reads(["Everywhere", "Elsewhere"])
        self.assertEqual(self.cluster.wait_until_settled(), {})

    def test_pages(self):
        self.worker.end()
        self.worker.options = (*self.worker.options, "--http", "127.0.0.1:0")
        self.worker.start()
        port = re.search(r"http on port (\d+)", self.worker.process.stdout.readline())[1]

        def page(path):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=240) as answer:
                return answer.read().decode()

        self.cluster.wait_for_workers(self.connection)
        self.assertEqual(page("health"), "ok\n")
        self.assertIn("eindb_node_full 0\n", page("metrics"))
        self.fill()
        self.assertTrue(wait_until(lambda: page("health") == "ok, but the disk is full\n"), page("health"))
        self.assertIn("eindb_node_full 1\n", page("metrics"))
        self.assertIn("eindb_node_free_bytes 0\n", page("metrics"))
        stored = re.search(r"eindb_node_tiles (\d+)", page("metrics"))[1]
        self.assertEqual(int(stored), len(self.worker.contents()))


if __name__ == "__main__":
    unittest.main()

"""Workers verify the checksums of their tiles by themselves. What is damaged is written anew from another copy without
anybody reading it, or named in SHOW WORKERS if there is no other.

    scrub_test.py EINDB
"""

import contextlib
import signal
import sqlite3
import unittest

import psycopg

from nodes import Cluster, wait_until

TILES = 12
SUM = sum((7 * i + 3 * j) % 5 for i in range(TILES * 16) for j in range(16))


class Scrub(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(3, worker_options=("--scrub-rate", "1GiB"))
        self.addCleanup(self.cluster.close)
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)
        self.cluster.wait_for_workers(self.connection)

    def make(self, name, replicas):
        self.connection.execute(f"CREATE TENSOR {name} PARTITION ({TILES}, 1) REPLICAS {replicas} AS "
                                f"EINSUM {name}[i {TILES * 16}, j 16] = (7 * i + 3 * j) % 5")  # fmt: skip

    def sum_of(self, name):
        return self.connection.execute(f"EINSUM Z[] = SUM({name}[i,j])").fetchone()[-1]

    def status(self, worker):
        return self.cluster.statuses(self.connection)[worker.address]

    def damage(self, worker, tensor, how):
        """Changes the last byte of a tile of the tensor at the worker, which is down, or cuts it off."""
        worker.end(signal.SIGKILL)
        new = {"flip": "CAST(substr(tile, 1, length(tile) - 1) || x'77' AS BLOB)",
               "cut": "CAST(substr(tile, 1, length(tile) - 1) AS BLOB)"}[how]  # fmt: skip
        with contextlib.closing(sqlite3.connect(f"{worker.folder}/shard.db")) as file, file:
            changed = file.execute(f"UPDATE eindb_contents SET tile = {new} WHERE content_id = (SELECT MIN(content_id)"
                                   " FROM eindb_contents WHERE tensor = ?)", (tensor,)).rowcount  # fmt: skip
            self.assertEqual(changed, 1)
        worker.start()

    def wait(self, condition):
        logs = [self.cluster.log(), *(worker.log() for worker in self.cluster.workers)]
        self.assertTrue(wait_until(condition), (self.cluster.statuses(self.connection), logs))

    def test_a_damaged_copy_is_written_anew(self):
        self.make("A", 2)
        worker = self.cluster.workers[0]
        for times, how in enumerate(("flip", "cut"), 1):
            self.damage(worker, "A", how)
            self.wait(lambda: self.cluster.log().count("copy repaired") == times)
            self.assertEqual(worker.log().count("content damaged"), times)
            self.assertEqual(self.status(worker)["tiles_damaged"], 0)
        # The other workers are not needed for what this one has.
        self.assertEqual(self.sum_of("A"), SUM)
        self.assertEqual(self.cluster.log().count("copy repaired"), 2)

    def test_a_tile_without_another_copy_is_named(self):
        self.make("B", 1)
        worker = self.cluster.workers[0]
        self.damage(worker, "B", "flip")
        self.wait(lambda: self.status(worker)["tiles_damaged"] == 1)
        self.assertRegex(self.status(worker)["reason"], r"tile \[\d+, 0\] of tensor B is damaged")
        with self.assertRaisesRegex(psycopg.Error, "damaged"):
            self.sum_of("B")
        self.connection.execute("DROP TENSOR B")
        self.wait(lambda: self.status(worker)["tiles_damaged"] == 0)

    # The worker with the good copy is away at first.
    def test_it_is_mended_when_the_other_copy_is_there(self):
        self.make("A", 2)
        worker = self.cluster.workers[0]
        others = self.cluster.workers[1:]
        for other in others:
            other.end(signal.SIGKILL)
        self.damage(worker, "A", "flip")
        self.wait(lambda: self.status(worker)["tiles_damaged"] == 1)
        for other in others:
            other.start()
        self.wait(lambda: self.status(worker)["tiles_damaged"] == 0)
        self.cluster.wait_for_workers(self.connection)
        self.assertEqual(self.sum_of("A"), SUM)


if __name__ == "__main__":
    unittest.main()

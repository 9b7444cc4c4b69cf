"""Tiles move between workers in the background: away from a worker that is drained, to others after a loss, to a worker
that is new. Statements go on meanwhile. Whoever is killed amid a move, nothing is lost, and no copy is left over.

    moves_test.py EINDB

EINDB_MOVES sets the number of moves amid which somebody is killed (default 6). Moments are random with a fixed seed.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest
import urllib.request

import psycopg

from nodes import EINDB, HANG_SECONDS, Cluster, Worker, wait_until

MOVES = int(os.environ.get("EINDB_MOVES", "6"))
TILES = 24
SIDE = 64
# The sum of all cells of a tensor that make() has made.
SUM = sum((7 * i + 3 * j) % 5 for i in range(TILES * SIDE) for j in range(SIDE))


class Moves(unittest.TestCase):
    def start(self, workers, *options):
        self.cluster = Cluster(workers, options=("--http", "127.0.0.1:0", *options))
        self.addCleanup(self.cluster.close)
        self.connect()
        self.cluster.wait_for_workers(self.connection)

    def connect(self):
        self.http = int(re.search(r"http on port (\d+)", self.cluster.server.stdout.readline())[1])
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)

    def restart_server(self, number=signal.SIGTERM):
        self.connection.close()
        self.cluster.end_server(number)
        self.cluster.start_server()
        self.connect()

    def execute(self, statement):
        return self.connection.execute(statement)

    def make(self, name, replicas=1):
        self.execute(f"CREATE TENSOR {name} PARTITION ({TILES}, 1) REPLICAS {replicas} AS "
                     f"EINSUM {name}[i {TILES * SIDE}, j {SIDE}] = (7 * i + 3 * j) % 5")  # fmt: skip

    def sum_of(self, name, connection=None):
        return (connection or self.connection).execute(f"EINSUM Z[] = SUM({name}[i,j])").fetchone()[-1]

    def status(self, worker):
        return self.cluster.statuses(self.connection)[worker.address]

    def is_drained(self, worker):
        return self.status(worker)["placement"] == "drained"

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=HANG_SECONDS) as page:
            return int(re.search(rf"^{name} (\d+)$", page.read().decode(), re.MULTILINE).group(1))

    def wait(self, condition):
        self.assertTrue(wait_until(condition), (self.cluster.statuses(self.connection), self.cluster.log()))

    def expect_settled(self):
        self.assertFalse(self.cluster.wait_until_settled())

    def test_a_worker_is_drained_while_statements_run(self):
        self.start(3)
        self.make("A")
        self.make("B", 2)
        leaving = self.cluster.workers[0]
        self.assertIn("A", leaving.contents())
        failures, ends = [], threading.Event()

        def work():
            with self.cluster.connect() as connection:
                rounds = 0
                while not ends.is_set() or rounds < 3:
                    rounds += 1
                    try:
                        if (found := self.sum_of("A", connection)) != SUM:
                            failures.append(found)
                        connection.execute(f"CREATE TENSOR N AS EINSUM N[i,k] = SUM(A[i,j] * B[k,j])")
                        connection.execute("DROP TENSOR N")
                    except psycopg.Error as error:
                        failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            self.execute(f"ALTER WORKER '{leaving.address}' DRAIN")
            self.wait(lambda: self.is_drained(leaving))
        finally:
            ends.set()
            thread.join()
        self.assertFalse(failures)
        self.assertEqual(self.status(leaving)["tiles_to_move"], 0)
        leaving.end(signal.SIGKILL)
        self.assertEqual(self.sum_of("A"), SUM)
        self.assertEqual(self.sum_of("B"), SUM)
        self.make("C")
        self.assertEqual(self.sum_of("C"), SUM)
        leaving.start()
        self.cluster.wait_for_workers(self.connection)
        self.expect_settled()
        self.assertEqual(leaving.contents(), [])

    def test_a_drained_worker_is_taken_back(self):
        self.start(2, "--balance-above", "0")
        self.make("A")
        worker = self.cluster.workers[1]
        self.execute(f"ALTER WORKER '{worker.address}' DRAIN")
        self.wait(lambda: self.is_drained(worker))
        with self.assertRaisesRegex(psycopg.Error, "no other worker can take the tiles"):
            self.execute(f"ALTER WORKER '{self.cluster.workers[0].address}' DRAIN")
        self.restart_server()
        self.cluster.wait_for_workers(self.connection)
        self.wait(lambda: self.is_drained(worker))
        self.execute(f"ALTER WORKER '{worker.address}' ACTIVATE")
        self.assertEqual(self.status(worker)["placement"], "active")
        self.wait(lambda: worker.contents().count("A") == TILES // 2)
        self.assertEqual(self.sum_of("A"), SUM)
        self.expect_settled()

    def test_copies_that_were_lost_are_made_again(self):
        self.start(4, "--replace-after", "0")
        self.make("A", 2)
        self.make("Single")
        lost, other = self.cluster.workers[1], self.cluster.workers[2]
        had = lost.contents().count("A")
        alone = lost.contents().count("Single")
        lost.end(signal.SIGKILL)
        # What has no other copy stays where it is, and is told of.
        self.wait(lambda: self.status(lost)["state"] == "lost" and self.metric("eindb_tiles_moved_total") == had
                  and self.status(lost)["tiles_to_move"] == alone)  # fmt: skip
        self.assertIn(f"{alone} tiles of it cannot be copied", self.status(lost)["reason"])
        other.end(signal.SIGKILL)
        self.assertEqual(self.sum_of("A"), SUM)
        with self.assertRaisesRegex(psycopg.Error, "Single lies at"):
            self.sum_of("Single")
        # They come back: what others have instead is garbage.
        lost.start()
        other.start()
        self.cluster.wait_for_workers(self.connection)
        self.assertEqual(self.sum_of("Single"), SUM)
        self.expect_settled()
        self.assertEqual(self.sum_of("A"), SUM)

    def test_a_new_worker_gets_its_share(self):
        self.start(2, "--balance-above", "0")
        self.make("A")
        self.make("B")
        self.cluster.workers.append(Worker(os.path.join(self.cluster.folder, "new")))
        self.restart_server()
        self.cluster.wait_for_workers(self.connection)
        new = self.cluster.workers[2]
        self.wait(lambda: sorted(new.contents()) == ["A"] * (TILES // 3) + ["B"] * (TILES // 3))
        self.assertEqual(self.sum_of("A"), SUM)
        self.expect_settled()

    def test_the_rate_is_bounded(self):
        tile = SIDE * SIDE * 8
        self.start(2, "--move-rate", f"{8 * tile}")
        self.make("A")
        worker = self.cluster.workers[0]
        start = time.monotonic()
        self.execute(f"ALTER WORKER '{worker.address}' DRAIN")
        seen = 0
        while not self.is_drained(worker):
            seen = self.metric("eindb_moved_bytes_total")
            # Each round may be a second's bytes, and a look and the next round lie between two figures.
            self.assertLess(seen, 8 * tile * (time.monotonic() - start + 3), "it is faster than it may be")
        self.assertGreater(self.metric("eindb_moved_bytes_total"), TILES // 2 * tile - 1)
        self.assertGreaterEqual(self.metric("eindb_tiles_moved_total"), TILES // 2)

    def test_without_a_rate_nothing_moves(self):
        self.start(2, "--move-rate", "0")
        self.make("A")
        worker = self.cluster.workers[0]
        self.execute(f"ALTER WORKER '{worker.address}' DRAIN")
        before = worker.contents()
        self.make("B")
        self.assertEqual(worker.contents(), before)
        self.assertEqual(self.status(worker)["placement"], "draining")

    def test_what_another_process_leaves_is_collected(self):
        self.start(2)
        self.make("A")
        with self.cluster.reading_a_state():
            subprocess.run([EINDB, self.cluster.database, *self.cluster.shell_options, "-c", "DROP TENSOR A"], check=True,
                           timeout=HANG_SECONDS, stdout=subprocess.DEVNULL)  # fmt: skip
            self.assertNotEqual(self.cluster.query_file("SELECT * FROM eindb_shard_garbage"), [])
        # Nobody runs a statement.
        self.expect_settled()
        self.assertEqual([worker.contents() for worker in self.cluster.workers], [[], []])

    # The copy of the file is from before the move.
    def test_a_file_takes_over_tiles_that_have_moved(self):
        self.start(3)
        self.make("A")
        copy = os.path.join(self.cluster.folder, "copy.db")
        self.connection.close()
        self.cluster.end_server()
        shutil.copy(self.cluster.database, copy)
        self.cluster.start_server()
        self.connect()
        self.cluster.wait_for_workers(self.connection)
        for worker in self.cluster.workers[:2]:
            self.execute(f"ALTER WORKER '{worker.address}' DRAIN")
            self.wait(lambda worker=worker: self.is_drained(worker))
        self.connection.close()
        self.cluster.end_server()
        take = [EINDB, "take-over", copy, *self.cluster.shell_options]
        subprocess.run(take, check=True, timeout=HANG_SECONDS, stdout=subprocess.DEVNULL)
        self.cluster.database = copy
        self.cluster.start_server()
        self.connect()
        self.cluster.wait_for_workers(self.connection)
        self.assertEqual(self.sum_of("A"), SUM)
        self.expect_settled()

    def test_only_admins_move_tiles(self):
        self.start(2)
        self.execute("CREATE USER eve PASSWORD 'x' READ WRITE")
        self.execute("CREATE USER ada PASSWORD 'x' ADMIN")
        with psycopg.connect(host="127.0.0.1", port=self.cluster.port, user="eve", password="x", dbname="s") as eve:
            with self.assertRaisesRegex(psycopg.Error, "ADMIN"):
                eve.execute(f"ALTER WORKER '{self.cluster.workers[0].address}' DRAIN")

    def test_whoever_is_killed_amid_a_move(self):
        tile = SIDE * SIDE * 8
        self.start(3, "--move-rate", f"{30 * tile}", "--replace-after", "0", "--balance-above", "0")
        self.make("A", 2)
        self.make("B", 2)
        moments = random.Random(5)
        for number in range(MOVES):
            leaving, staying = moments.sample(self.cluster.workers, 2)
            with self.subTest(number=number):
                self.execute(f"ALTER WORKER '{leaving.address}' DRAIN")
                time.sleep(moments.uniform(0, 1.5))
                if number % 3 == 0:
                    self.restart_server(signal.SIGKILL)
                else:
                    harmed = leaving if number % 3 == 1 else staying
                    harmed.send_signal(signal.SIGKILL)
                    self.wait(lambda: self.status(harmed)["state"] == "lost")
                    self.assertEqual(self.sum_of("A"), SUM)
                    harmed.restart()
                self.cluster.wait_for_workers(self.connection)
                self.assertEqual(self.sum_of("A"), SUM)
                self.execute(f"ALTER WORKER '{leaving.address}' ACTIVATE")
                self.assertEqual(self.sum_of("B"), SUM)
        self.expect_settled()
        for name in ("A", "B"):
            self.assertEqual(self.sum_of(name), SUM)


if __name__ == "__main__":
    unittest.main()

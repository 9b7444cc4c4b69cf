#!/usr/bin/python3
"""memory_test.py EINDB: measures the memory of `eindb serve --memory-limit` while eight clients mix SQL, EINSUM and
COPY.

The kernel reports the memory that the process allocates (anonymous memory) and the peak of its resident memory, which
includes pages of files. Statements cannot limit the program itself and its libraries, so the memory before the first
client is subtracted. The rest may exceed the limit by 15 %.
"""

import collections
import os
import random
import re
import select
import struct
import threading
import time
import unittest

import psycopg

from served import Server
from waiting import wait_until

MEBIBYTE = 1 << 20
CLIENTS = 8
SECONDS = float(os.environ.get("EINDB_MEMORY_SECONDS", "5"))
READY = b"Z\0\0\0\5I"
SCRIPT = """
CREATE TENSOR A AS EINSUM A[i 1024, j 1024] = i - j;
CREATE TENSOR B AS EINSUM B[i 1024, j 1024] = (i + j) % 7;
CREATE TABLE t (name TEXT, n INTEGER);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000)
INSERT INTO t SELECT 'name number ' || x, x * 7919 % 200003 FROM c;
"""


def status_of(process):
    """The values of /proc/PID/status in bytes, by name."""
    found = {}
    with open(f"/proc/{process.pid}/status") as file:
        for line in file:
            name, _, value = line.partition(":")
            if value.endswith("kB\n"):
                found[name] = int(value.split()[0]) * 1024
    return found


class Peak(threading.Thread):
    """Records the peaks of a process's anonymous and resident memory."""

    def __init__(self, process):
        super().__init__()
        self.process = process
        self.ends = threading.Event()
        self.anonymous = 0
        self.resident = 0

    def run(self):
        while not self.ends.wait(0.005):
            now = status_of(self.process)
            self.anonymous = max(self.anonymous, now["RssAnon"])
            self.resident = max(self.resident, now["VmRSS"])

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join()


def connected(server):
    """A socket on which the server has said that it is ready."""
    client = server.socket()
    body = struct.pack("!i", 196608) + b"user\0ada\0database\0s\0\0"
    client.sendall(struct.pack("!i", 4 + len(body)) + body)
    read_until_ready(client)
    return client


def read_until_ready(client):
    """Raises the error that the server has told, also where it closed the connection after that."""
    end = b""
    closed = False
    while not closed and not end.endswith(READY):
        received = client.recv(MEBIBYTE)
        closed = not received
        end = (end + received)[-4096:]
    error = re.search(rb"S(?:ERROR|FATAL)\0V(?:ERROR|FATAL)\0C(.{5})\0M([^\0]*)", end)
    if error:
        raise psycopg.errors.lookup(error[1].decode())(error[2].decode())
    if closed:
        raise psycopg.OperationalError("the server has closed the connection")


def drain(server, statement):
    """Reads the answer to a statement without looking at its rows, of which a client in Python would be the load."""
    with connected(server) as client:
        body = statement.encode() + b"\0"
        client.sendall(b"Q" + struct.pack("!i", 4 + len(body)) + body)
        read_until_ready(client)


def sort(_server, connection, _rng):
    connection.execute("SELECT name, n FROM t ORDER BY n, name LIMIT 50000").fetchall()


def group(_server, connection, _rng):
    connection.execute("SELECT n % 11, COUNT(*), group_concat(name) FROM t GROUP BY 1").fetchall()


def tensor_rows(_server, connection, _rng):
    connection.execute("SELECT i, SUM(val) FROM A GROUP BY i").fetchall()


def product(_server, connection, _rng):
    connection.execute("EINSUM Z[i] = SUM(A[i,j] * B[j,k])").fetchall()


def chain(_server, connection, _rng):
    connection.execute("WITH P[i,k] = SUM(A[i,j] * B[j,k]), Q[i,l] = SUM(P[i,k] * A[l,k]) "
                       "EINSUM m[] = MAX(Q[i,l])").fetchone()


def large_result(server, _connection, _rng):
    drain(server, "COPY (EINSUM Z[i,j] = A[i,j] + B[j,i]) TO STDOUT (FORMAT binary)")


def copy_out(server, _connection, rng):
    drain(server, f"COPY {rng.choice(['t', 'A'])} TO STDOUT")


def copy_in(_server, connection, rng):
    number = rng.randrange(1 << 30)
    connection.execute(f"CREATE TABLE c{number} (a INTEGER, b TEXT)")
    with connection.cursor().copy(f"COPY c{number} FROM STDIN") as copy:
        for k in range(30):
            copy.write("".join(f"{k * 1000 + x}\tsome text {x}\n" for x in range(1000)))
    connection.execute(f"DROP TABLE c{number}")


def long_text(_server, connection, rng):
    connection.execute("SELECT length(%s), length(%s)", ("x" * rng.randrange(4 * MEBIBYTE), "y" * MEBIBYTE)).fetchone()


KINDS = [sort, group, tensor_rows, product, chain, large_result, copy_out, copy_in, long_text]


class Memory(unittest.TestCase):
    def client(self, server, number, until, done, errors):
        rng = random.Random(number)
        # Each client runs each kind at least once, however long that takes.
        kinds = rng.sample(KINDS, len(KINDS))
        while kinds or time.monotonic() < until:
            with psycopg.connect(autocommit=True, **server.arguments()) as connection:
                while not connection.closed and (kinds or time.monotonic() < until):
                    kind = kinds.pop() if kinds else rng.choice(KINDS)
                    try:
                        kind(server, connection, rng)
                        done[kind.__name__] += 1
                    except psycopg.Error as error:
                        # A message that is too large for the free memory ends the connection.
                        ended = connection.closed and "has memory for" in str(error)
                        errors.append(("53200" if ended else error.sqlstate, str(error)))

    def mix(self, mebibytes):
        server = Server(SCRIPT, ("--memory-limit", f"{mebibytes}MiB"))
        self.addCleanup(server.close)
        base = status_of(server.process)
        done, errors = collections.Counter(), []
        until = time.monotonic() + SECONDS
        threads = [threading.Thread(target=self.client, args=(server, n, until, done, errors)) for n in range(CLIENTS)]
        with Peak(server.process) as peak:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with psycopg.connect(**server.arguments()) as connection:  # the server still answers
                self.assertEqual(connection.execute("SELECT COUNT(*) FROM t").fetchone(), (100000,))
        resident = max(peak.resident, status_of(server.process)["VmHWM"])
        print(f"{mebibytes} MiB: allocated {(peak.anonymous - base['RssAnon']) / MEBIBYTE:.0f} MiB, "
              f"resident {(resident - base['VmRSS']) / MEBIBYTE:.0f} MiB, over the program's "
              f"{base['VmRSS'] / MEBIBYTE:.0f} MiB; {sum(done.values())} statements, {len(errors)} without memory")
        self.assertLessEqual(peak.anonymous - base["RssAnon"], 1.15 * mebibytes * MEBIBYTE)
        self.assertLessEqual(resident - base["VmRSS"], 1.15 * mebibytes * MEBIBYTE)
        # A statement that gets no memory in time ends with 53200. Concurrent writers may end with 55P03 or 40001.
        self.assertEqual([error for error in errors if error[0] not in ("53200", "55P03", "40001")], [])
        self.assertEqual(set(done), {kind.__name__ for kind in KINDS}, set(errors))

    def test_a_mix_of_statements(self):
        self.mix(256)

    def test_a_mix_of_statements_in_little_memory(self):
        self.mix(96)


class Refusals(unittest.TestCase):
    """A statement whose tiles are too large gets an error with the memory that it needs. If the session may set that
    limit, the hint sets it, and then the statement runs. Otherwise the server has to be given more."""

    def test_who_can_raise_the_limit(self):
        server = Server("", ("--memory-limit", "96MiB"))
        self.addCleanup(server.close)
        with psycopg.connect(autocommit=True, **server.arguments()) as connection:
            with self.assertRaises(psycopg.Error) as refused:
                connection.execute("SET memory_limit = '100TB'")
            most = int(re.search(r"at most (\d+) bytes", str(refused.exception))[1])
            told = collections.Counter()
            for megabytes in range(12, 48, 6):
                connection.execute(f"SET memory_limit = {most}")
                rows = megabytes * MEBIBYTE // 8 // 1024
                connection.execute(f"CREATE TENSOR A PARTITION (64, 1) AS EINSUM A[i {rows}, j 1024] = i - j")
                connection.execute("RESET memory_limit")
                told[self.outcome(connection, most, "EINSUM T[] = MAX(A[i,j] - A[i,j] * A[i,j])")] += 1
                connection.execute(f"SET memory_limit = {most}")
                told[self.outcome(connection, most, "CREATE TENSOR B PARTITION (1, 1) AS EINSUM B[i,j] = A[i,j] + 1")] += 1
                connection.execute("DROP TENSOR IF EXISTS B")
                connection.execute("RESET memory_limit")
                told[self.outcome(connection, most, "CREATE TENSOR B PARTITION (1, 1) AS EINSUM B[i,j] = A[i,j] + 1")] += 1
                connection.execute("DROP TENSOR IF EXISTS B")
                connection.execute("DROP TENSOR A")
            self.assertEqual(set(told), {"ran", "the session", "the server"})

    def outcome(self, connection, most, statement):
        try:
            connection.execute(statement)
            return "ran"
        except psycopg.errors.OutOfMemory as error:
            needed = int(re.search(r"at least (\d+) MiB", error.diag.message_primary)[1]) * MEBIBYTE
            hint = error.diag.message_hint
        if needed > most:
            self.assertIn("--memory-limit", hint)
            self.assertNotIn("SET memory_limit", hint)
            return "the server"
        connection.execute(re.search(r"SET memory_limit = '\d+MiB'", hint)[0])
        connection.execute(statement)
        return "the session"


class Messages(unittest.TestCase):
    """Messages of clients count towards the limit, even incomplete ones."""

    def test_halves_of_large_messages(self):
        server = Server(SCRIPT, ("--memory-limit", "64MiB"))
        self.addCleanup(server.close)
        before = status_of(server.process)["RssAnon"]
        clients, refused = [], 0
        for _ in range(30):
            client = connected(server)
            self.addCleanup(client.close)
            clients.append(client)
            client.sendall(b"Q" + struct.pack("!i", 3 * MEBIBYTE) + b"SELECT " + b" " * (2 * MEBIBYTE))

        def count():
            nonlocal refused
            for client in select.select(clients, [], [], 0)[0]:
                clients.remove(client)
                refused += b"C53200" in client.recv(65536)
            return refused > 20

        self.assertTrue(wait_until(count), refused)
        self.assertLess(status_of(server.process)["RssAnon"] - before, 40 * MEBIBYTE)
        with psycopg.connect(**server.arguments()) as connection:
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_a_refused_message_is_answered_after_the_client_has_sent_all_of_it(self):
        server = Server("", ("--memory-limit", "64MiB"))
        self.addCleanup(server.close)
        statement = b"SELECT length('" + b"x" * (8 * MEBIBYTE) + b"')\0"
        for _ in range(20):
            with connected(server) as client:
                client.sendall(b"Q" + struct.pack("!i", 4 + len(statement)) + statement + b"S\0\0\0\4")
                with self.assertRaisesRegex(psycopg.errors.OutOfMemory, "has memory for"):
                    read_until_ready(client)


if __name__ == "__main__":
    unittest.main(verbosity=1)

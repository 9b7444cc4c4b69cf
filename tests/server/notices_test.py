"""Long statements report their progress to the client: SET progress_notices, with psycopg2, psycopg 3 and psql.

    notices_test.py EINDB
"""

import signal
import struct
import subprocess
import time
import unittest

import psycopg
import psycopg2

from served import WithServer
from waiting import HANG_SECONDS, wait_until, wait_until_computing

# The statement runs much longer than any test unless it is cancelled, in many small steps.
STEPS = "SET parallelism = 4096"
LONG = "EINSUM R[i,k] = SUM(SIN(X[i,j] * X[j,k]))"


class Notices(WithServer):
    script = "CREATE TENSOR X AS EINSUM X[i 2000, j 2000] = i - j;"

    def test_psycopg3(self):
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
            heard = []

            def hear(diagnostic):
                heard.append((diagnostic.severity, diagnostic.sqlstate))
                self.assertRegex(diagnostic.message_primary, r"^[a-z -]+: \d+ %(, about \d+ (s|min) left)?$")
                if len(heard) == 3:
                    connection.cancel()

            connection.add_notice_handler(hear)
            connection.execute(STEPS)
            connection.execute("SET progress_notices = on")
            start = time.monotonic()
            with self.assertRaises(psycopg.errors.QueryCanceled):
                connection.execute(LONG)
            self.assertGreater(time.monotonic() - start, 1.3)  # at most two notices a second
            self.assertEqual(set(heard), {("INFO", "00000")})
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_psycopg2_and_silence_without_asking(self):
        connection = psycopg2.connect(**self.server.arguments())
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(STEPS)
            for setting, heard in (("off", False), ("on", True)):
                cursor.execute(f"SET progress_notices = {setting}")
                seconds = 3
                while True:
                    cursor.execute(f"SET statement_timeout = '{seconds}s'")
                    with self.assertRaises(psycopg2.errors.QueryCanceled):
                        cursor.execute(LONG)
                    cursor.execute("SET statement_timeout = 0")
                    was_heard = any(notice.startswith("INFO:") for notice in connection.notices)
                    # With other load on the machine the first step may take longer.
                    if was_heard or not heard or seconds > HANG_SECONDS:
                        break
                    seconds *= 4
                self.assertEqual(was_heard, heard)
        connection.close()

    def test_psql_shows_them_before_the_end(self):
        command = ["psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", "-d", "s",
                   "-c", STEPS, "-c", "SET progress_notices = on", "-c", LONG]  # fmt: skip
        ran = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertRegex(ran.stderr.readline(), r"^INFO:  .*%")
        ran.send_signal(signal.SIGINT)
        self.assertIn("cancel", ran.communicate(timeout=HANG_SECONDS)[1])

    def test_what_was_answered_before_goes_first(self):
        with self.server.socket() as client:
            start = struct.pack("!i", 196608) + b"user\0ada\0\0"
            client.sendall(struct.pack("!i", len(start) + 4) + start)
            settings = f"{STEPS}; SET progress_notices = on; SELECT 'before'"
            script = f"{settings}; {LONG}".encode()
            client.sendall(b"Q" + struct.pack("!i", len(script) + 5) + script + b"\0")
            # The client does not read at once, and the server does not wait for it. One notice is enough.
            time.sleep(1.5)
            received = b""
            while b"SINFO" not in received:
                received += client.recv(4096)
            key = received[received.index(b"K\0\0\0\x0c") + 5:][:8]
            while received.count(b"Z\0\0\0\x05I") < 2:
                with self.server.socket() as canceller:
                    canceller.sendall(struct.pack("!ii", 16, 80877102) + key)
                received += client.recv(4096)
        kinds = []
        received = received.split(b"Z\0\0\0\x05I", 1)[1]
        while received:
            kinds.append(chr(received[0]))
            received = received[1 + struct.unpack("!i", received[1:5])[0]:]
        text = "".join(kinds)
        self.assertRegex(text, r"^CCTDCN+EZ$")

    def test_clients_that_leave_stop_their_statement(self):
        connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        connection.execute(STEPS)
        connection.execute("SET progress_notices = on")
        connection.pgconn.send_query(LONG.encode())
        self.assertTrue(wait_until_computing(self.server.process.pid))
        with psycopg.connect(**self.server.arguments(user="watcher"), autocommit=True) as watcher:
            is_there = "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'ada'"
            self.assertEqual(watcher.execute(is_there).fetchone(), (1,))
            connection.close()
            self.assertTrue(wait_until(lambda: watcher.execute(is_there).fetchone() == (0,)),
                            "the statement of a client that left goes on")  # fmt: skip


if __name__ == "__main__":
    unittest.main()

"""Nodes without the cluster's secret, or with certificates of another authority, are refused by nodes that have the
right ones. Both sides report the reason, and the other nodes continue.

    trust_test.py EINDB
"""

import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import psycopg

from nodes import EINDB, Cluster, wait_until

KEY = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1")
KEPT = "CREATE TENSOR Kept REPLICAS 2 AS EINSUM Kept[i 200, j 200] = (i + j) % 7"
QUERY = "EINSUM Z[] = SUM(Kept[i,j] * Kept[j,k])"
INSECURE = ("--insecure",)
OTHER_SECRET = "the nodes do not have the same secret"


class Files:
    """Secrets, authorities, and certificates that these have signed, in a temporary folder."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.secret = self._write("secret", "the secret of this cluster")
        self.other_secret = self._write("other-secret", "the secret of another one")
        for authority in ("ours", "others"):
            self._openssl("genpkey", *KEY, "-out", f"{authority}.key")
            self._openssl("req", "-x509", "-key", f"{authority}.key", "-out", f"{authority}.crt", "-days", "2",
                          "-subj", f"/CN={authority}")  # fmt: skip
        self._sign("node", "ours")
        self._sign("stranger", "others")

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def _write(self, name, text):
        with open(self.path(name), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text + "\n")
        return self.path(name)

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self._folder.name, check=True, capture_output=True)

    def _sign(self, name, authority):
        self._openssl("genpkey", *KEY, "-out", f"{name}.key")
        self._openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-out", f"{name}.csr")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
                      "-CAcreateserial", "-days", "2", "-out", f"{name}.crt")  # fmt: skip

    def certificate(self, name, authority, prefix="--"):
        """The options of a node with a certificate. `prefix` distinguishes the server's options for its workers."""
        return (f"{prefix}tls-cert", self.path(f"{name}.crt"), f"{prefix}tls-key", self.path(f"{name}.key"),
                f"{prefix}tls-ca", self.path(f"{authority}.crt"))  # fmt: skip

    def remove(self):
        self._folder.cleanup()


def setUpModule():
    global FILES
    FILES = Files()


def tearDownModule():
    FILES.remove()


class Trust(unittest.TestCase):
    """Tests three workers, with changing credentials of the first worker or of the server."""

    def start(self, server_options, worker_options):
        self.cluster = Cluster(3, options=server_options, worker_options=worker_options)
        self.addCleanup(self.cluster.close)
        self.connect()
        self.cluster.wait_for_workers(self.connection)
        self.connection.execute(KEPT)
        self.expected = self.value()

    def connect(self):
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)

    def value(self):
        return self.connection.execute(QUERY).fetchone()[-1]

    def start_worker(self, options):
        worker = self.cluster.workers[0]
        worker.end()
        worker.options = options
        worker.start()
        return worker

    def start_server(self, options):
        self.connection.close()
        self.cluster.end_server()
        self.cluster.options = options
        self.cluster.start_server()
        self.connect()

    def status(self, worker):
        return self.cluster.statuses(self.connection)[worker.address]

    def assert_refused(self, options, reason, logged):
        """Starts the first worker with wrong credentials. Both sides report the refusal, and the others continue."""
        worker = self.start_worker(options)
        told = wait_until(lambda: re.search(reason, self.status(worker)["reason"] or ""))
        self.assertTrue(told, self.status(worker))
        self.assertEqual(self.status(worker)["state"], "lost")
        self.assertRegex(self.cluster.log(), f"worker not reached node={worker.address} .*{reason}")
        self.assertTrue(wait_until(lambda: re.search(f"refused: .*{logged}", worker.log())), worker.log())
        self.assertEqual(self.value(), self.expected)

    def assert_admitted(self, options):
        self.start_worker(options)
        self.cluster.wait_for_workers(self.connection)
        self.assertEqual(self.value(), self.expected)

    def assert_nobody_is_there(self, words):
        """Waits until a statement fails with these words. A node that refuses another one closes the connection at
        once, so the reason may be lost in some attempts."""

        def told():
            with self.assertRaises(psycopg.Error) as raised:
                self.value()
            self.assertEqual(raised.exception.sqlstate, "58000")
            return re.search(words, str(raised.exception))

        self.assertTrue(wait_until(told))


class Secrets(Trust):
    def test_secrets(self):
        knows = ("--secret-file", FILES.secret)
        self.start(knows, knows)
        self.assert_refused(("--secret-file", FILES.other_secret), OTHER_SECRET, OTHER_SECRET)
        self.assert_refused(INSECURE, OTHER_SECRET, OTHER_SECRET)
        self.assert_admitted(knows)
        for options in (INSECURE, ("--secret-file", FILES.other_secret)):
            self.start_server(options)
            self.assert_nobody_is_there(OTHER_SECRET)
        self.start_server(knows)
        self.cluster.wait_for_workers(self.connection)
        self.assertEqual(self.value(), self.expected)


class Certificates(Trust):
    def test_certificates(self):
        knows = FILES.certificate("node", "ours")
        self.start(FILES.certificate("node", "ours", "--cluster-"), knows)
        self.assert_refused(FILES.certificate("stranger", "others"), "certificate", "certificate")
        # This node trusts the others, but they do not trust it.
        self.assert_refused(FILES.certificate("stranger", "ours"), "certificate", "certificate")
        self.assert_refused(INSECURE, "TLS", "TLS")
        self.assert_admitted(knows)
        self.start_server(FILES.certificate("stranger", "ours", "--cluster-"))
        self.assert_nobody_is_there("certificate")
        self.start_server(INSECURE)
        self.assert_nobody_is_there("TLS")


class Strangers(unittest.TestCase):
    """Strangers cannot read a tile of a worker, remove it, or end the worker."""

    def test_programs_without_a_secret_do_not_start(self):
        for arguments in (("worker", "--listen", "127.0.0.1:0", "--data", "data"),
                          ("--workers", "127.0.0.1:1", ":memory:", "-c", "SELECT 1"),
                          ("serve", ":memory:", "--workers", "127.0.0.1:1", "--listen", "127.0.0.1:0")):  # fmt: skip
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([EINDB, *arguments], capture_output=True, text=True, timeout=240, cwd=folder)
                self.assertEqual(done.returncode, 1, arguments)
                for words in ("without a secret", "--secret-file", "--insecure", "umask 077"):
                    self.assertIn(words, done.stderr)
                self.assertEqual(os.listdir(folder), [], "nothing was made")

    def test_strangers_get_nothing(self):
        cluster = Cluster(1)
        self.addCleanup(cluster.close)
        with cluster.connect() as connection:
            cluster.wait_for_workers(connection)
            connection.execute("CREATE TENSOR Kept AS EINSUM Kept[i 20, j 20] = i + j + 1")
            worker = cluster.workers[0]
            kept = worker.contents()
            address = worker.address
            for statement in ("EINSUM Z[] = SUM(Kept[i,j])", "SELECT SUM(val) FROM Kept", f"DRAIN WORKER '{address}'",
                              "CREATE TENSOR Other AS EINSUM Other[i 9] = i"):  # fmt: skip
                with tempfile.TemporaryDirectory() as folder:
                    copy = os.path.join(folder, "stranger.db")
                    with sqlite3.connect(cluster.database) as original, sqlite3.connect(copy) as target:
                        original.backup(target)
                    command = [EINDB, copy, "--workers", address, *INSECURE, "--heartbeat", "200ms", "-c", statement]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
                    self.assertEqual(done.returncode, 1, statement)
            self.assertEqual(worker.contents(), kept)
            self.assertEqual(connection.execute("EINSUM Z[] = SUM(Kept[i,j])").fetchone()[-1], 8000)
            self.assertEqual(set(cluster.states(connection).values()), {"up"})


class Listening(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.command = [EINDB, "worker", "--listen", "0.0.0.0:0", "--data", os.path.join(folder.name, "data")]

    def test_beyond_this_machine_takes_something_to_show(self):
        done = subprocess.run([*self.command, *INSECURE], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 1)
        for words in ("0.0.0.0:0", "without a secret", "--secret-file FILE", "--tls-ca FILE"):
            self.assertIn(words, done.stderr)
        for options in (("--secret-file", FILES.secret), FILES.certificate("node", "ours")):
            worker = subprocess.Popen([*self.command, *options], stdout=subprocess.PIPE, text=True)
            self.assertIn("listening on port", worker.stdout.readline())
            worker.send_signal(signal.SIGTERM)
            worker.communicate(timeout=240)
            self.assertEqual(worker.returncode, 0)


if __name__ == "__main__":
    unittest.main()

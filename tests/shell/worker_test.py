#!/usr/bin/python3
"""worker_test.py EINDB SCRIPT: tests how `eindb worker` and script/cluster start, refuse and end as programs."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 2 else None
EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None


class WorkerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, *arguments):
        worker = subprocess.Popen([EINDB, "worker", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, cwd=self.folder)
        self.addCleanup(worker.communicate)
        self.addCleanup(worker.kill)
        return worker

    def start_listening(self, *arguments):
        trust = () if "--secret-file" in arguments else ("--insecure",)
        worker = self.start("--listen", "127.0.0.1:0", *trust, *arguments)
        line = worker.stdout.readline()
        self.assertRegex(line, r"^listening on port \d+$")
        worker.port = int(line.split()[-1])
        return worker

    def assert_refused(self, words, *arguments):
        worker = self.start(*arguments)
        _, said = worker.communicate(timeout=240)
        self.assertEqual(worker.returncode, 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_signals_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            worker = self.start_listening("--data", "data")
            worker.send_signal(number)
            self.assertEqual(worker.wait(timeout=240), 0)

    def test_a_directory_has_one_worker(self):
        self.start_listening("--data", "data")
        self.assert_refused(["data"], "--listen", "127.0.0.1:0", "--data", "data", "--insecure")

    def test_mistakes_are_explained(self):
        self.assert_refused(["--data"], "--listen", "127.0.0.1:0")
        self.assert_refused(["secret"], "--listen", "127.0.0.1:0", "--data", "data")
        self.assert_refused(["secret"], "--listen", "0.0.0.0:0", "--data", "data", "--insecure")
        self.assert_refused(["no size of memory", "--memory-limit 2GB"], "--listen", "127.0.0.1:0", "--data", "data",
                            "--memory-limit", "much", "--insecure")
        self.assert_refused(["--tls-ca"], "--listen", "127.0.0.1:0", "--data", "data", "--tls-cert", "a.pem")

    def test_a_secret_is_a_file_of_ones_own(self):
        secret = self.folder / "secret"
        secret.write_text("a secret of many letters\n")
        secret.chmod(0o644)
        self.assert_refused(["secret"], "--listen", "127.0.0.1:0", "--data", "data", "--secret-file", "secret")
        secret.chmod(0o600)
        self.start_listening("--data", "data", "--secret-file", "secret")

    def test_a_database_with_workers_is_not_copied_in_part(self):
        worker = self.start_listening("--data", "data")
        workers = ("--workers", f"127.0.0.1:{worker.port}", "--insecure")
        made = self.run_shell("my.db", *workers, "-c", "CREATE TENSOR A AS EINSUM A[i 9] = i")
        self.assertEqual(made.returncode, 0, made.stderr)
        for arguments in (workers, ()):
            refused = self.run_shell("my.db", *arguments, "-c", ".backup copy.db")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("lies at its workers", refused.stderr)
            self.assertFalse((self.folder / "copy.db").exists())
        refused = self.run_shell("my.db", *workers, "-c", ".open other.db")
        self.assertIn("the workers of this program belong to my.db", refused.stderr)
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=240)

    def run_shell(self, *arguments):
        return subprocess.run([EINDB, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=240)


class ClusterScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def addresses(self, stop):
        cluster = subprocess.Popen([SCRIPT, "2", "data"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder, env=dict(os.environ, EINDB=EINDB))
        self.addCleanup(cluster.communicate)
        self.addCleanup(cluster.kill)
        for line in cluster.stdout:
            if found := re.search(r"--workers (\S+) --secret-file (\S+)", line):
                break
        secret = self.folder / found[2]
        self.assertEqual(secret.stat().st_mode & 0o777, 0o600)
        self.assertGreater(len(secret.read_text()), 32)
        for trust, status in ((("--secret-file", secret), 0), (("--insecure",), 1)):
            shell = [EINDB, self.folder / "my.db", "--workers", found[1], *trust, "-c",
                     "CREATE TENSOR A AS EINSUM A[i 9] = i; EINSUM Z[] = SUM(A[i]); DROP TENSOR A"]
            self.assertEqual(subprocess.run(shell, capture_output=True, timeout=240).returncode, status)
        cluster.send_signal(stop)
        cluster.communicate(timeout=240)
        return found[1].split(",")

    def test_workers_start_and_stop_and_have_their_ports_again(self):
        first = self.addresses(signal.SIGINT)
        self.assertEqual(len(set(first)), 2)
        self.assertEqual(self.addresses(signal.SIGTERM), first)
        for worker in ("worker1", "worker2"):
            # No process locks the directory any more, so the error is about the option.
            done = subprocess.run([EINDB, "worker", "--listen", "127.0.0.1:0", "--data", self.folder / "data" / worker,
                                   "--memory-limit", "much", "--insecure"], capture_output=True, text=True, timeout=240)
            self.assertIn("no size of memory", done.stderr)

    def test_how_it_is_used(self):
        done = subprocess.run([SCRIPT, "none"], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 1)
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""A cluster of processes on this machine: `eindb worker` on loopback, each with its own threads, and the shell."""

import os
import secrets
import select
import subprocess

from eindb_process import Eindb, EindbError

START_SECONDS = 20
END_SECONDS = 20


class Worker:
    """`eindb worker` on a free port, with its data in `folder`."""

    def __init__(self, program, folder, threads, secret, options=()):
        os.makedirs(folder, exist_ok=True)
        self._log = open(os.path.join(folder, "log"), "w")
        command = [program, "--threads", str(threads), "worker", "--listen", "127.0.0.1:0", "--data", folder]
        command += ["--secret-file", secret, *options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True)
        if not select.select([self._process.stdout], [], [], START_SECONDS)[0]:
            self.close()
            raise EindbError("a worker does not say that it listens")
        port = self._process.stdout.readline().split()
        if port[:-1] != ["listening", "on", "port"]:
            self.close()
            raise EindbError(f"a worker did not start: {self._log.name} has why")
        self.address = f"127.0.0.1:{port[-1]}"

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()


class LocalCluster:
    """A number of workers, and a shell whose tensors lie at them. `shell` executes statements."""

    def __init__(self, program, folder, workers, threads=1, options=(), worker_options=()):
        self.workers = []
        self.shell = None
        try:
            secret = os.path.join(folder, "secret")
            with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(secrets.token_hex() + "\n")
            for n in range(workers):
                self.workers.append(Worker(program, os.path.join(folder, f"worker{n}"), threads, secret, worker_options))
            addresses = ",".join(self.reached_by(worker.address) for worker in self.workers)
            self.shell = Eindb(program, folder, ["--workers", addresses, "--secret-file", secret, *options])
        except BaseException:
            self.close()
            raise

    def reached_by(self, address):
        """The address at which the coordinator reaches a worker."""
        return address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.shell:
            self.shell.close()
        for worker in self.workers:
            worker.close()


def last_step(plan):
    """The last step of an explained statement of a cluster, which delivers the result to the rank that asked for it."""
    return plan["steps"][-1]

"""Clients that run transactions on a database file: by its server, by the shell, and by a program of the C++ API."""

import os
import select
import signal
import subprocess
import threading
import time

import psycopg

# A client without an answer after this time counts as hung. The statement_timeout of statements is far shorter.
PATIENCE = float(os.environ.get("EINDB_PATIENCE", "240"))


class Failed(Exception):
    """The client was told that the transaction had no effect."""


class Lost(Exception):
    """The other side, or the client itself, ended before the client got an answer."""


class Hung(Exception):
    """There was no answer in time."""


class Timed:
    """Records the longest time of a statement with a time-out, from the request to the answer."""

    def __init__(self):
        self.longest = 0.0

    def timed(self, ask, *arguments):
        began = time.monotonic()
        try:
            return ask(*arguments)
        finally:
            self.longest = max(self.longest, time.monotonic() - began)


class ServerClient(Timed):
    """A client that connects to the server, again whenever the connection ends."""

    name = "server"

    def __init__(self, connect):
        super().__init__()
        self._connect = connect
        self._connection = None

    def run(self, statements):
        """The rows of each statement. Several statements form one transaction."""
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._connect()
        except psycopg.Error as error:
            raise Failed(f"no connection: {error}") from None
        try:
            if len(statements) > 1:
                self._rows("BEGIN")
            rows = [self._rows(statement) for statement in statements]
            if len(statements) > 1:
                self._rows("COMMIT")
            return rows
        except psycopg.Error as error:
            self._give_up(error)

    def _rows(self, statement):
        cursor = self.timed(self._connection.execute, statement)
        return cursor.fetchall() if cursor.description else []

    def _give_up(self, error):
        if self._connection.closed or self._connection.broken or error.sqlstate in (None, "57P01", "08006"):
            self._connection.close()
            raise Lost(str(error)) from None
        try:
            if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._connection.close()
        raise Failed(f"{error.sqlstate} {error}") from None

    def close(self):
        if self._connection is not None:
            self._connection.close()


class ShellClient(Timed):
    """A client that starts the shell for each transaction, which opens the file, and closes it at its end."""

    name = "shell"

    def __init__(self, command):
        super().__init__()
        self._command = command
        self._lock = threading.Lock()  # guards _process
        self._process = None

    def run(self, statements):
        texts = ["SET statement_timeout = '10s'"]
        texts += ["BEGIN"] if len(statements) > 1 else []
        for number, statement in enumerate(statements):
            texts += [f"SELECT '#{number}'", statement]
        texts += ["COMMIT"] if len(statements) > 1 else []
        with self._lock:
            self._process = subprocess.Popen(
                [*self._command, "--csv", "--noheader", "-c", ";\n".join(texts)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        wait = self._process.communicate
        try:
            # The times of several statements cannot be told apart.
            output, errors = self.timed(wait, None, PATIENCE) if len(statements) == 1 else wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Hung("the shell") from None
        if self._process.returncode < 0:
            raise Lost("killed") if self._process.returncode == -signal.SIGKILL else Hung(f"died: {errors}")
        if self._process.returncode != 0:
            raise Failed(errors)
        rows = [part.splitlines()[1:] for part in output.split("#")[1:]]
        return [[line.split(",") for line in lines] for lines in rows]

    def kill(self):
        """Kills the process. Returns whether there was one."""
        with self._lock:
            runs = self._process is not None and self._process.poll() is None
            if runs:
                self._process.kill()
            return runs

    def close(self):
        self.kill()


class ApiProgram:
    """A process with several connections of the C++ API to one file. It is started again after it was killed."""

    def __init__(self, command):
        self._command = command
        self._lock = threading.Lock()  # one statement at a time, as the process has one thread
        self._process = None
        self._received = b""

    def _start(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._received = b""

    def _line(self):
        """The next line of output, or None if the process has ended."""
        while b"\n" not in self._received:
            if not select.select([self._process.stdout], [], [], PATIENCE)[0]:
                self.kill()
                raise Hung("the program of the API")
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self._received += data
        line, self._received = self._received.split(b"\n", 1)
        return line.decode()

    def _ask(self, line):
        try:
            self._process.stdin.write((line + "\n").encode())
        except OSError:
            raise Lost("killed") from None
        rows = []
        while True:
            answer = self._line()
            if answer is None:
                raise Lost("killed")
            if answer.startswith("error "):
                raise Failed(answer[len("error ") :])
            if answer == "ok":
                return rows
            rows.append(answer.split("\t")[1:])

    def run(self, connection, statements):
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self.end()
                self._start()
            if len(statements) == 1:
                return [self._ask(f"{connection} {statements[0]}")]
            self._ask(f"{connection} BEGIN")
            try:
                rows = [self._ask(f"{connection} {statement}") for statement in statements]
                self._ask(f"{connection} COMMIT")
            except Failed:
                try:
                    self._ask(f"{connection} ROLLBACK")
                except Failed:
                    pass  # the failed statement has rolled back the transaction
                raise
            return rows

    def reopen(self, connection):
        """Closes and opens a connection beside the other ones of the process. Returns whether there is a process."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                return False
            try:
                self._ask(f"{connection} close")
                self._ask(f"{connection} open")
            except (Failed, Lost):
                pass
            return True

    def kill(self):
        """Kills the process. Returns whether there was one."""
        runs = self._process is not None and self._process.poll() is None
        if runs:
            self._process.kill()
        return runs

    def end(self):
        self.kill()
        if self._process is not None:
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


class ApiClient(Timed):
    """One connection of a program. It has no time-outs."""

    name = "api"

    def __init__(self, program, connection):
        super().__init__()
        self._program = program
        self._connection = connection

    def run(self, statements):
        return self._program.run(self._connection, statements)

    def close(self):
        pass

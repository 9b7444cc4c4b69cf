"""Records the bytes that real clients send, as seeds of the fuzz target over the backend.

    record_client_bytes.py EINDB FOLDER        # FOLDER: tests/fuzz/seeds/backend

Each connection of a client becomes two seeds. `<client>` contains its bytes, and `<client>.messages` the messages of
its session without their lengths, which the fuzz target inserts. A client that connects more than once has
`<client>-1`, too. Run this program again when clients send something new. It replaces recorded seeds, and keeps those
written by hand (`hand-*`).
"""

import asyncio
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading

import asyncpg
import psycopg
import psycopg2

from served import Server

# The first byte of a seed, as in backend_fuzz.cpp. If it is even, the bytes of a whole connection follow, otherwise the
# messages of a session. The other bits are set, so that the bytes arrive in large pieces.
BYTES = b"\xfe"
MESSAGES = b"\xff"
END_OF_MESSAGE = b"\x1e"
EINSUM = "EINSUM Z[i] = SUM(X[i,j])"


class Recorder:
    """A proxy in front of the server, for one client at a time."""

    def __init__(self, server_port):
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._connections = []
        self._threads = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self._listener.accept()
            recorded = bytearray()
            self._connections.append(recorded)
            thread = threading.Thread(target=self._pass_on, args=(client, recorded))
            self._threads.append(thread)
            thread.start()

    def _pass_on(self, client, recorded):
        with client, socket.create_connection(("127.0.0.1", self._server_port)) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for side in ready:
                    data = side.recv(1 << 16)
                    if not data:
                        return
                    if side is client:
                        recorded += data
                    (server if side is client else client).sendall(data)

    def take(self):
        """The bytes of the connections that have begun and ended since the last call."""
        threads, self._threads = self._threads, []
        for thread in threads:
            thread.join(20)
        taken, self._connections = self._connections, []
        return [bytes(recorded) for recorded in taken]


# ---- The clients -----------------------------------------------------------------------------------------------------


def run(command, port, text=None):
    # Requests for encryption are disabled. The server answers them before it accepts other bytes, and ends a connection
    # that sends bytes behind one.
    environment = {**os.environ, "PGSSLMODE": "disable", "PGGSSENCMODE": "disable"}
    place = ["-h", "127.0.0.1", "-p", str(port), "-U", "ada"]
    subprocess.run([*command[:1], *place, *command[1:]], input=text, text=True, env=environment, check=False, timeout=60,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


def psql_statements(port):
    text = f"{EINSUM};\nSELECT name, n * 1.5 FROM t;\nBEGIN; INSERT INTO t VALUES ('c', 3); SELECT nope; ROLLBACK;\n"
    run(["psql", "-X", "-d", "s"], port, text + "SELECT n FROM t \\gdesc\nSET result_format = 'array';\nSHOW TimeZone;\n")


def psql_catalog(port):
    commands = ["\\d", "\\d X", "\\d t", "\\dt", "\\l", "\\dn", "\\df", "\\du", "\\dv", "\\di", "\\dT", "\\conninfo"]
    run(["psql", "-X", "-d", "s"], port, "\n".join(commands) + "\n")


def psql_copy(port):
    text = "COPY t FROM STDIN;\nd\t4\n\\.\nCOPY t TO STDOUT (FORMAT csv, HEADER);\nCOPY X TO STDOUT (FORMAT binary);\n"
    run(["psql", "-X", "-d", "s"], port, text)


def psql_cursor(port):
    run(["psql", "-X", "-d", "s", "-v", "FETCH_COUNT=2", "-c", "SELECT i, j, val FROM X"], port)


def pgbench(mode):
    def client(port):
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
            script.write("\\set k random(1, 2)\nSELECT name FROM t WHERE n = :k;\n" + EINSUM + ";\n")
            script.flush()
            run(["pgbench", "-n", "-t", "2", "-M", mode, "-f", script.name, "s"], port)

    return client


def arguments(port):
    return {"host": "127.0.0.1", "port": port, "user": "ada", "dbname": "s", "sslmode": "disable", "gssencmode": "disable"}


def psycopg2_values(port):
    connection = psycopg2.connect(**arguments(port))
    cursor = connection.cursor()
    cursor.execute(EINSUM)
    cursor.execute("SELECT *, NULL FROM t WHERE n = %s", (2,))
    cursor.execute("INSERT INTO t VALUES (%s, %s)", ("it's", 3))
    connection.rollback()
    connection.close()


def psycopg3_values(port):
    with psycopg.connect(**arguments(port)) as connection:
        connection.execute("EINSUM Z[i] = SUM(X[i,j]) * %s", (2.5,))
        connection.execute("SELECT i, j, val FROM X WHERE i = %s AND j > %s", (1, 2), binary=True)
        for n in range(7):
            connection.execute("SELECT %s + 1", (n,), prepare=True)


def psycopg3_pipeline(port):
    with psycopg.connect(**arguments(port), autocommit=True) as connection:
        try:
            with connection.pipeline():
                connection.execute("INSERT INTO t VALUES ('z', %s)", (26,))
                connection.execute("SELECT nope")
                connection.execute("SELECT 1")
        except psycopg.Error:
            pass


def asyncpg_values(port):
    async def session():
        connection = await asyncpg.connect(host="127.0.0.1", port=port, user="ada", database="s", ssl=False)
        await connection.fetch("EINSUM Z[i] = SUM(X[i,j]) * $1", 2.0)
        await connection.executemany("INSERT INTO t VALUES ($1::text, $2::int8)", [("p", 1), ("q", 2)])
        async with connection.transaction():
            async for _ in connection.cursor("SELECT i, j FROM X", prefetch=5):
                pass
        await connection.close()

    asyncio.run(session())


CLIENTS = {
    "psql-statements": psql_statements,
    "psql-catalog": psql_catalog,
    "psql-copy": psql_copy,
    "psql-cursor": psql_cursor,
    "pgbench-simple": pgbench("simple"),
    "pgbench-extended": pgbench("extended"),
    "pgbench-prepared": pgbench("prepared"),
    "psycopg2": psycopg2_values,
    "psycopg3": psycopg3_values,
    "psycopg3-pipeline": psycopg3_pipeline,
    "asyncpg": asyncpg_values,
}


def messages(recorded):
    """(type, body) of each message after the startup message."""
    at = int.from_bytes(recorded[:4], "big")
    while at < len(recorded):
        length = int.from_bytes(recorded[at + 1 : at + 5], "big")
        yield recorded[at : at + 1], recorded[at + 5 : at + 1 + length]
        at += 1 + length


def write_seeds(path, recorded):
    with open(path, "wb") as file:
        file.write(BYTES + recorded)
    of_session = b"".join(kind + body + END_OF_MESSAGE for kind, body in messages(recorded))
    with open(path + ".messages", "wb") as file:
        file.write(MESSAGES + of_session)


def record(name, client, folder):
    # Each client gets a fresh database.
    server = Server()
    recorder = Recorder(server.port)
    client(recorder.port)
    connections = recorder.take()
    server.close()
    for n, recorded in enumerate(connections):
        write_seeds(os.path.join(folder, name if n == 0 else f"{name}-{n}"), recorded)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if not name.startswith("hand-"):
            os.remove(os.path.join(folder, name))
    for name, client in CLIENTS.items():
        record(name, client, folder)


if __name__ == "__main__":
    main()

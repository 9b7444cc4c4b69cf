"""Counts the bytes between a coordinator and four workers for statements over a tensor of many small tiles.

Hardly any of these bytes are values: a cell and a sum are single numbers. So they tell how what workers are told about a
statement, and what they report, grow with the number of tiles. Proxies in front of the workers count the bytes.
"""

import contextlib
import socket
import tempfile
import threading
import time

from case import Outcome
from local_cluster import LocalCluster

WORKERS = 4
TILES = 200_000
QUICK_TILES = 20_000
ELEMENTS_OF_A_TILE = 4


class CountingProxy:
    """Passes what the coordinator and a worker tell each other, and counts it."""

    def __init__(self, target):
        host, port = target.rsplit(":", 1)
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.bytes = 0  # of both directions
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                worker = socket.create_connection(self._target)
                for source, target in ((client, worker), (worker, client)):
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 18):
                with self._lock:
                    self.bytes += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self):
        self._listener.close()


class CountedCluster(LocalCluster):
    """Its `shell` runs also small statements at the workers."""

    def __init__(self, program, folder):
        self.proxies = []
        super().__init__(program, folder, WORKERS, options=["--heartbeat", "60s"])
        self.shell.execute("SET small_statements = 'workers'")

    def reached_by(self, address):
        self.proxies.append(CountingProxy(address))
        return self.proxies[-1].address

    def bytes(self):
        return sum(proxy.bytes for proxy in self.proxies)

    def close(self):
        super().close()
        for proxy in self.proxies:
            proxy.close()


# A statement, and the bytes that it may take beside those for each tile. An update stores new tiles: workers report size
# and checksum of each.
STATEMENTS = {
    "a cell": ("EINSUM c[] = A[12345]", 10_000, 0),
    "SUM": ("EINSUM s[] = SUM(A[i])", 20_000, 0),
    "UPDATE of all": ("UPDATE TENSOR A[i] = A[i] * 2", 100_000, 15),
    "UPDATE of a cell": ("UPDATE TENSOR A[5] = 7", 10_000, 0),
}


def run(options):
    tiles = QUICK_TILES if options.quick else TILES
    with tempfile.TemporaryDirectory(prefix="eindb-cluster-") as folder:
        with CountedCluster(options.program, folder) as cluster:
            cluster.shell.execute(
                f"CREATE TENSOR A PARTITION ({tiles}) AS EINSUM A[i {ELEMENTS_OF_A_TILE * tiles}] = i"
            )
            for name, (statement, fixed, of_tile) in STATEMENTS.items():
                if not options.selects(name):
                    continue
                cluster.shell.execute("SELECT 1")  # what was left of the statement before is settled
                before = cluster.bytes()
                start = time.perf_counter()
                cluster.shell.execute(statement)
                seconds = time.perf_counter() - start
                cluster.shell.execute("SELECT 1")
                outcome = Outcome("metadata", f"{name} of {tiles} tiles, {WORKERS} workers", {"statement": seconds})
                outcome.add("bytes", cluster.bytes() - before, at_most=fixed + of_tile * tiles)
                yield outcome

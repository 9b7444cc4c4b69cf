"""The context that every group of measurements receives: both servers and their clients, on cores of their own."""

import os
import re

from load import Load
from servers import Eindb, Postgres


class Contestant:
    """A server and its clients."""

    def __init__(self, server, load):
        self.server = server
        self.load = load
        self._has_clients = False

    @property
    def name(self):
        return self.server.name

    def open_clients(self, options):
        """Opens the idle connections and those that send statements, unless they are open."""
        if not self._has_clients:
            self.load.ask(f"active {options.active}")
            self.load.ask(f"idle {options.idle}")
            self._has_clients = True

    def close(self):
        self.load.close()
        self.server.close()


class Contest:
    """The servers share one core, and the clients have the others. So the statements per second of a server are those
    of one core. If there is only one core, all share it."""

    def __init__(self, options, folder):
        self.options = options
        self._folder = folder
        self._selected = re.compile(options.cases)
        first, *others = sorted(os.sched_getaffinity(0))
        self.server_cores, self.client_cores = {first}, set(others) or {first}
        self._contestants = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._close()

    def selects(self, case):
        return self._selected.search(case) is not None

    def machine(self):
        return {"cores": len(os.sched_getaffinity(0)), "server cores": len(self.server_cores)}

    def contestants(self):
        """Both contestants, in the order of their turns. They are started once and serve all groups."""
        return self._contestants or self.start_again()

    def start_again(self):
        """Starts both servers again, without clients and without any state of earlier ones."""
        self._close()
        options = self.options
        connections = options.idle + options.active + options.slow + 100
        for make in (
            lambda: Eindb(options.build, self._folder, self.server_cores),
            lambda: Postgres(self._folder, self.server_cores, connections),
        ):
            server = make()
            self._contestants.append(Contestant(server, Load(options.build, server, self.client_cores)))
        return self._contestants

    def _close(self):
        for contestant in self._contestants:
            contestant.close()
        self._contestants = []

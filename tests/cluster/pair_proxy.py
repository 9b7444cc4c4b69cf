"""A proxy that harms the data connections of one node: two workers cannot reach each other, and all other pairs can."""

import socket
import struct

from nodes import Proxy

DATA = 2  # the purpose of a data connection
HEAD = struct.Struct("<4sHBBI")
NONCE = 32
# A connection of kind "late" is authenticated and bound to a statement before it hangs. These bytes contain the two
# messages before the one that binds it, and that message.
PASSED_BYTES = 150


class PairProxy(Proxy):
    """Harms the data connections of the node with a given name. They are refused ("refuse"), hang from their beginning
    ("stall"), or hang after the first messages ("late")."""

    def __init__(self, port):
        self._how = None
        self._whom = ""
        self._names = {}  # of the nodes that have opened data connections
        super().__init__(port)

    @staticmethod
    def _name_of(client):
        """The name in the first message of the handshake, or None for a control connection."""
        try:
            client.settimeout(5)
            hello = client.recv(HEAD.size, socket.MSG_PEEK | socket.MSG_WAITALL)
            size = HEAD.unpack(hello)[-1]
            hello = client.recv(HEAD.size + size, socket.MSG_PEEK | socket.MSG_WAITALL)
            client.settimeout(None)
        except (OSError, struct.error):
            return None
        body = hello[HEAD.size:]
        return body[NONCE + 1:].decode() if body[NONCE] == DATA else None

    def _is_harmed(self, client, how):
        return self._how == how and self._names.get(client) == self._whom

    def _serve(self, client, worker):
        self._names[client] = self._name_of(client)
        if self._is_harmed(client, "refuse"):
            client.close()
            worker.close()
            return
        super()._serve(client, worker)

    def _holds(self, source, passed):
        if super()._holds(source, passed) or self._is_harmed(source, "stall"):
            return True
        return passed > PASSED_BYTES and self._is_harmed(source, "late")

    def harm(self, how, whom):
        self._whom = whom
        self._how = how
        for client in [client for client in list(self._names) if self._is_harmed(client, "refuse")]:
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the connection is closed already

    def heal(self):
        self._how = None

"""Clients send bytes that no correct client sends. The server refuses them, continues for all other clients, and keeps
nothing of them.

    hostile_test.py EINDB
"""

import contextlib
import os
import socket
import sqlite3
import struct
import time
import unittest

from served import WithServer
from waiting import wait_until

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
MEBIBYTE = 1 << 20


# ---- Messages --------------------------------------------------------------------------------------------------------


def message(kind, body=b""):
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(**parameters):
    pairs = b"".join(name.encode() + b"\0" + value.encode() + b"\0" for name, value in parameters.items())
    return struct.pack("!ii", len(pairs) + 9, 3 << 16) + pairs + b"\0"


def query(text):
    return message(b"Q", text.encode() + b"\0")


def parse(name, text, types=()):
    count = struct.pack("!h", len(types))
    return message(b"P", name.encode() + b"\0" + text.encode() + b"\0" + count + struct.pack(f"!{len(types)}i", *types))


def bind(portal="", statement="", values=(), formats=(), results=()):
    body = portal.encode() + b"\0" + statement.encode() + b"\0"
    body += struct.pack(f"!h{len(formats)}h", len(formats), *formats) + struct.pack("!h", len(values))
    for value in values:
        body += struct.pack("!i", len(value)) + value
    return message(b"B", body + struct.pack(f"!h{len(results)}h", len(results), *results))


def describe(kind, name=""):
    return message(b"D", kind + name.encode() + b"\0")


def execute(portal="", most=0):
    return message(b"E", portal.encode() + b"\0" + struct.pack("!i", most))


def close(kind, name=""):
    return message(b"C", kind + name.encode() + b"\0")


SYNC = message(b"S")
FLUSH = message(b"H")
TERMINATE = message(b"X")


class Client:
    """A connection that sends arbitrary bytes."""

    def __init__(self, server, **parameters):
        self.socket = server.socket()
        self._received = b""
        self.socket.sendall(startup(**{"user": "ada", "database": "s", **parameters}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *messages):
        self.socket.sendall(b"".join(messages))

    def receive(self):
        """(kind, body) of the next message, or None if the server has closed the connection."""
        while len(self._received) < 5 or len(self._received) < 1 + struct.unpack("!i", self._received[1:5])[0]:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self._received += data
        end = 1 + struct.unpack("!i", self._received[1:5])[0]
        taken, self._received = self._received[:end], self._received[end:]
        return taken[:1], taken[5:]

    def until_ready(self):
        """The kinds of messages up to ReadyForQuery, which is the last one, Z. SQLSTATEs replace errors."""
        kinds = []
        while (received := self.receive()) is not None:
            kind, body = received
            kinds.append(code_of(body) if kind == b"E" else kind.decode())
            if kind == b"Z":
                break
        return kinds

    def ask(self, *messages):
        self.send(*messages)
        return self.until_ready()

    def rest(self):
        """The kinds of all messages up to the end of the connection. SQLSTATEs replace errors."""
        kinds = []
        while (received := self.receive()) is not None:
            kinds.append(code_of(received[1]) if received[0] == b"E" else received[0].decode())
        return kinds


def code_of(body):
    return next(field[1:].decode() for field in body.split(b"\0") if field[:1] == b"C")


# ---- The tests -------------------------------------------------------------------------------------------------------


class Hostile(WithServer):
    def setUp(self):
        before = self.sockets()
        self.addCleanup(self.check_server, before)  # it runs after all other cleanups, when clients have left

    def check_server(self, sockets_before):
        self.assertEqual(self.server.psql("-c", "SELECT 1").stdout, "1\n", "others are answered")
        self.assertTrue(wait_until(lambda: self.sockets() <= sockets_before), "no descriptor is left")

    def sockets(self):
        """The number of the server's open sockets. Pooled sessions keep files open, so only sockets are counted."""
        folder = f"/proc/{self.server.process.pid}/fd"
        links = []
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                links.append(os.readlink(os.path.join(folder, name)))
        return sum(link.startswith("socket:") for link in links)

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def client(self, **parameters):
        client = Client(self.server, **parameters)
        self.addCleanup(client.socket.close)
        self.assertEqual(client.until_ready()[-1], "Z")
        return client

    def check_goes_on(self, client):
        self.assertEqual(client.ask(query("SELECT 1")), ["T", "D", "C", "Z"])

    def check_ends(self, *messages, code="08P01"):
        """The connection ends, and this error is its last message."""
        client = self.client()
        client.send(*messages)
        self.assertEqual(client.rest()[-1:], [code])


class Beginnings(Hostile):
    def test_a_setting_that_is_refused_is_no_internal_error(self):
        with Client(self.server, client_encoding="EBCDIC") as client:
            self.assertEqual(client.rest(), ["22023"])

    def test_a_beginning_without_a_user_or_without_an_end(self):
        for bytes_ in (startup(database="s"), struct.pack("!ii", 12, 3 << 16) + b"user", struct.pack("!ii", 9, 2 << 16) + b"\0",
                       struct.pack("!ii", 10004, 3 << 16), struct.pack("!i", -1), struct.pack("!ii", 8, 80877102)):  # fmt: skip
            with self.server.socket() as client:
                client.sendall(bytes_)
                client.shutdown(socket.SHUT_WR)
                received = b""
                while data := client.recv(4096):
                    received += data
                self.assertNotIn(b"XX000", received, bytes_)

    def test_a_second_beginning(self):
        """A second startup packet is read as a message whose announced length exceeds the bytes sent."""
        client = self.client()
        client.send(startup(user="ada"))
        client.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(client.rest(), [])


class ZeroBytes(Hostile):
    """Texts of the protocol end at a zero byte. So zero bytes of values do not get into errors or other texts."""

    def errors(self, *messages):
        """The fields of each error by their letters. Each message must be complete, and end after its last field."""
        client = self.client()
        client.send(*messages)
        errors = []
        while (received := client.receive()) is not None and received[0] != b"Z":
            if received[0] == b"E":
                fields = received[1].split(b"\0")
                self.assertEqual(fields[-2:], [b"", b""])
                errors.append({field[:1].decode(): field[1:].decode() for field in fields[:-2]})
        self.check_goes_on(client)
        return errors

    def test_in_a_parameter(self):
        for type_, formats, value in ((20, (), b"\0"), (25, (), b"a\0b"), (25, (1,), b"a\0b"), (25, (), b"\xff")):
            (error,) = self.errors(parse("", "SELECT $1", [type_]), bind(values=[value], formats=formats), SYNC)
            self.assertEqual(error["C"], "22021")
            self.assertIn("invalid byte sequence for encoding \"UTF8\": 0x", error["M"])

    def test_in_a_value_that_an_error_quotes(self):
        """The error quotes a blob from a column that was described to the client as an integer."""
        self.errors(query("CREATE TABLE zero (n INTEGER)"))
        with contextlib.closing(sqlite3.connect(self.server.database)) as other:
            other.execute("INSERT INTO zero VALUES (x'610062ff')")
            other.commit()
        (error,) = self.errors(parse("", "SELECT n FROM zero"), describe(b"S"), bind(), execute(), SYNC)
        self.assertIn("the value '\\x610062ff' is no", error["M"])


class Lengths(Hostile):
    def test_counts_that_lie(self):
        """Bind and Parse are refused if counts are negative, or larger than the message can hold."""
        name = b"\0\0"
        for body in (
            name + struct.pack("!h", -1),  # formats
            name + struct.pack("!h", 32767),
            name + struct.pack("!hh", 0, -1),  # values
            name + struct.pack("!hh", 0, 32767),
            name + struct.pack("!hhi", 0, 1, -2),  # a value's length
            name + struct.pack("!hhi", 0, 1, 0x7FFFFFFF) + b"x",
            name + struct.pack("!hhih", 0, 1, -1, -1),  # formats of results
            name + struct.pack("!hhi", 0, 1, 5) + b"12345",  # no formats of results
            b"no end",
        ):
            with self.subTest(body):
                self.check_ends(message(b"B", body))
        for body in (b"s\0SELECT 1\0" + struct.pack("!h", -1), b"s\0SELECT 1\0" + struct.pack("!h", 32767), b"s\0SELECT 1", b""):
            with self.subTest(body):
                self.check_ends(message(b"P", body))

    def test_messages_with_too_much_or_too_little(self):
        for sent in (message(b"S", b"x"), message(b"E", b"\0\0\0"), message(b"D", b"X\0"), message(b"C", b""), message(b"Q", b""),
                     message(b"Q", b"SELECT 1"), message(b"Q", b"SELECT 1\0SELECT 2\0"), message(b"H", b"\0"), message(b"?")):  # fmt: skip
            with self.subTest(sent):
                self.check_ends(sent)

    def test_a_gibibyte_that_is_announced_takes_no_memory(self):
        before = self.resident()
        clients = [self.client() for _ in range(20)]
        for client in clients:
            client.send(b"Q" + struct.pack("!i", MEBIBYTE * 1024 - 1) + b"SELECT 1")
        time.sleep(0.3)
        self.assertLess(self.resident() - before, 16 * MEBIBYTE)
        for client in clients:
            client.socket.close()

    def test_more_than_a_gibibyte_is_refused_at_once(self):
        self.check_ends(b"Q" + struct.pack("!i", 0x7FFFFFFF), code="54000")


class Order(Hostile):
    def test_what_does_not_exist(self):
        client = self.client()
        for messages, code in (
            ([bind(statement="absent")], "26000"),
            ([describe(b"S", "absent")], "26000"),
            ([describe(b"P", "absent")], "34000"),
            ([execute("absent")], "34000"),
            ([execute()], "34000"),
        ):
            self.assertEqual(client.ask(*messages, SYNC), [code, "Z"])
        self.assertEqual(client.ask(close(b"S", "absent"), close(b"P", "absent"), SYNC), ["3", "3", "Z"])

    def test_what_exists_already(self):
        client = self.client()
        self.assertEqual(client.ask(parse("s", "SELECT 1"), parse("s", "SELECT 2"), SYNC), ["1", "42P05", "Z"])
        self.assertEqual(client.ask(bind("p", "s"), bind("p", "s"), SYNC), ["2", "42P03", "Z"])
        self.assertEqual(client.ask(bind("", "s"), execute(), SYNC), ["2", "D", "C", "Z"])

    def test_there_is_no_parameter_zero(self):
        client = self.client()
        for text in ("SELECT $0::bool", "SELECT $1::int8, $0::bool", "SELECT $18446744073709551615", "SELECT $65536"):
            found = client.ask(parse("", text), bind(values=[b"1"]), describe(b"P"), execute(), SYNC)
            self.assertNotEqual(found[-2:], ["C", "Z"], text)
        self.check_goes_on(client)

    def test_numbers_and_formats_of_values(self):
        client = self.client()
        client.ask(parse("s", "SELECT $1 + 1", [20]), SYNC)
        for sent, code in (
            (bind(statement="s"), "08P01"),
            (bind(statement="s", values=[b"1", b"2"]), "08P01"),
            (bind(statement="s", values=[b"1"], formats=[1]), "22P03"),
            (bind(statement="s", values=[b"one"]), "22P02"),
        ):
            self.assertEqual(client.ask(sent, SYNC), [code, "Z"])
        self.check_goes_on(client)
        for sent in (bind(statement="s", values=[b"1"], formats=[2]), bind(statement="s", values=[b"1"], formats=[0, 1]),
                     bind(statement="s", values=[b"1"], results=[-1])):  # fmt: skip
            self.check_ends(parse("s", "SELECT $1 + 1", [20]), sent)

    def test_formats_of_results_that_there_are_no_columns_for(self):
        client = self.client()
        found = client.ask(parse("", "SELECT 1, 2, 3"), bind(results=[1, 0]), describe(b"P"), execute(), SYNC)
        self.assertEqual(found, ["1", "2", "08P01", "Z"])

    def test_errors_within_errors(self):
        """After an error all messages up to Sync are skipped, including those that would cause further errors."""
        client = self.client()
        found = client.ask(parse("", "SELEC"), execute("absent"), parse("", "SELECT 1"), bind(statement="absent"), SYNC)
        self.assertEqual(found, ["42601", "Z"])
        found = client.ask(query("BEGIN"), query("SELECT nope"))
        self.assertEqual(found + client.until_ready(), ["C", "Z", "42703", "Z"])
        self.assertEqual(client.ask(execute("absent"), query("SELECT 1"), SYNC), ["34000", "Z"])
        self.assertEqual(client.ask(query("SELECT 1")), ["25P02", "Z"])
        self.assertEqual(client.ask(query("ROLLBACK")), ["C", "Z"])
        self.check_goes_on(client)

    def test_comments_that_end_for_one_and_not_for_the_other(self):
        """Comments nest by PostgreSQL's rules, and not by eindb's. The text is a statement by one of the rules only."""
        client = self.client()
        self.assertEqual(client.ask(query("/* /* */")), ["I", "Z"])
        self.assertEqual(client.ask(parse("", "/* /* */"), bind(), execute(), SYNC), ["1", "2", "I", "Z"])
        self.check_goes_on(client)

    def test_parameters_of_statements_about_others(self):
        client = self.client()
        self.assertEqual(client.ask(query("PREPARE p AS SELECT $1 + 1"))[-1], "Z")
        self.assertEqual(client.ask(parse("s", "EXECUTE p($1)"), describe(b"S", "s"), SYNC)[:2], ["1", "t"])
        self.check_goes_on(client)

    def test_discard_all_in_a_transaction(self):
        client = self.client()
        client.ask(query("CREATE TABLE kept (n)"))
        client.ask(query("BEGIN"))
        client.ask(query("INSERT INTO kept VALUES (1)"))
        self.assertEqual(client.ask(query("DISCARD ALL")), ["25001", "Z"])
        self.assertEqual(client.ask(query("ROLLBACK")), ["C", "Z"])
        found = client.ask(parse("", "INSERT INTO kept VALUES (2)"), bind(), execute(),
                           parse("", "DISCARD ALL"), bind(), execute(), SYNC)  # fmt: skip
        self.assertEqual(found[-2:], ["25001", "Z"])
        self.assertEqual(client.ask(query("DISCARD ALL")), ["C", "Z"])
        self.assertEqual(client.ask(query("SELECT * FROM kept")), ["T", "C", "Z"])

    def test_functions_with_numbers_of_arguments_and_values_at_the_edge(self):
        client = self.client()
        self.assertNotIn("C", client.ask(query("SELECT parse_ident()")))
        self.assertNotIn("C", client.ask(query("SELECT array_to_string('{1}')")))
        for text in ("SELECT right('abc', -9223372036854775807 - 1)", "SELECT (ARRAY[1, 2])[-9223372036854775807 - 1]"):
            self.assertEqual(client.ask(query(text))[-2:], ["C", "Z"], text)
        self.check_goes_on(client)

    def test_a_query_between_parse_and_sync(self):
        client = self.client()
        found = client.ask(parse("s", "SELECT 7"), bind("p", "s"), query("SELECT 1"))
        self.assertEqual(found, ["1", "2", "T", "D", "C", "Z"])
        self.check_goes_on(client)

    def test_copy_data_that_nobody_asked_for(self):
        client = self.client()
        client.send(message(b"d", b"x" * 1000), message(b"c"), message(b"f", b"no\0"))
        self.check_goes_on(client)

    def test_rows_that_are_copied_from_copies(self):
        client = self.client()
        text = "COPY (" * 100000 + "SELECT 1" + ") TO STDOUT" * 100000
        self.assertEqual(client.ask(query(text)), ["42601", "Z"])
        self.check_goes_on(client)

    def test_other_messages_while_rows_are_copied(self):
        client = self.client()
        client.send(query("COPY t FROM STDIN"))
        self.assertEqual(client.receive()[0], b"G")
        self.assertEqual(client.ask(FLUSH, SYNC, message(b"d", b"x\t1\n"), query("SELECT 1")), ["08P01", "Z"])
        client.send(query("COPY t FROM STDIN (FORMAT binary)"))
        self.assertEqual(client.receive()[0], b"G")
        self.assertEqual(client.ask(message(b"d", b"PGCOPY\n\xff\r\n\0" + b"\0" * 8 + b"\x7f\xff")), ["22P04", "Z"])
        self.check_goes_on(client)
        self.assertEqual(self.server.psql("-c", "SELECT COUNT(*) FROM t").stdout, "2\n")

    def test_passwords_and_calls_of_functions_in_a_session(self):
        client = self.client()
        self.assertEqual(client.ask(message(b"F", b"\0" * 14)), ["0A000", "Z"])
        self.check_goes_on(client)
        self.check_ends(message(b"p", b"secret\0"))

    def test_what_follows_the_end_is_not_run(self):
        client = self.client()
        client.send(TERMINATE, query("INSERT INTO t VALUES ('late', 1)"))
        self.assertEqual(client.rest(), [])
        self.assertEqual(self.server.psql("-c", "SELECT COUNT(*) FROM t WHERE name = 'late'").stdout, "0\n")


class Many(Hostile):
    def test_a_storm_of_syncs(self):
        client = self.client()
        client.send(SYNC * 20000, FLUSH * 20000)
        for _ in range(20000):
            self.assertEqual(client.receive(), (b"Z", b"I"))
        self.check_goes_on(client)

    def test_answers_that_nobody_reads(self):
        """The server stops reading from clients that do not read its answers, so it keeps few of these."""
        before = self.resident()
        clients = [self.client() for _ in range(8)]
        for client in clients:
            client.socket.setblocking(False)
            for _ in range(200):
                try:
                    client.socket.send(query("EINSUM Z[i 1000, j 100] = i + j") * 100)
                except BlockingIOError:
                    break
        time.sleep(1)
        self.assertLess(self.resident() - before, 64 * MEBIBYTE)
        for client in clients:
            client.socket.close()

    def test_clients_that_leave_while_their_statements_run(self):
        """More clients leave than there are threads. All threads become available again."""
        for _ in range(40):
            client = self.client()
            client.send(query(ENDLESS), query("SELECT 1"))
            client.socket.close()
        self.check_goes_on(self.client())

    def test_a_client_has_so_many_statements_and_portals(self):
        """Statements and portals take memory for as long as their client wants, so their number is limited."""
        for make in (lambda n: parse(f"s{n}", "SELECT 1"), lambda n: bind(f"p{n}", "one")):
            client = self.client()
            self.assertEqual(client.ask(query("BEGIN")), ["C", "Z"])
            client.ask(parse("one", "SELECT 1"), SYNC)
            before = self.resident()
            refused = None
            for batch in range(40):
                kinds = client.ask(*(make(1000 * batch + n) for n in range(1000)), SYNC)
                refused = next((kind for kind in kinds if len(kind) == 5), None)
                if refused:
                    break
            self.assertEqual(refused, "53400")
            self.assertLess(self.resident() - before, 64 * MEBIBYTE)
            client.socket.close()


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""Tests the server with TLS: psql, psycopg2, psycopg 3 and asyncpg, with certificates that are made here.

    tls_test.py EINDB
"""

import asyncio
import contextlib
import os
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import unittest
import warnings

import asyncpg
import psycopg
import psycopg2

from served import EINDB, TENSORS, WithServer

KEY = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1")
SSL_REQUEST = struct.pack("!ii", 8, 80877103)
GSS_REQUEST = struct.pack("!ii", 8, 80877104)
USERS = TENSORS + "CREATE USER ada PASSWORD 'secret';"


class Certificates:
    """An authority and the certificates that it has signed, as files in a temporary folder."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.make_authority("ca")
        self.make_authority("other-ca")
        self.sign("server", "127.0.0.1", "subjectAltName=IP:127.0.0.1")
        self.sign("client", "ada", "extendedKeyUsage=clientAuth")
        self.sign("stranger", "ada", "extendedKeyUsage=clientAuth", authority="other-ca")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def openssl(self, *arguments):
        return subprocess.run(["openssl", *arguments], cwd=self.folder.name, check=True, capture_output=True)

    def make_authority(self, name):
        self.openssl("genpkey", *KEY, "-out", f"{name}.key")
        self.openssl("req", "-x509", "-key", f"{name}.key", "-out", f"{name}.crt", "-days", "2", "-subj", f"/CN={name}")

    def make_self_signed(self, name, kind):
        self.openssl("req", "-x509", "-newkey", kind, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt",
                     "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")  # fmt: skip

    def sign(self, name, subject, extension, authority="ca"):
        with open(self.path("extension"), "w") as file:
            file.write(extension + "\n")
        self.openssl("genpkey", *KEY, "-out", f"{name}.key")
        self.openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={subject}", "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
                     "-CAcreateserial", "-days", "2", "-extfile", "extension", "-out", f"{name}.crt")  # fmt: skip


def setUpModule():
    global CERTIFICATES
    CERTIFICATES = Certificates()


def tearDownModule():
    CERTIFICATES.folder.cleanup()


def server_options(name, *more):
    return ("--tls-cert", CERTIFICATES.path(f"{name}.crt"), "--tls-key", CERTIFICATES.path(f"{name}.key"), *more)


class WithTls(WithServer):
    script = USERS
    certificate = "server"
    more_options = ()

    @classmethod
    def setUpClass(cls):
        cls.options = server_options(cls.certificate, *cls.more_options)
        super().setUpClass()

    def arguments(self, **more):
        return self.server.arguments(password="secret", sslrootcert=CERTIFICATES.path("ca.crt"), **more)

    def psql(self, *arguments, **environment):
        known = {"PGPASSWORD": "secret", "PGSSLROOTCERT": CERTIFICATES.path("ca.crt")}
        return self.server.psql(*arguments, **known, **environment)

    def context(self):
        return ssl.create_default_context(cafile=CERTIFICATES.path("ca.crt"))

    def begin_tls(self, context=None):
        plain = self.server.socket()
        plain.sendall(SSL_REQUEST)
        self.assertEqual(plain.recv(1), b"S")
        return (context or self.context()).wrap_socket(plain, server_hostname="127.0.0.1")


class Offered(WithTls):
    def test_psql_in_all_its_modes(self):
        for mode in ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"):
            ran = self.psql("-c", "EINSUM Z[i] = SUM(X[i,j])", PGSSLMODE=mode)
            self.assertEqual((ran.stderr, ran.stdout), ("", "0|3\n1|11\n2|19\n"), mode)
        ran = self.psql("-c", "\\conninfo", PGSSLMODE="verify-full", PGCHANNELBINDING="require")
        self.assertIn("TLSv1.3", ran.stdout)

    def test_passwords_are_bound_to_the_channel(self):
        arguments = self.arguments(sslmode="verify-full", channel_binding="require")
        with psycopg.connect(**arguments) as connection:
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))
        for binding in ("disable", "prefer"):
            psycopg.connect(**{**arguments, "channel_binding": binding}).close()
        with self.assertRaisesRegex(psycopg.OperationalError, "password authentication failed"):
            psycopg.connect(**{**arguments, "password": "wrong"})

    def test_psycopg2(self):
        connection = psycopg2.connect(**self.arguments(sslmode="verify-full", channel_binding="require"))
        cursor = connection.cursor()
        cursor.execute("SELECT n FROM t WHERE name = %s", ("b",))
        self.assertEqual(cursor.fetchall(), [(2,)])
        connection.close()

    def test_asyncpg(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", password="secret",
                                               database="s", ssl=self.context())  # fmt: skip
            rows = await connection.fetch("EINSUM Z[i] = SUM(X[i,j]) * $1", 2.0)
            self.assertEqual([row["val"] for row in rows], [6.0, 22.0, 38.0])
            await connection.close()

        asyncio.run(session())

    def test_much_goes_both_ways(self):
        with psycopg.connect(**self.arguments(sslmode="require")) as connection:
            rows = connection.execute("EINSUM Z[i 400, j 500] = i * 500 + j").fetchall()
            self.assertEqual(len(rows), 200_000)
            self.assertEqual(rows[-1], (399, 499, 199_999.0))
            text = "x" * 5_000_000
            self.assertEqual(connection.execute("SELECT length(%s), %s", (text, text)).fetchone(), (len(text), text))

    def test_cancelling(self):
        connection = psycopg.connect(**self.arguments(sslmode="require"))
        threading.Timer(0.3, connection.cancel).start()
        with self.assertRaises(psycopg.errors.QueryCanceled):
            connection.execute(
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
            )
        connection.close()

    def test_old_versions_are_refused(self):
        context = self.context()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with self.begin_tls(context) as tls:
            self.assertEqual(tls.version(), "TLSv1.2")
        context = self.context()
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it is deprecated, and therefore refused
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(ssl.SSLError):
            self.begin_tls(context)

    def test_bytes_before_tls(self):
        for behind in (b"\x16\x03\x01", struct.pack("!ii", 8, 196608)):
            with self.server.socket() as client:
                client.sendall(SSL_REQUEST + behind)
                received = b""
                while chunk := client.recv(4096):
                    received += chunk
            self.assertTrue(received.startswith(b"E") and b"08P01" in received, received)

    def test_what_is_no_tls(self):
        for bytes_ in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"\0" * 2000):
            with self.server.socket() as client:
                client.sendall(SSL_REQUEST)
                self.assertEqual(client.recv(1), b"S")
                client.sendall(bytes_)
                with contextlib.suppress(OSError):  # the server may have closed the connection already
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(4096):
                        pass
        self.assertEqual(self.psql("-c", "SELECT 1", PGSSLMODE="require").stdout, "1\n")

    def test_encryption_is_asked_for_once(self):
        with self.server.socket() as client:
            client.sendall(GSS_REQUEST)
            self.assertEqual(client.recv(1), b"N")
            client.sendall(SSL_REQUEST)
            self.assertEqual(client.recv(1), b"S")
            with self.context().wrap_socket(client, server_hostname="127.0.0.1") as tls:
                tls.sendall(SSL_REQUEST)
                self.assertIn(b"08P01", tls.recv(4096))

    def test_clients_that_wait_take_little(self):
        def memory():
            with open(f"/proc/{self.server.process.pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        connections = [psycopg.connect(**self.arguments(sslmode="require")) for _ in range(20)]
        before = memory()
        count = 100
        connections += [psycopg.connect(**self.arguments(sslmode="require")) for _ in range(count)]
        each = (memory() - before) / count
        for connection in connections:
            connection.close()
        self.assertLess(each, 64 * 1024)


class Rsa(WithTls):
    """A self-signed certificate with the most common kind of key."""

    certificate = "rsa"

    @classmethod
    def setUpClass(cls):
        CERTIFICATES.make_self_signed("rsa", "rsa:2048")
        super().setUpClass()

    def test_passwords_are_bound_to_the_channel(self):
        files = {"sslmode": "verify-full", "sslrootcert": CERTIFICATES.path("rsa.crt")}
        psycopg.connect(**self.server.arguments(password="secret", channel_binding="require", **files)).close()


class Required(WithTls):
    more_options = ("--tls-required",)

    def test_nobody_in_the_clear(self):
        ran = self.psql("-c", "SELECT 1", PGSSLMODE="disable")
        self.assertIn("nobody is let in without TLS", ran.stderr)
        self.assertIn("sslmode=require", ran.stderr)
        self.assertEqual(self.psql("-c", "SELECT 1", PGSSLMODE="require").stdout, "1\n")


class ClientCertificates(WithTls):
    @classmethod
    def setUpClass(cls):
        cls.more_options = ("--tls-ca", CERTIFICATES.path("ca.crt"))
        super().setUpClass()

    def connect(self, name):
        files = {"sslcert": CERTIFICATES.path(f"{name}.crt"), "sslkey": CERTIFICATES.path(f"{name}.key")}
        return psycopg.connect(**self.arguments(sslmode="verify-full", **files))

    def test_those_of_the_authority_come_in(self):
        with self.connect("client") as connection:
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_others_do_not(self):
        for arguments in ({"sslmode": "disable"}, {"sslmode": "require", "sslcert": "/nowhere"}):
            with self.assertRaises(psycopg.OperationalError):
                psycopg.connect(**self.arguments(**arguments))
        with self.assertRaises(psycopg.OperationalError):
            self.connect("stranger")


class NoBinding(WithTls):
    """An Ed25519 certificate, for which no channel binding is defined."""

    certificate = "ed"

    @classmethod
    def setUpClass(cls):
        CERTIFICATES.make_self_signed("ed", "ed25519")
        super().setUpClass()

    def test_passwords_without_it(self):
        arguments = self.server.arguments(password="secret", sslmode="require")
        psycopg.connect(**arguments).close()
        with self.assertRaisesRegex(psycopg.OperationalError, "channel binding"):
            psycopg.connect(**arguments, channel_binding="require")


class Files(unittest.TestCase):
    def serve(self, *options):
        command = [EINDB, "serve", ":memory:", "--listen", "127.0.0.1:0", *options]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=240)
        self.assertEqual(ran.returncode, 1)
        return ran.stderr

    def test_files_that_will_not_do(self):
        path = CERTIFICATES.path
        CERTIFICATES.openssl("genpkey", *KEY, "-aes128", "-pass", "pass:x", "-out", "locked.key")
        with open(path("text"), "w") as file:
            file.write("no key\n")
        os.chmod(path("text"), 0o600)
        for certificate, key, words in (
            ("server.crt", "nowhere.key", "cannot read the key"),
            ("nowhere.crt", "server.key", "cannot read the certificate"),
            ("server.crt", "client.key", "not that of the certificate"),
            ("server.crt", "text", "is no key in PEM form"),
            ("text", "server.key", "is no certificate in PEM form"),
            ("server.crt", "locked.key", "passphrase"),
        ):
            self.assertIn(words, self.serve("--tls-cert", path(certificate), "--tls-key", path(key)))

    def test_a_key_that_others_read(self):
        path = CERTIFICATES.path("open.key")
        CERTIFICATES.openssl("genpkey", *KEY, "-out", path)
        for mode in (0o644, 0o660, 0o604):
            os.chmod(path, mode)
            words = self.serve("--tls-cert", CERTIFICATES.path("server.crt"), "--tls-key", path)
            self.assertIn("chmod 600", words)

    def test_other_machines_may_listen_in(self):
        with tempfile.TemporaryDirectory() as folder:
            database = os.path.join(folder, "s.db")
            user = "CREATE USER ada PASSWORD 'secret'"
            subprocess.run([EINDB, database, "-c", user], check=True, stdout=subprocess.DEVNULL)
            for more, warns in (((), True), (("--tls-required",), False)):
                command = [EINDB, "serve", database, "--listen", "0.0.0.0:0", *server_options("server", *more)]
                server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                server.stdout.readline()
                server.terminate()
                self.assertEqual("--tls-required" in server.communicate(timeout=240)[1], warns)

    def test_options_that_lack_another(self):
        for options in (("--tls-cert", "x"), ("--tls-key", "x"), ("--tls-required",), ("--tls-ca", "x")):
            self.assertIn("--tls-cert FILE", self.serve(*options))


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""Tests that clients of the server have no forbidden access to files, SQL and users, with psycopg 3.

    permissions_test.py EINDB
"""

import os
import subprocess
import tempfile
import threading
import unittest

import psycopg
from psycopg import errors

from served import EINDB, TENSORS, Server, WithServer

USERS = (
    TENSORS
    + """
CREATE USER root PASSWORD 'r' ADMIN;
CREATE USER ada PASSWORD 'a';
CREATE USER guest PASSWORD 'g' READ ONLY;
"""
)


class Client(WithServer):
    """Tests statements of one client at a time."""

    def connect(self, **more):
        connection = psycopg.connect(**self.server.arguments(**more), autocommit=True)
        self.addCleanup(connection.close)
        return connection

    def refused(self, connection, statement, *words, error=errors.InsufficientPrivilege):
        with self.assertRaises(error, msg=statement) as caught:
            connection.execute(statement)
        for word in words:
            self.assertIn(word, str(caught.exception), statement)
        return caught.exception.diag


class Sql(Client):
    def test_nothing_leads_to_files(self):
        connection = self.connect()
        folder = self.server.folder.name
        for statement in (
            f"ATTACH '{folder}/other.db' AS other",
            f"VACUUM INTO '{folder}/copy.db'",
            f"VACUUM main INTO '{folder}/copy.db'",
            "SELECT load_extension('x')",
            "SELECT fts3_tokenizer('simple', x'00')",
            f"COPY X TO '{folder}/x.npy'",
            f"COPY X FROM '{folder}/x.npy'",
            "COPY X TO '/dev/stdout' (FORMAT csv)",
            f"COPY (SELECT * FROM t) TO '{folder}/t.csv'",
            "COPY (EINSUM Z[i] = SUM(X[i,j])) TO 'z.csv'",
            f"SET machine_file = '{folder}/m.json'",
            "PRAGMA database_list",
        ):
            self.refused(connection, statement)
        self.assertEqual(sorted(os.listdir(folder)), ["s.db", "s.db-shm", "s.db-wal"])
        diag = self.refused(connection, "COPY X TO 'x.npy'", "no files for clients")
        self.assertEqual((diag.sqlstate, diag.statement_position), ("42501", "11"))
        self.assertIn("STDOUT", diag.message_hint)

    def test_pragmas_tell_and_set_nothing(self):
        connection = self.connect()
        for pragma in ("writable_schema = 1", "journal_mode = OFF", "synchronous = 0", "foreign_keys = 1",
                       "case_sensitive_like = 1", "cache_size = 1000000", "wal_checkpoint", "optimize", "shrink_memory",
                       "temp_store_directory = '/'", "trusted_schema = 1", "incremental_vacuum", "mmap_size"):  # fmt: skip
            self.refused(connection, f"PRAGMA {pragma}", "pragma")
        self.refused(connection, "SELECT * FROM pragma_database_list", "pragma")
        self.assertEqual(connection.execute("PRAGMA page_size").fetchone(), ("65536",))
        self.assertEqual([row[1] for row in connection.execute("PRAGMA table_info(t)")], ["name", "n"])
        self.assertEqual([row[1] for row in connection.execute("SELECT * FROM pragma_table_info('X')")][-1], "val")

    def test_virtual_tables_are_of_the_database(self):
        connection = self.connect()
        for module in ("sqlite_dbpage", "dbstat", "sqlite_stmt", "bytecode"):
            self.refused(connection, f"CREATE VIRTUAL TABLE v USING {module}", "virtual tables of this kind")
        for table in ("dbstat", "sqlite_stmt"):
            self.refused(connection, f"SELECT COUNT(*) FROM {table}", "server's own work")
            self.refused(connection, f"SELECT * FROM {table} AS x", "server's own work")
            self.refused(connection, f"CREATE TEMP VIEW hidden AS SELECT * FROM {table}; SELECT * FROM hidden", "own work")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
        connection.execute("INSERT INTO words VALUES ('needle')")
        self.assertEqual(connection.execute("SELECT word FROM words('needle')").fetchall(), [("needle",)])
        connection.execute("DROP TABLE words")

    def test_what_is_eindbs_own_stays(self):
        connection = self.connect()
        for statement in (
            "UPDATE sqlite_schema SET sql = ''",
            "DELETE FROM eindb_tensors",
            "CREATE TABLE eindb_mine (a)",
            "INSERT INTO temp.eindb_x SELECT 1",
        ):
            with self.assertRaises(psycopg.Error, msg=statement):
                connection.execute(statement)
        self.assertEqual(connection.execute("SELECT COUNT(*) FROM X").fetchone(), (12,))

    def test_settings_have_the_servers_bounds(self):
        connection = self.connect()
        with self.assertRaisesRegex(errors.InvalidParameterValue, "others share the memory"):
            connection.execute("SET memory_limit = '100TB'")
        with self.assertRaises(errors.InvalidParameterValue):
            connection.execute("SET threads = 1000")
        before = connection.execute("SHOW memory_limit").fetchone()
        connection.execute("SET memory_limit = '64MiB'")
        connection.execute("RESET memory_limit")
        self.assertEqual(connection.execute("SHOW memory_limit").fetchone(), before)


class Files(Client):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = os.path.join(cls.folder.name, "files")
        os.mkdir(cls.files)
        cls.outside = os.path.join(cls.folder.name, "secret.csv")
        with open(cls.outside, "w") as file:
            file.write("1,2\n3,4\n")
        cls.server = Server(USERS, ("--files-dir", cls.files))

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def setUp(self):
        self.ada = self.connect(user="ada", password="a")

    def test_every_format_goes_there_and_back(self):
        os.makedirs(os.path.join(self.files, "deep", "er"), exist_ok=True)
        for name in ("x.npy", "x.npz", "x.safetensors", "x.h5", "x.nc", "x.zarr", "x.arrow", "x.csv", "deep/er/x.npy", f"{self.files}/abs.npy"):
            self.ada.execute(f"COPY X TO '{name}'")
            self.assertTrue(os.path.exists(os.path.join(self.files, name)), name)
            self.ada.execute(f"COPY back FROM '{name}'")
            difference = self.ada.execute("EINSUM d = SUM(ABS(X[i,j] - back[i,j]))").fetchone()
            self.assertEqual(difference, (0.0,), name)
            self.ada.execute("DROP TENSOR back")
        for name in ("x.mtx", "x.tns"):
            self.ada.execute(f"COPY X TO '{name}'")
            self.ada.execute(f"COPY back FROM '{name}'")
            self.ada.execute("DROP TENSOR back")
        self.ada.execute("COPY t TO 't.csv'")
        self.ada.execute("CREATE TABLE copied AS SELECT * FROM t WHERE FALSE")
        self.ada.execute("COPY copied FROM 't.csv'")
        self.assertEqual(self.ada.execute("SELECT * FROM copied").fetchall(),
                         self.ada.execute("SELECT * FROM t").fetchall())
        self.ada.execute("DROP TABLE copied")
        self.ada.execute("COPY (SELECT * FROM t) TO 't.jsonl'")
        with open(os.path.join(self.files, "t.jsonl")) as file:
            self.assertEqual(len(file.readlines()), 2)
        self.assertFalse([name for name in os.listdir(self.files) if ".tmp-" in name])

    def test_directories_are_not_sent(self):
        for statement in ("COPY X TO STDOUT (FORMAT zarr)", "COPY X FROM STDIN (FORMAT zarr)"):
            with self.assertRaisesRegex(psycopg.Error, "is of directories, which are not sent"):
                self.ada.execute(statement)
            self.ada = self.connect(user="ada", password="a")
        for name in ("../x.zarr", "/tmp/x.zarr"):
            with self.assertRaisesRegex(psycopg.Error, "not in the server's directory of files"):
                self.ada.execute(f"COPY X TO '{name}'")
            self.ada = self.connect(user="ada", password="a")
        os.symlink(self.folder.name, os.path.join(self.files, "link.zarr"))
        with self.assertRaisesRegex(psycopg.Error, "is a symbolic link"):
            self.ada.execute("COPY back FROM 'link.zarr'")
        os.remove(os.path.join(self.files, "link.zarr"))

    def test_nothing_leads_out(self):
        os.symlink(self.outside, os.path.join(self.files, "link.csv"))
        os.symlink(self.folder.name, os.path.join(self.files, "up"))
        for path in ("../secret.csv", "./../secret.csv", "deep/../../secret.csv", self.outside, "/etc/passwd",
                     "up/secret.csv", "link.csv", f"{self.files}/../secret.csv", f"{self.files}x/secret.csv", "", "/",
                     ".", "/proc/self/environ", "/dev/stdin"):  # fmt: skip
            self.refused(self.ada, f"COPY S FROM '{path}' (FORMAT csv)", "directory of files")
            self.refused(self.ada, f"COPY X TO '{path}' (FORMAT csv)", "directory of files")
            self.refused(self.ada, f"COPY t FROM '{path}' (FORMAT csv, HEADER off)", "directory of files")
            self.refused(self.ada, f"COPY t TO '{path}' (FORMAT csv)", "directory of files")
        with open(self.outside) as file:
            self.assertEqual(file.read(), "1,2\n3,4\n")

    def test_what_is_no_file_is_neither_read_nor_written(self):
        os.mkfifo(os.path.join(self.files, "pipe.csv"))
        os.makedirs(os.path.join(self.files, "dir.csv"), exist_ok=True)
        for name in ("pipe.csv", "dir.csv"):
            with self.assertRaises(psycopg.Error):
                self.ada.execute(f"COPY S FROM '{name}'")
            with self.assertRaises(psycopg.Error):
                self.ada.execute(f"COPY X TO '{name}'")
        self.assertIn("pipe.csv", os.listdir(self.files))

    def test_a_swap_while_it_runs_does_not_help(self):
        """A directory is replaced by a link again and again. A statement reads the permitted file or none."""
        real, link, name = (os.path.join(self.files, part) for part in ("real", "away", "swap"))
        elsewhere = os.path.join(self.folder.name, "elsewhere")
        for folder, text in ((real, "1\n"), (elsewhere, "666\n")):
            os.mkdir(folder)
            with open(os.path.join(folder, "v.csv"), "w") as file:
                file.write(text)
        os.symlink(elsewhere, link)
        ends = threading.Event()

        def swap():
            while not ends.is_set():
                os.rename(real, name)
                os.rename(name, real)
                os.rename(link, name)
                os.rename(name, link)

        thread = threading.Thread(target=swap)
        thread.start()
        found = set()
        try:
            for _ in range(300):
                try:
                    self.ada.execute("COPY S FROM 'swap/v.csv'")
                    found.add(self.ada.execute("SELECT val FROM S").fetchone()[0])
                    self.ada.execute("COPY S TO 'swap/out.csv'")
                except psycopg.Error as error:
                    found.add(error.sqlstate)
        finally:
            ends.set()
            thread.join()
        self.assertLessEqual(found, {1.0, "42501", "58030"})
        self.assertIn("42501", found)
        self.assertEqual(os.listdir(elsewhere), ["v.csv"])

    def test_users_who_only_read_have_no_files(self):
        guest = self.connect(user="guest", password="g")
        self.refused(guest, "COPY X TO 'guest.npy'", "READ ONLY")

    def test_the_database_is_not_among_them(self):
        command = [EINDB, "serve", self.server.database, "--listen", "127.0.0.1:0", "--files-dir"]
        ran = subprocess.run([*command, os.path.dirname(self.server.database)], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("the database lies in", ran.stderr)
        ran = subprocess.run([*command, "/nowhere"], capture_output=True, text=True)
        self.assertIn("cannot use /nowhere", ran.stderr)


class Users(Client):
    script = USERS

    def setUp(self):
        self.root = self.connect(user="root", password="r")
        self.ada = self.connect(user="ada", password="a")

    def test_only_admins_manage_users(self):
        guest = self.connect(user="guest", password="g")
        for connection in (self.ada, guest):
            for statement in (
                "CREATE USER eve PASSWORD 'e'",
                "CREATE USER eve PASSWORD 'e' ADMIN",
                "ALTER USER ada ADMIN",
                "ALTER USER guest READ WRITE",
                "ALTER USER root PASSWORD 'x'",
                "DROP USER guest",
                "DROP USER IF EXISTS nobody",
            ):
                self.refused(connection, statement, "ADMIN")
        self.root.execute("CREATE USER eve PASSWORD 'e' READ ONLY")
        self.root.execute("ALTER USER eve READ WRITE")
        self.root.execute("DROP USER eve")
        self.assertEqual(
            self.ada.execute("SHOW USERS").fetchall(),
            [("root", "admin"), ("ada", "read write"), ("guest", "read only")],
        )

    def test_everybody_changes_their_own_password(self):
        for name, password in (("ada", "a"), ("guest", "g")):
            connection = self.connect(user=name, password=password)
            connection.execute(f"ALTER USER {name.upper()} PASSWORD 'new'")
            with self.assertRaises(psycopg.OperationalError):
                self.connect(user=name, password=password)
            self.connect(user=name, password="new").execute("SELECT 1")
            connection.execute(f"ALTER USER {name} PASSWORD '{password}'")

    def test_who_only_reads_changes_nothing(self):
        guest = self.connect(user="guest", password="g")
        for statement in ("CREATE TABLE g (a)", "CREATE TENSOR G (i 2)", "DROP TENSOR X", "DELETE FROM t", "VACUUM"):
            with self.assertRaises(psycopg.Error, msg=statement):
                guest.execute(statement)
        guest.execute("CREATE TEMP TABLE mine (a INTEGER)")
        guest.execute("INSERT INTO mine VALUES (1)")
        self.assertEqual(guest.execute("SELECT * FROM mine").fetchone(), (1,))

    def test_verifiers_are_nobodys(self):
        for connection in (self.root, self.ada):
            for table in ("eindb_users", "eindb_secrets", "sqlite_dbpage"):
                with self.assertRaises(psycopg.Error, msg=table):
                    connection.execute(f"SELECT * FROM {table}")

    def test_a_change_holds_for_those_who_come_then(self):
        self.root.execute("CREATE USER bob PASSWORD 'b'")
        bob = self.connect(user="bob", password="b")
        self.root.execute("ALTER USER bob READ ONLY")
        bob.execute("CREATE TABLE of_bob (a)")
        with self.assertRaises(psycopg.Error):
            self.connect(user="bob", password="b").execute("DROP TABLE of_bob")
        self.root.execute("DROP USER bob")
        bob.execute("DROP TABLE of_bob")
        with self.assertRaises(psycopg.OperationalError):
            self.connect(user="bob", password="b")

    def test_the_last_user_stays(self):
        server = Server("CREATE USER root PASSWORD 'r' ADMIN;")
        self.addCleanup(server.close)
        with psycopg.connect(**server.arguments(user="root", password="r"), autocommit=True) as connection:
            self.refused(connection, "DROP USER root", "open to all")


class Catalog:
    """Read-only users can read all of pg_catalog, and cannot change anything through it."""

    def look_around(self, user, password):
        connection = self.connect(user=user, password=password)
        value = lambda sql: connection.execute(sql).fetchone()[0]  # noqa: E731
        self.assertIn("eindb", value("SELECT version()"))
        self.assertGreater(value("SELECT pg_backend_pid()"), 0)
        self.assertEqual(value("SELECT current_setting('client_encoding')"), "UTF8")
        self.assertEqual(value("SELECT current_user"), user)
        self.assertEqual(value("SELECT COUNT(*) FROM pg_catalog.pg_class WHERE relname = 't'"), 1)
        self.assertEqual(value("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 't'"), 1)
        for transaction in ("BEGIN", "BEGIN READ ONLY"):
            connection.execute(transaction)
            self.assertIn("eindb", value("SELECT version()"))
            connection.execute("COMMIT")
        tables = self.server.psql("-c", "\\dt", "-U", user, PGPASSWORD=password)
        self.assertEqual((tables.returncode, tables.stderr), (0, ""))
        self.assertIn("public|t|table", tables.stdout)
        columns = self.server.psql("-c", "\\d t", "-U", user, PGPASSWORD=password)
        self.assertEqual((columns.returncode, columns.stderr), (0, ""))
        self.assertIn("name|text", columns.stdout)

    def try_to_write(self, user, password):
        connection = self.connect(user=user, password=password)
        connection.execute("SELECT version()").fetchone()
        folder = self.server.folder.name
        for statement in (
            "CREATE TABLE pg_catalog.mine (a)",
            "CREATE TABLE main.mine (a)",
            "CREATE TABLE mine (a)",
            "CREATE INDEX pg_catalog.of_mine ON pg_class (relname)",
            "CREATE VIEW pg_catalog.mine AS SELECT 1",
            "CREATE TRIGGER pg_catalog.mine AFTER INSERT ON pg_class BEGIN SELECT 1; END",
            "CREATE VIRTUAL TABLE pg_catalog.mine USING fts5(a)",
            "INSERT INTO pg_catalog.pg_class (relname) VALUES ('mine')",
            "UPDATE pg_catalog.pg_class SET relname = 'mine'",
            "DELETE FROM pg_catalog.pg_class",
            "DROP TABLE pg_catalog.pg_class",
            "ALTER TABLE pg_catalog.pg_class RENAME TO mine",
            "DETACH pg_catalog",
            "DETACH DATABASE pg_catalog",
            "ATTACH 'file:eindb?mode=memory' AS mine",
            f"ATTACH 'file:{self.server.database}?mode=rwc' AS mine",
            f"VACUUM INTO 'file:{folder}/copy.db?mode=rwc'",
            f"VACUUM pg_catalog INTO '{folder}/copy.db'",
            "VACUUM pg_catalog",
            "VACUUM",
            "PRAGMA query_only = OFF",
            "PRAGMA pg_catalog.user_version = 1",
            "PRAGMA pg_catalog.journal_mode = DELETE",
            "PRAGMA writable_schema = ON",
            "INSERT INTO t VALUES ('c', 3)",
            "UPDATE t SET n = 9",
            "CREATE TEMP TRIGGER mine AFTER INSERT ON t BEGIN SELECT 1; END",
            "CREATE TENSOR Mine (i 2)",
            "DROP TENSOR X",
            "INSERT INTO TENSOR X VALUES (0, 0, 1)",
        ):
            try:
                connection.execute(statement)
            except psycopg.Error:
                continue
            # Statements that SQLite permits have no effect that another statement sees.
            self.assertIn(statement.split()[0], ("CREATE", "PRAGMA", "VACUUM"), statement)
            connection.execute("DROP TRIGGER IF EXISTS temp.mine")
        value = lambda sql: connection.execute(sql).fetchone()[0]  # noqa: E731
        self.assertEqual(value("SELECT COUNT(*) FROM pg_catalog.pg_class WHERE relname = 'mine'"), 0)
        self.assertEqual(value("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'mine'"), 0)
        self.assertEqual(value("SELECT SUM(n) FROM t"), 3)
        self.assertEqual(sorted(os.listdir(folder))[0], os.path.basename(self.server.database))
        self.assertFalse(os.path.exists(f"{folder}/copy.db"))
        self.assertIn("eindb", value("SELECT version()"))


class CatalogOfReaders(Catalog, Client):
    script = USERS

    def test_who_only_reads_has_the_catalog(self):
        self.look_around("guest", "g")

    def test_nothing_can_be_written_by_way_of_it(self):
        self.try_to_write("guest", "g")

    def test_it_shows_what_others_make(self):
        guest, ada = self.connect(user="guest", password="g"), self.connect(user="ada", password="a")
        count = "SELECT COUNT(*) FROM pg_class WHERE relname = 'later'"
        self.assertEqual(guest.execute(count).fetchone()[0], 0)
        ada.execute("CREATE TABLE later (a INTEGER)")
        self.assertEqual(guest.execute(count).fetchone()[0], 1)
        ada.execute("DROP TABLE later")
        self.assertEqual(guest.execute(count).fetchone()[0], 0)


class CatalogOfAReadOnlyServer(Catalog, Client):
    script = USERS
    options = ("--readonly",)

    def test_everybody_has_the_catalog(self):
        for user, password in (("root", "r"), ("ada", "a"), ("guest", "g")):
            self.look_around(user, password)

    def test_nothing_can_be_written_by_way_of_it(self):
        self.try_to_write("root", "r")


class WithoutUsers(Client):
    def test_whoever_is_let_in_makes_the_first_user(self):
        first = self.connect()
        first.execute("CREATE USER root PASSWORD 'r' ADMIN")
        with self.assertRaises(psycopg.OperationalError):
            self.connect()
        self.connect(user="root", password="r").execute("CREATE USER ada PASSWORD 'a'")


class ReadOnlyServer(Client):
    script = USERS
    options = ("--readonly",)

    def test_nobody_changes_anything(self):
        root = self.connect(user="root", password="r")
        for statement in ("CREATE USER eve PASSWORD 'e'", "ALTER USER root PASSWORD 'x'", "CREATE TABLE g (a)"):
            with self.assertRaises(psycopg.Error, msg=statement):
                root.execute(statement)
        self.connect(user="root", password="r")


class Grants(Client):
    """GRANT and REVOKE: users who are RESTRICTED see and change what was granted, and nothing else."""

    script = USERS + """
CREATE USER eve PASSWORD 'e' RESTRICTED;
CREATE TABLE secrets (id INTEGER PRIMARY KEY, word TEXT);
INSERT INTO secrets VALUES (1, 'xyzzy');
CREATE TABLE open (id INTEGER PRIMARY KEY, word TEXT);
INSERT INTO open VALUES (1, 'hello');
CREATE VIEW view_of_secrets AS SELECT word FROM secrets;
CREATE TENSOR W AS EINSUM W[i 2] = i + 7;
"""

    def setUp(self):
        self.root = self.connect(user="root", password="r")
        self.eve = self.connect(user="eve", password="e")
        self.addCleanup(self.root.execute, "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM eve")

    def test_nothing_is_there_without_grants(self):
        folder = self.server.folder.name
        for statement in (
            "SELECT * FROM secrets", "SELECT count(*) FROM secrets",
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM secrets)", "SELECT * FROM view_of_secrets",
            "WITH view_of_secrets AS (SELECT * FROM secrets) SELECT * FROM view_of_secrets",
            "INSERT INTO open VALUES (2, 'x')", "UPDATE open SET word = 'x'", "DELETE FROM open", "TRUNCATE open",
            "INSERT INTO open SELECT * FROM secrets", "EXPLAIN SELECT * FROM secrets",
            "CREATE TEMP TABLE mine AS SELECT * FROM secrets", "CREATE TABLE mine (a int)", "DROP TABLE secrets",
            "ALTER TABLE secrets RENAME TO free", "CREATE INDEX i ON secrets (word)",
            "CREATE VIEW v AS SELECT 1", "DROP VIEW view_of_secrets", "ANALYZE", "VACUUM",
            "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM secrets",
            "COPY secrets TO STDOUT", "COPY (SELECT * FROM secrets) TO STDOUT",
            "EINSUM Z[] = SUM(W[i])", "EXPLAIN ANALYZE EINSUM Z[] = SUM(W[i])", "SELECT * FROM W",
            "SELECT * FROM (EINSUM Z[] = SUM(W[i]))", "COPY (EINSUM Z[] = SUM(W[i])) TO STDOUT", "COPY W TO STDOUT",
            "COPY W TO STDOUT (FORMAT npy)", f"COPY W TO '{folder}/t.npy'", "UPDATE TENSOR W[i] = 0",
            "INSERT INTO TENSOR W VALUES (0, 1)", "CREATE TENSOR U AS EINSUM U[i] = W[i]", "CREATE TENSOR U(i 3)",
            "DROP TENSOR W", "ALTER TENSOR W RENAME TO U", "ANALYZE TENSOR W", "ANALYZE TENSOR", "CREATE MACRO f(x) AS x", "COMMENT ON TABLE open IS 'x'",
            "SELECT * FROM eindb_tiles_W", "SELECT * FROM eindb_grants", "SELECT * FROM eindb_users",
            "SELECT * FROM eindb_secrets", "GRANT ALL ON secrets TO eve", "CREATE USER m PASSWORD 'm'",
            "ALTER USER eve ADMIN", "BACKUP TO 'copy.db'",
        ):  # fmt: skip
            self.refused(self.eve, statement)
        self.assertEqual(self.root.execute("SELECT * FROM open").fetchall(), [(1, "hello")])
        # What everybody has, she has.
        self.assertEqual(self.eve.execute("SELECT 1 + 1").fetchone(), (2,))
        self.assertEqual(self.eve.execute("SELECT relname FROM pg_class WHERE relname = 'open'").fetchone(), ("open",))
        self.eve.execute("CREATE TEMP TABLE own (a int)")
        self.eve.execute("INSERT INTO own VALUES (3)")
        self.assertEqual(self.eve.execute("SELECT sum(a) FROM own").fetchone(), (3,))
        self.eve.execute("DROP TABLE own")
        self.assertEqual(self.eve.execute("EINSUM Z[i 2] = i").fetchall(), [(0, 0), (1, 1)])
        self.eve.execute("ALTER USER eve PASSWORD 'e'")

    def test_rights_come_and_go_at_once(self):
        diag = self.refused(self.eve, "SELECT * FROM open", "permission denied for table open")
        self.assertEqual((diag.sqlstate, diag.message_hint), ("42501", "an ADMIN can GRANT SELECT ON open TO eve"))
        self.root.execute("GRANT SELECT ON TABLE open, W TO eve")
        for _ in range(2):
            self.assertEqual(self.eve.execute("SELECT word FROM open").fetchone(), ("hello",))
            self.assertEqual(self.eve.execute("EINSUM Z[] = SUM(W[i])").fetchone(), (15,))
            self.assertEqual(self.eve.execute("SELECT sum(val) FROM w").fetchone(), (15,))
        self.refused(self.eve, "INSERT INTO open VALUES (2, 'x')", "open")
        self.root.execute("GRANT INSERT, UPDATE ON open TO eve")
        self.eve.execute("INSERT INTO open VALUES (2, 'x')")
        self.eve.execute("UPDATE open SET word = 'y' WHERE id = 2")
        with self.eve.cursor() as cursor, cursor.copy("COPY open FROM STDIN") as copy:
            copy.write("3\tz\n")
        self.refused(self.eve, "DELETE FROM open WHERE id = 2", "open")
        self.root.execute("GRANT ALL PRIVILEGES ON public.open TO eve")
        self.eve.execute("DELETE FROM open WHERE id > 1")
        self.root.execute("REVOKE SELECT, DELETE ON open FROM eve")
        self.root.execute("REVOKE ALL ON TENSOR W FROM eve CASCADE")
        for statement in ("SELECT word FROM open", "EINSUM Z[] = SUM(W[i])", "SELECT sum(val) FROM w", "DELETE FROM open",
                          "SELECT * FROM secrets"):  # fmt: skip
            self.refused(self.eve, statement)
        # Another user may have had the session, and its compiled statements.
        for _ in range(3):
            other = self.connect(user="root", password="r")
            other.execute("SELECT word FROM secrets").fetchall()
            other.close()
            self.refused(self.connect(user="eve", password="e"), "SELECT word FROM secrets")

    def test_tensors(self):
        self.root.execute("GRANT UPDATE ON W TO eve")
        self.refused(self.eve, "UPDATE TENSOR W[i] = W[i] + 1", "W")
        self.eve.execute("UPDATE TENSOR W[i] = i")
        self.refused(self.eve, "INSERT INTO TENSOR W VALUES (0, 1)", "W")
        self.root.execute("GRANT INSERT, SELECT ON TENSOR W TO eve")
        self.eve.execute("INSERT INTO TENSOR W VALUES (0, 7), (1, 8)")
        self.eve.execute("UPDATE TENSOR W[i] = W[i]")
        self.assertEqual(self.eve.execute("EINSUM Z[] = SUM(W[i])").fetchone(), (15,))
        self.root.execute("GRANT SELECT ON ALL TENSORS IN SCHEMA public TO eve")
        self.eve.execute("SELECT count(*) FROM X")
        self.refused(self.eve, "SELECT * FROM open")
        self.root.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO eve")
        self.eve.execute("SELECT * FROM open")
        self.eve.execute("SELECT * FROM view_of_secrets")

    def test_grants_go_with_their_objects(self):
        self.root.execute("CREATE TABLE gone (a INTEGER)")
        self.root.execute("GRANT SELECT ON gone TO eve")
        self.root.execute("ALTER TABLE gone RENAME TO moved")
        self.eve.execute("SELECT * FROM moved")
        self.root.execute("ALTER TABLE moved ADD PRIMARY KEY (a)")
        self.eve.execute("SELECT * FROM moved")
        self.root.execute("DROP TABLE moved")
        for name in ("gone", "moved"):
            self.root.execute(f"CREATE TABLE {name} (a INTEGER)")
            self.refused(self.eve, f"SELECT * FROM {name}")
            self.root.execute(f"DROP TABLE {name}")
        self.root.execute("CREATE TENSOR G AS EINSUM G[i 2] = i")
        self.root.execute("GRANT SELECT ON G TO eve")
        self.root.execute("ALTER TENSOR G RENAME TO H")
        self.eve.execute("EINSUM Z[] = SUM(H[i])")
        self.root.execute("DROP TENSOR H")
        self.root.execute("CREATE TENSOR H AS EINSUM H[i 2] = i")
        self.refused(self.eve, "EINSUM Z[] = SUM(H[i])")
        self.root.execute("DROP TENSOR H")
        self.root.execute("CREATE USER tom PASSWORD 't' RESTRICTED")
        self.root.execute("GRANT SELECT ON open TO tom, eve")
        self.root.execute("DROP USER tom")
        self.root.execute("CREATE USER tom PASSWORD 't' RESTRICTED")
        self.refused(self.connect(user="tom", password="t"), "SELECT * FROM open")
        self.root.execute("DROP USER tom")

    def test_new_names_of_temporary_tables_move_no_grants(self):
        self.root.execute("GRANT SELECT ON open TO eve")
        for renames in ("ALTER TABLE open RENAME TO secrets", "ALTER TABLE temp.open RENAME TO secrets",
                        'ALTER TABLE "TEMP".open RENAME TO secrets',
                        "ALTER TABLE 'temp'.'open' RENAME TO secrets"):  # fmt: skip
            eve = self.connect(user="eve", password="e")
            eve.execute("CREATE TEMP TABLE open (a INTEGER)")
            eve.execute(renames)
            eve.execute("DROP TABLE temp.secrets")
            self.refused(eve, "SELECT * FROM secrets", "secrets")
            self.assertEqual(eve.execute("SELECT word FROM open").fetchone(), ("hello",))

    def test_grants_go_with_several_objects(self):
        objects = ("g", "h", "view_of_g")
        makes = ("CREATE TABLE g (a INTEGER)", "CREATE TABLE h (a INTEGER)", "CREATE VIEW view_of_g AS SELECT a FROM g")
        for drops in ("DROP TABLE g, h CASCADE", "REPEAT 1 { DROP TABLE h, g CASCADE }"):
            for make in makes:
                self.root.execute(make)
            self.root.execute("GRANT SELECT ON g, h, view_of_g TO eve")
            self.root.execute(drops)
            for make in makes:
                self.root.execute(make)
            for name in objects:
                self.refused(self.eve, f"SELECT * FROM {name}")
            self.root.execute("DROP TABLE g, h CASCADE")

    def test_who_grants_what_to_whom(self):
        self.refused(self.connect(user="ada", password="a"), "GRANT SELECT ON open TO eve", "ADMIN")
        self.assertIn("ALTER USER guest RESTRICTED", self.refused(
            self.root, "REVOKE SELECT ON open FROM guest", "READ ONLY", error=errors.FeatureNotSupported).message_hint)
        self.refused(self.root, "GRANT SELECT ON open TO public", "PUBLIC", error=errors.FeatureNotSupported)
        self.refused(self.root, "GRANT SELECT ON nothing TO eve", "nothing", error=errors.UndefinedTable)
        self.refused(self.root, "GRANT SELECT ON TENSOR open TO eve", "no tensor", error=errors.UndefinedTable)
        self.refused(self.root, "GRANT SELECT (word) ON open TO eve", error=errors.SyntaxError)
        self.refused(self.root, "GRANT TRUNCATE ON open TO eve", error=errors.SyntaxError)

    def test_the_catalog_tells_of_grants(self):
        self.root.execute("GRANT SELECT, INSERT ON open TO eve")
        acl = self.root.execute("SELECT relacl FROM pg_class WHERE relname = 'open'").fetchone()
        self.assertIn("eve=ar/", acl[0])
        ask = "SELECT has_table_privilege('open', 'SELECT'), has_table_privilege('open', 'DELETE'), " \
              "has_table_privilege('secrets', 'SELECT'), has_table_privilege('open'::regclass, 'UPDATE, INSERT')"
        self.assertEqual(self.eve.execute(ask).fetchone(), (True, False, False, True))
        self.assertEqual(self.root.execute(ask).fetchone(), (True, True, True, True))
        self.assertEqual(self.root.execute("SELECT has_table_privilege('eve', 'open', 'DELETE')").fetchone(), (False,))
        listed = self.server.psql("-U", "root", "-c", r"\dp open", PGPASSWORD="r")
        self.assertIn("eve=ar/root", listed.stdout)


if __name__ == "__main__":
    unittest.main()

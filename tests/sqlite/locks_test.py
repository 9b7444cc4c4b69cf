#!/usr/bin/python3
"""locks_test.py EXTENSION EINDB: one file that SQLite, the extension and eindb open side by side; how connections end."""
import hashlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

from hosts import Extension, connect, run, value

LONG = "WITH R[i 1000000, j 1000000] = SIN(i * j + 0.5) EINSUM s[] = SUM(R[i,j])"


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as status:
        return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def can_lock(file):
    """Whether another process gets the lock for writing."""
    program = ("import sqlite3, sys\n"
               "db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
               "db.execute('BEGIN IMMEDIATE')\n")
    return subprocess.run([sys.executable, "-c", program, file], stderr=subprocess.DEVNULL, check=False).returncode == 0


class WithEindb(Extension):
    program = ""  # eindb

    def eindb(self, statements):
        return subprocess.run([WithEindb.program, "--mode", "csv", self.file, "-c", statements], capture_output=True, text=True,
                              check=True).stdout

    def content(self):
        with open(self.file, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def journal(self, mode):
        """Sets how SQLite writes the file, while nobody else has it open."""
        db = sqlite3.connect(self.file)
        self.assertEqual(value(db, f"PRAGMA journal_mode = {mode}"), mode)
        db.close()


class Files(WithEindb):
    def test_both_open_it(self):
        self.eindb("CREATE TENSOR X AS EINSUM X[i 3] = i * 2.0")
        db = self.connect()
        self.assertEqual(db.execute("SELECT * FROM X").fetchall(), [(0, 0.0), (1, 2.0), (2, 4.0)])
        run(db, "CREATE TENSOR Y AS EINSUM Y[i] = X[i] + 1")
        db.execute("CREATE TABLE t (a)")
        db.execute("INSERT INTO t VALUES (7)")
        self.assertEqual(self.eindb("SELECT a, val FROM t, Y WHERE i = 2").split(), ["a,val", "7,5.0"])
        self.eindb("UPDATE TENSOR X[i] = 1; CREATE TENSOR Z AS EINSUM Z[] = 3")
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 3.0)
        self.assertEqual(value(db, "SELECT eindb_refresh()"), 3)
        self.assertEqual(value(db, "SELECT val FROM Z"), 3)

    def test_a_file_without_tensors(self):
        plain = sqlite3.connect(self.file)
        plain.execute("CREATE TABLE t (i, val)")
        plain.executemany("INSERT INTO t VALUES (?, ?)", [(0, 1.5), (2, 2.5)])
        plain.commit()
        plain.close()
        before = self.content()
        db = self.connect()
        self.assertEqual(db.execute("SELECT i, val FROM einsum('i->i', 't')").fetchall(), [(0, 1.5), (1, 0.0), (2, 2.5)])
        self.assertEqual(db.execute("SELECT c0, c1 FROM eindb_query('SELECT * FROM t')").fetchall(), [(0, 1.5), (2, 2.5)])
        self.assertEqual(db.execute("SELECT row FROM eindb_query('SHOW TENSORS')").fetchall(), [])
        self.assertEqual(value(db, "SELECT eindb_refresh()"), 0)
        self.assertEqual(self.content(), before)
        self.assertEqual(os.listdir(self.folder), ["my.db"])
        run(db, "CREATE TENSOR X (i 3) AS SELECT * FROM t")
        self.assertEqual(db.execute("SELECT * FROM X").fetchall(), [(0, 1.5), (1, 0.0), (2, 2.5)])
        self.assertEqual(self.eindb("SELECT SUM(val) AS s FROM X").split(), ["s", "4.0"])
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def test_read_only(self):
        self.eindb("CREATE TENSOR X AS EINSUM X[i 3] = i")
        before = self.content()
        db = self.connect(f"file:{self.file}?mode=ro", uri=True)
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 3)
        self.assertEqual(db.execute("SELECT val FROM einsum('i->', 'X')").fetchall(), [(3,)])
        self.assert_fails(db, "read-only", "SELECT eindb_exec('DROP TENSOR X')")
        self.assert_fails(db, "read-only", "SELECT eindb_exec('UPDATE TENSOR X[i] = 1')")
        self.assertEqual(self.content(), before)
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 3)

    def test_no_database(self):
        with open(self.file, "wb") as file:
            file.write(b"this is no database, whatever its name says" * 100)
        db = self.connect()
        for statement in ("SELECT eindb_exec('CREATE TENSOR X AS EINSUM X[i 3] = i')", "SELECT eindb_refresh()",
                          "SELECT * FROM eindb_query('SELECT 1')", "SELECT * FROM einsum('i->', 'X')"):  # fmt: skip
            self.assert_fails(db, "not a database", statement)

    def test_attached_files_and_temporary_databases(self):
        self.eindb("CREATE TENSOR X AS EINSUM X[i 3] = i")
        for name in (":memory:", ""):
            db = self.connect(name) if name else self.connect("file::memory:", uri=True)
            db.execute("ATTACH ? AS other", (self.file,))
            self.assert_fails(db, "no such table: X", "SELECT * FROM X")
            run(db, "CREATE TENSOR own AS EINSUM own[i 2] = i + 1")
            self.assertEqual(value(db, "SELECT SUM(val) FROM own"), 3)


class Locks(WithEindb):
    def setUp(self):
        super().setUp()
        self.eindb("CREATE TENSOR X AS EINSUM X[i 100] = 0.0; CREATE TABLE t (a)")

    def test_own_transaction(self):
        for mode in ("delete", "wal"):
            self.journal(mode)
            db = self.connect()
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO t VALUES (1)")
            begin = time.monotonic()
            text = self.assert_fails(db, "busy", "SELECT eindb_exec('UPDATE TENSOR X[i] = 1')")
            self.assertIn("COMMIT", text)
            self.assertLess(time.monotonic() - begin, 3)
            self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 0)  # reading goes on
            self.assertEqual(db.execute("SELECT val FROM einsum('i->', 'X')").fetchall(), [(0,)])
            db.execute("COMMIT")
            self.assertEqual(run(db, "UPDATE TENSOR X[i] = 0"), "UPDATE TENSOR")
            # While it reads, there can be a writer where there is a write-ahead log.
            db.execute("BEGIN")
            db.execute("SELECT * FROM t").fetchall()
            if mode == "wal":
                run(db, "UPDATE TENSOR X[i] = 0")
            else:
                self.assert_fails(db, "busy", "SELECT eindb_exec('UPDATE TENSOR X[i] = 1')")
            db.execute("COMMIT")
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            db.close()

    def test_anothers_transaction(self):
        db, other = self.connect(), self.connect()
        other.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        self.assert_fails(db, "busy", "SELECT eindb_exec('UPDATE TENSOR X[i] = 1')")
        self.assertLess(time.monotonic() - begin, 20)
        other.execute("ROLLBACK")
        self.assertEqual(run(db, "UPDATE TENSOR X[i] = 1"), "UPDATE TENSOR")
        self.assertEqual(value(other, "SELECT SUM(val) FROM X"), 100)

    def test_transactions_of_eindbs(self):
        db = self.connect()
        run(db, "BEGIN")
        run(db, "UPDATE TENSOR X[i] = 2")
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 200)
        db.execute("PRAGMA busy_timeout = 100")
        self.assert_fails(db, "locked", "INSERT INTO t VALUES (1)")
        other = self.connect()
        self.assertEqual(value(other, "SELECT SUM(val) FROM X"), 0)
        run(db, "ROLLBACK")
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 0)
        run(db, "BEGIN")
        run(db, "UPDATE TENSOR X[i] = 2")
        db.close()  # ends it, too
        self.assertEqual(value(other, "SELECT SUM(val) FROM X"), 0)
        other.execute("INSERT INTO t VALUES (1)")

    def test_rows_of_tensors_become_rows_of_tables(self):
        self.eindb("CREATE TENSOR L AS EINSUM L[i 1000, j 200] = i + j")
        for mode in ("delete", "wal"):
            self.journal(mode)
            db = self.connect()
            db.execute("DROP TABLE IF EXISTS cells")
            db.execute("CREATE TABLE cells AS SELECT * FROM L")
            self.assertEqual(value(db, "SELECT SUM(val) FROM cells"), value(db, "SELECT SUM(val) FROM L"))
            self.assertEqual(value(db, "SELECT COUNT(*) FROM cells JOIN L USING (i, j, val) WHERE i = 5"), 200)
            db.close()

    def test_a_statement_reads_one_state(self):
        self.eindb("CREATE TENSOR Y AS EINSUM Y[i 100] = 0.0")
        other = self.connect()
        step = "BEGIN; UPDATE TENSOR X[i] = X[i] + 1; UPDATE TENSOR Y[i] = Y[i] + 1; COMMIT"
        for statement in ("SELECT X.val, Y.val FROM X JOIN Y USING (i)", "SELECT x.val, y.val FROM X x JOIN X y USING (i)",
                          "SELECT X.val, e.val / 100 FROM X, einsum('i->', 'Y') e",
                          "SELECT X.val, q.c0 FROM X, eindb_query('EINSUM m[] = MAX(Y[i])') q"):  # fmt: skip
            rows = self.connect().execute(statement)
            first = rows.fetchone()
            self.assertEqual(first[0], first[1])
            run(other, step)
            self.assertEqual(set(rows.fetchall()), {first}, statement)
            self.assertEqual(value(other, "SELECT SUM(val) FROM X"), 100 * (first[0] + 1))

    def test_what_writes_beside_a_scan(self):
        db = self.connect()
        rows = db.execute("SELECT val FROM X")
        self.assertEqual(rows.fetchone(), (0.0,))
        run(db, "BEGIN")
        run(db, "UPDATE TENSOR X[i] = X[i] + 1")
        run(db, "CREATE TENSOR N AS EINSUM N[i 2] = i")
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 100)  # the transaction's own
        self.assertEqual(set(rows.fetchall()), {(0.0,)})  # of the state that the open scan holds
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 100)
        self.assertEqual(value(db, "SELECT SUM(val) FROM N"), 1)
        self.assertEqual(value(self.connect(), "SELECT SUM(val) FROM X"), 0)
        run(db, "UPDATE TENSOR X[i] = X[i] - 1")
        run(db, "COMMIT")
        self.assertEqual(db.execute("SELECT SUM(eindb_exec('UPDATE TENSOR X[i] = X[i] + 1') = 'UPDATE TENSOR') FROM X "
                                    "WHERE val = 0").fetchone(), (100,))  # fmt: skip
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 10000)

    def test_nothing_is_written_beside_a_scan_without_a_log(self):
        self.journal("delete")
        db = self.connect()
        rows = db.execute("SELECT val FROM X")
        self.assertEqual(rows.fetchone(), (0.0,))
        self.assert_fails(db, "busy", "SELECT eindb_exec('UPDATE TENSOR X[i] = 1')")
        self.assertEqual(set(rows.fetchall()), {(0.0,)})
        self.assertEqual(run(db, "UPDATE TENSOR X[i] = 1"), "UPDATE TENSOR")
        self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 100)

    def test_locks_of_the_host_stay(self):
        db = self.connect()
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t VALUES (1)")
        self.assertFalse(can_lock(self.file))
        for _ in range(3):
            other = connect(self.file)
            self.assertEqual(value(other, "SELECT SUM(val) FROM X"), 0)
            other.close()
            self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 0)
            self.assertFalse(can_lock(self.file))
        db.execute("COMMIT")
        self.assertTrue(can_lock(self.file))
        run(db, "BEGIN")
        run(db, "UPDATE TENSOR X[i] = 1")
        other = connect(self.file)
        self.assertEqual(value(other, "SELECT COUNT(*) FROM X"), 100)
        other.close()
        self.assertFalse(can_lock(self.file))
        run(db, "COMMIT")
        self.assertTrue(can_lock(self.file))

    def test_another_process_writes_meanwhile(self):
        for mode in ("delete", "wal"):
            self.journal(mode)
            db = self.connect()
            db.execute("DELETE FROM t")
            run(db, "UPDATE TENSOR X[i] = 0")
            writer = subprocess.Popen([sys.executable, "-c", "import sqlite3, sys\n"
                                       "db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)\n"
                                       "for n in range(60): db.execute('INSERT INTO t VALUES (?)', (n,))\n", self.file])
            for _ in range(30):
                while True:
                    try:
                        run(db, "UPDATE TENSOR X[i] = X[i] + 1")
                        break
                    except sqlite3.OperationalError as error:
                        self.assertRegex(str(error), "busy|conflict")
                self.assertEqual(value(db, "SELECT MAX(val) - MIN(val) FROM X"), 0)
            self.assertEqual(writer.wait(), 0)
            self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 3000)
            self.assertEqual(value(db, "SELECT COUNT(*) FROM t"), 60)
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            db.close()

    def test_threads_with_connections_of_their_own(self):
        sums, failures = [], []

        def work():
            try:
                db = connect(self.file)
                for _ in range(20):
                    sums.append(value(db, "SELECT SUM(val) FROM X"))
                    sums.append(value(db, "SELECT val FROM einsum('i->', 'X')"))
                db.close()
            except sqlite3.Error as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((failures, set(sums), len(sums)), ([], {0.0}, 320))


class Ends(WithEindb):
    def test_a_thousand_connections(self):
        self.eindb("CREATE TENSOR X AS EINSUM X[i 100] = i")
        descriptors = len(os.listdir("/proc/self/fd"))
        after = []
        for n in range(1000):
            db = connect(self.file)
            if n % 4 == 0:
                self.assertEqual(value(db, "SELECT SUM(val) FROM X"), 4950)
            if n % 4 == 1:
                self.assertEqual(value(db, "SELECT val FROM einsum('i->', '(SELECT 5, 2)')"), 2)
            if n % 4 == 2:
                rows = db.execute("SELECT * FROM X")
                rows.fetchone()  # of a scan that has not ended
                del rows
            db.close()
            del db
            if n in (199, 999):
                after.append(resident())
        self.assertLess(after[1] - after[0], 16 << 20)
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), descriptors)

    def test_interrupts(self):
        db = self.connect(check_same_thread=False)
        for statement in (f"SELECT * FROM eindb_query('{LONG}')", f"SELECT eindb_exec('{LONG}')",
                          "SELECT * FROM eindb_query('WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
                          "SELECT SUM(x) FROM r')",
                          "SELECT * FROM eindb_query('WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
                          "SELECT x FROM r') WHERE c0 < 0"):  # fmt: skip
            timer = threading.Timer(0.3, db.interrupt)
            timer.start()
            begin = time.monotonic()
            self.assert_fails(db, "", statement)
            self.assertLess(time.monotonic() - begin, 60)
            timer.join()
        self.assertEqual(value(db, "SELECT val FROM einsum('i->', '(SELECT 5, 2)')"), 2)

    def test_a_shell(self):
        self.eindb("CREATE TENSOR X AS EINSUM X[i 2, j 3] = 3 * i + j")
        lines = [f".load {self.path}", "SELECT * FROM X WHERE i = 1;", "SELECT i, val FROM einsum('ij->i', 'X');",
                 "SELECT eindb_exec('CREATE TENSOR Y AS EINSUM Y[i] = MAX(X[i,j])');", "SELECT * FROM Y;"]
        shell = subprocess.run(["sqlite3", self.file], input="\n".join(lines), capture_output=True, text=True, check=True)
        self.assertEqual(shell.stderr, "")
        self.assertEqual(shell.stdout.split(), ["1|0|3.0", "1|1|4.0", "1|2|5.0", "0|3.0", "1|12.0", "CREATE", "TENSOR",
                                                "0|2.0", "1|5.0"])
        wrong = subprocess.run(["sqlite3", self.file, f".load {self.path}", "SELECT eindb_exec('CREATE TENSOR X')"],
                               capture_output=True, text=True, check=False)
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("syntax error", wrong.stderr)
        shell = subprocess.Popen(["sqlite3", self.file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        shell.stdin.write(f".load {self.path}\nSELECT 'begins';\nSELECT eindb_exec('{LONG}');\n.print next\n")
        shell.stdin.flush()
        self.assertEqual(shell.stdout.readline(), "begins\n")
        time.sleep(0.3)
        shell.send_signal(signal.SIGINT)
        rest = shell.communicate(timeout=60)[0]
        self.assertRegex(rest, "cancelled|interrupted")

    def test_beside_the_python_package(self):
        package = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(self.path))), "python")
        if not os.path.isdir(os.path.join(package, "eindb")):
            self.skipTest("the Python package was not built")
        program = ("import sqlite3, sys, eindb\n"
                   "db = eindb.connect(sys.argv[1])\n"
                   "db.execute('CREATE TENSOR X AS EINSUM X[i 3] = i')\n"
                   "host = sqlite3.connect(sys.argv[1])\n"
                   "host.enable_load_extension(True)\n"
                   "host.load_extension(sys.argv[2])\n"
                   "print(host.execute('SELECT SUM(val) FROM X').fetchone()[0])\n")
        done = subprocess.run([sys.executable, "-c", program, self.file, self.path], capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": package})
        self.assertEqual((done.stdout, done.stderr), ("3.0\n", ""))


OTHER_SQLITE = r"""
import ctypes, sys
library, extension, file = sys.argv[1:4]
sqlite = ctypes.CDLL(library)
db = ctypes.c_void_p()
assert sqlite.sqlite3_open(file.encode(), ctypes.byref(db)) == 0
sqlite.sqlite3_enable_load_extension(db, 1)
message = ctypes.c_char_p()
if sqlite.sqlite3_load_extension(db, extension.encode(), None, ctypes.byref(message)) != 0:
    sys.exit(message.value.decode())
sqlite.sqlite3_errmsg.restype = sqlite.sqlite3_column_text.restype = ctypes.c_char_p
for sql in sys.argv[4:]:
    statement = ctypes.c_void_p()
    if sqlite.sqlite3_prepare_v2(db, sql.encode(), -1, ctypes.byref(statement), None) != 0:
        print("error:", sqlite.sqlite3_errmsg(db).decode())
        continue
    while (code := sqlite.sqlite3_step(statement)) == 100:
        columns = range(sqlite.sqlite3_column_count(statement))
        print(*((sqlite.sqlite3_column_text(statement, n) or b"").decode() for n in columns))
    if code != 101:
        print("error:", sqlite.sqlite3_errmsg(db).decode())
    sqlite.sqlite3_finalize(statement)
assert sqlite.sqlite3_close(db) == 0
"""


class AnotherSqlite(WithEindb):
    """A host with a copy of SQLite of its own, as programs have that are linked with one."""

    def run_host(self, file, *statements):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            library = re.search(r"/\S*/libsqlite3\.so\S*", maps.read())
        if not library:
            self.skipTest("this Python has no shared SQLite")
        with open(library[0], "rb") as file_of_library:
            content = file_of_library.read()
        # Under another name, or the loader would take the two for one.
        copy = os.path.join(self.folder, "libsqlite9.so.0")
        with open(copy, "wb") as written:
            written.write(content.replace(b"libsqlite3.so.0", b"libsqlite9.so.0"))
        done = subprocess.run([sys.executable, "-c", OTHER_SQLITE, copy, self.path, file, *statements], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_file_is_not_opened(self):
        self.eindb("CREATE TENSOR X AS EINSUM X[i 3] = i; CREATE TABLE t (i, val); INSERT INTO t VALUES (0, 2), (1, 3)")
        for statement in ("SELECT eindb_exec('DROP TENSOR X')", "SELECT * FROM eindb_query('SELECT * FROM t')",
                          "SELECT * FROM X", "SELECT * FROM einsum('i->i', 'X')"):  # fmt: skip
            with self.subTest(statement=statement):
                output = self.run_host(self.file, statement)
                self.assertIn("it has a SQLite of its own", output)
                self.assertIn("hint: use a program that has the system's libsqlite3", output)
        self.assertEqual(self.run_host(self.file, "SELECT i, val FROM einsum('i,i->i', 't', 't')"), "0 4\n1 9\n")
        self.assertEqual(self.run_host(self.file, "SELECT eindb_refresh()"), "1\n")
        self.assertEqual(self.eindb("SELECT SUM(val) AS s FROM X").split(), ["s", "3.0"])

    def test_in_memory_it_works(self):
        self.assertEqual(self.run_host(":memory:", "SELECT eindb_exec('CREATE TENSOR X AS EINSUM X[i 3] = i')",
                                       "SELECT SUM(val) FROM X", "SELECT row FROM eindb_query('EINSUM s[] = SUM(X[i])')"),
                         "CREATE TENSOR\n3.0\n3.0\n")


if __name__ == "__main__":
    Extension.path = sys.argv.pop(1)
    WithEindb.program = sys.argv.pop(1)
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())

"""What tools ask of the catalog when they connect, and to list tables, columns, keys, indexes, views and functions.

The questions are in the form in which psql, Metabase, Grafana, DBeaver, pgAdmin 4 and DataGrip put them: with their
joins, casts and functions. The answers are compared with what the database has. psql asks its own questions.
"""

import json
import os
import pty
import select
import subprocess
import time
import unittest

import psycopg

import checked_program
from checked_program import HANG_SECONDS


class Introspection(checked_program.Counted):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.connection = psycopg.connect(**cls.server.arguments(), autocommit=True)

    @classmethod
    def tearDownClass(cls):
        cls.connection.close()
        super().tearDownClass()

    def rows(self, sql, *parameters):
        return [tuple(row) for row in self.connection.execute(sql, parameters or None).fetchall()]

    def column(self, sql, *parameters):
        return [row[0] for row in self.rows(sql, *parameters)]


class PsqlTest(Introspection):
    client = "psql"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.version = subprocess.run(["psql", "--version"], text=True, capture_output=True, check=True).stdout.split()[2]

    def shown(self, command, aligned=True):
        options = [] if aligned else ["-A", "-t"]
        done = subprocess.run(
            ["psql", "-X", *options, "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", "-d", "s", "-c", command],
            text=True, capture_output=True, timeout=HANG_SECONDS, env={**os.environ, "PAGER": ""},
        )  # fmt: skip
        self.assertNotIn("ERROR", done.stderr, command)
        return done.stdout

    def lines(self, command):
        return self.shown(command, aligned=False).splitlines()

    def test_relations(self):
        self.assertEqual(self.lines(r"\d"), ["public|C|table|ada", "public|X|table|ada", "public|child|table|ada",
                                             "public|notes|table|ada", "public|titles|view|ada"])  # fmt: skip
        self.assertIn("public|X|table|ada|permanent|heap|48 bytes|", self.lines(r"\dt+"))
        self.assertEqual(self.lines(r"\dv"), ["public|titles|view|ada"])
        self.assertEqual(self.lines(r"\dt no*"), ["public|notes|table|ada"])

    def test_a_tensor_has_extents_type_and_partition(self):
        shown = self.shown(r"\d X")
        for part in (" i      | bigint |           | not null |", " val    | real   |           |          |",
                     "\"X_pkey\" PRIMARY KEY, tiles (i, j) WITH (type='FLOAT32', extents='3,4', partition='1,1')"):
            self.assertIn(part, shown)  # fmt: skip
        self.assertRegex(self.shown(r"\d C"), r"re +\| double precision[^\n]*\n im +\| double precision")

    def test_a_table_has_keys_and_indexes(self):
        notes, child = self.shown(r"\d notes"), self.shown(r"\d+ child")
        self.assertIn('"notes_pkey" PRIMARY KEY, btree (id)', notes)
        self.assertIn('"notes_title" btree (title)', notes)
        self.assertIn("Referenced by:", notes)
        self.assertIn("FOREIGN KEY (note) REFERENCES notes(id)", child)
        self.assertIn('"child_pkey" PRIMARY KEY, btree (a, b)', child)

    def test_a_view_has_its_query(self):
        self.assertIn("SELECT id, title FROM notes;", self.shown(r"\d+ titles"))
        self.assertEqual(self.lines(r"\sv titles"), ["CREATE OR REPLACE VIEW public.titles AS",
                                                     "SELECT id, title FROM notes"])  # fmt: skip

    def test_indexes(self):
        self.assertEqual([line.split("|")[1] for line in self.lines(r"\di")],
                         ["C_pkey", "X_pkey", "child_pkey", "notes_pkey", "notes_title"])  # fmt: skip
        self.assertIn("tiles, for table", self.shown(r"\d X_pkey"))

    def test_functions(self):
        self.assertEqual(self.lines(r"\df"), ["public|clip|float8|x|func"])
        self.assertIn("CREATE OR REPLACE MACRO clip", self.shown(r"\sf clip"))

    def test_databases_schemas_and_roles(self):
        self.assertEqual(self.lines(r"\l")[0].split("|")[:3], ["s", "ada", "UTF8"])
        self.assertEqual(self.lines(r"\dn"), ["public|ada"])
        self.assertEqual(self.lines(r"\du")[0].split("|")[0], "ada")

    def test_whatever_has_no_members_is_empty(self):
        for command in (r"\dT", r"\ds", r"\dx", r"\dD", r"\des", r"\dRp", r"\dX", r"\dF", r"\dFd", r"\dFp", r"\dFt", r"\dL",
                        r"\dO", r"\dc", r"\dC", r"\do", r"\dd", r"\dy", r"\dP", r"\ddp", r"\dAc", r"\dAf", r"\dAo",
                        r"\dAp", r"\da", r"\db+", r"\dp", r"\drds", r"\dconfig", r"\l+", r"\dn+", r"\du+", r"\di+",
                        r"\dv+", r"\df+", r"\dT+", r"\dS", r"\dew", r"\deu", r"\det", r"\dE"):  # fmt: skip
            with self.subTest(command):
                self.shown(command)

    def test_completion(self):
        # Tab after FROM and after \d, and after the name of a table: the queries of psql 15.
        relations = """SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_class c WHERE c.relkind IN
            ('r', 'S', 'v', 'm', 'f', 'p') AND substring(pg_catalog.quote_ident(c.relname),1,2)='no' AND
            pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000"""
        attributes = """SELECT pg_catalog.quote_ident(attname) FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c
            WHERE c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped AND
            substring(pg_catalog.quote_ident(attname),1,1)='t' AND (pg_catalog.quote_ident(relname)='notes'
            OR '"' || relname || '"'='notes') AND pg_catalog.pg_table_is_visible(c.oid)"""
        self.assertEqual(self.column(relations), ["notes"])
        self.assertEqual(self.column(attributes), ["title"])

    def test_completion_of_settings(self):
        found = self.column("""SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings WHERE context IN
            ('user', 'superuser') AND pg_catalog.lower(name) LIKE pg_catalog.lower('search\\_p%')""")
        self.assertEqual(found, ["search_path"])

    def completed(self, typed, expected):
        """Types into psql in a terminal, then Tab, and waits until it has what is expected."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("psql", ["psql", "-X", "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", "-d", "s"],
                       {**os.environ, "TERM": "dumb", "PAGER": "", "INPUTRC": "/dev/null"})  # fmt: skip
        try:
            came = self.read_until(terminal, "s=", "")
            os.write(terminal, (typed + "\t").encode())
            self.read_until(terminal, expected, came.split("s=")[-1])
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)

    def read_until(self, terminal, text, came):
        end = time.monotonic() + HANG_SECONDS
        while text not in came:
            ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, f"{text!r} did not come; this did: {came!r}")
            came += os.read(terminal, 65536).decode(errors="replace")
        return came

    def test_tab_in_a_terminal(self):
        for typed, expected in (("SELECT * FROM no", "FROM notes"), ("SELECT * FROM notes WHERE ti", "WHERE title"),
                                ("\\d ti", "\\d titles"), ("DROP VIEW t", "VIEW titles"), ("\\df c", "\\df clip"),
                                ("\\di notes_t", "\\di notes_title"),
                                ("UPDATE notes SET sc", "SET score"), ("INSERT INTO chi", "INTO child")):  # fmt: skip
            with self.subTest(typed):
                self.completed(typed, expected)

    def test_explain(self):
        self.assertIn("QUERY PLAN", self.shown("EXPLAIN SELECT * FROM notes"))


class MetabaseTest(Introspection):
    """By JDBC's metadata, which jdbc_test.py has, and questions of its own."""

    client = "Metabase (introspection)"

    def test_tables(self):
        found = self.rows("""SELECT n.nspname AS schema, c.relname AS name,
              CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW'
                WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type,
              d.description AS description, stat.n_live_tup AS estimated_row_count
            FROM pg_catalog.pg_class AS c
              INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
              LEFT JOIN pg_catalog.pg_description AS d
                ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
              LEFT JOIN pg_stat_user_tables AS stat ON n.nspname = stat.schemaname AND c.relname = stat.relname
            WHERE c.relnamespace = n.oid AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
              AND c.relkind IN ('r', 'p', 'v', 'f', 'm') AND n.nspname IN ('public') ORDER BY type, schema, name""")
        self.assertEqual([row[1:3] for row in found],
                         [("C", "TABLE"), ("X", "TABLE"), ("child", "TABLE"), ("notes", "TABLE"), ("titles", "VIEW")])

    def test_fields(self):
        found = self.rows("""SELECT c.column_name AS name,
              CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN format('%s', c.udt_name)
                ELSE format('"%s"."%s"', c.udt_schema, c.udt_name) END AS database_type,
              c.ordinal_position - 1 AS position, c.table_schema AS schema, c.table_name AS "table-name",
              pk.column_name IS NOT NULL AS is_key, c.is_nullable = 'NO' AS required
            FROM information_schema.columns AS c
              LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name
                FROM information_schema.table_constraints AS tc
                  INNER JOIN information_schema.key_column_usage AS kc
                    ON tc.constraint_name = kc.constraint_name AND tc.table_schema = kc.table_schema
                      AND tc.table_name = kc.table_name
                WHERE tc.constraint_type = 'PRIMARY KEY') AS pk
              ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name AND c.column_name = pk.column_name
            WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_name IN ('notes', 'X')
            ORDER BY c.table_name, position""")
        self.assertEqual([(row[0], row[1], row[5]) for row in found],
                         [("i", "int8", True), ("j", "int8", True), ("val", "float4", False), ("id", "int8", True),
                          ("title", "text", False), ("score", "float8", False)])  # fmt: skip

    def test_foreign_keys(self):
        found = self.rows("""SELECT fk_ns.nspname, fk_table.relname, fk_column.attname, pk_ns.nspname,
              pk_table.relname, pk_column.attname
            FROM pg_constraint c JOIN pg_class fk_table ON c.conrelid = fk_table.oid
              JOIN pg_namespace fk_ns ON c.connamespace = fk_ns.oid
              JOIN pg_attribute fk_column ON c.conrelid = fk_column.attrelid
              JOIN pg_class pk_table ON c.confrelid = pk_table.oid
              JOIN pg_namespace pk_ns ON pk_table.relnamespace = pk_ns.oid
              JOIN pg_attribute pk_column ON c.confrelid = pk_column.attrelid
            WHERE c.contype = 'f' AND fk_column.attnum = ANY(c.conkey) AND pk_column.attnum = ANY(c.confkey)
              AND fk_ns.nspname !~ '^information_schema|catalog_history|pg_'""")
        self.assertEqual(found, [("public", "child", "note", "public", "notes", "id")])

    def test_rights(self):
        found = self.rows("""SELECT t.schemaname AS schema, t.objectname AS table,
              pg_catalog.has_any_column_privilege(current_user, '"' || t.schemaname || '"."' || t.objectname || '"',
                'select') AS can_select
            FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables
              UNION SELECT schemaname, viewname AS objectname FROM pg_views) t WHERE t.schemaname = 'public'""")
        self.assertEqual({row[1] for row in found}, {"C", "X", "child", "notes", "titles"})

    def test_quoted_schemas(self):
        found = self.column("""SELECT "information_schema"."columns"."column_name" FROM "information_schema"."columns"
            WHERE "information_schema"."columns"."table_name" = 'notes' ORDER BY 1""")
        self.assertEqual(found, ["id", "score", "title"])


class GrafanaTest(Introspection):
    client = "Grafana (introspection)"

    def test_version(self):
        self.assertGreaterEqual(self.column("SELECT current_setting('server_version_num')::int/100 AS version")[0], 1500)

    def test_tables(self):
        found = self.column("""SELECT quote_ident(table_name) AS "table" FROM information_schema.tables
            WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') AND
            quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
              FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
                  array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
                string_to_array(current_setting('search_path'), ',') s)
            ORDER BY 1""")
        self.assertEqual(found, ['"C"', '"X"', "child", "notes", "titles"])

    def test_columns(self):
        found = self.rows("""SELECT quote_ident(column_name) AS "column", data_type AS "type"
            FROM information_schema.columns WHERE
              CASE WHEN array_length(parse_ident('"X"'), 1) = 2
                THEN quote_ident(table_schema) = (parse_ident('"X"'))[1] AND quote_ident(table_name) = (parse_ident('"X"'))[2]
                ELSE quote_ident(table_name) = '"X"' END ORDER BY ordinal_position""")
        self.assertEqual(found, [("i", "bigint"), ("j", "bigint"), ("val", "real")])

    def test_timescale_is_not_there(self):
        self.assertEqual(self.rows("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'"), [])

    def test_a_query_with_macros(self):
        found = self.rows("SELECT floor((extract(epoch from '2024-01-01 00:01:30'::timestamp))/60)*60 AS time, 1 AS value")
        self.assertEqual(float(found[0][0]), 1704067260.0)


class DBeaverTest(Introspection):
    client = "DBeaver (introspection)"

    def test_connect(self):
        self.assertEqual(self.rows("SELECT current_schema(), session_user"), [("public", "ada")])
        self.assertEqual(self.column("SELECT db.datname, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT "
                                     "datistemplate OR db.datname = 's' ORDER BY db.datname"), ["s"])
        self.assertIn("PostgreSQL 15", self.column("SELECT version()")[0])

    def test_schemas(self):
        found = self.rows("""SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
            LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0
              AND d.classoid = 'pg_namespace'::regclass ORDER BY nspname""")
        self.assertEqual([row[2] for row in found], ["information_schema", "pg_catalog", "public"])

    def test_relations(self):
        found = self.rows("""SELECT c.relname, c.relkind, c.*, d.description,
              pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr,
              pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
            FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d
              ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
            WHERE c.relnamespace = 2200 AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY 1""")
        self.assertEqual([row[:2] for row in found],
                         [("C", "r"), ("X", "r"), ("child", "r"), ("notes", "r"), ("titles", "v")])

    def test_columns(self):
        found = self.rows("""SELECT a.attname, a.attnotnull, pg_catalog.format_type(a.atttypid, a.atttypmod), c.relname,
              a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
            FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
              LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
              LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
              LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i'
                AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
            WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = 'notes'::regclass
            ORDER BY a.attnum""")
        self.assertEqual([row[:4] for row in found],
                         [("id", True, "bigint", "notes"), ("title", True, "text", "notes"),
                          ("score", False, "double precision", "notes")])  # fmt: skip

    def test_constraints(self):
        found = self.rows("""SELECT c.conname, c.contype, t.relname, rt.relname,
              pg_catalog.pg_get_constraintdef(c.oid) AS definition
            FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
              LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
            WHERE t.relname IN ('child', 'X') ORDER BY t.relname, c.contype""")
        self.assertEqual(found, [("X_pkey", "p", "X", None, "PRIMARY KEY (i, j)"),
                                 ("child_note_fkey", "f", "child", "notes", "FOREIGN KEY (note) REFERENCES notes(id)"),
                                 ("child_pkey", "p", "child", None, "PRIMARY KEY (a, b)")])  # fmt: skip

    def test_indexes(self):
        found = self.rows("""SELECT c.relname, i.indkey, i.indisunique, am.amname, pg_catalog.pg_relation_size(i.indexrelid)
            FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
              INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
              LEFT OUTER JOIN pg_catalog.pg_am am ON am.oid = c.relam
            WHERE tc.relname IN ('notes', 'X') ORDER BY c.relname""")
        self.assertEqual([row[:4] for row in found],
                         [("X_pkey", "1 2", True, "tiles"), ("notes_pkey", "1", True, "btree"),
                          ("notes_title", "2", False, "btree")])  # fmt: skip

    def test_views_and_functions(self):
        self.assertEqual(self.column("SELECT pg_catalog.pg_get_viewdef(oid, true) FROM pg_catalog.pg_class "
                                     "WHERE relname = 'titles'"), ["SELECT id, title FROM notes;"])
        found = self.rows("""SELECT p.proname, pg_catalog.pg_get_function_arguments(p.oid), l.lanname
            FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = 2200""")
        self.assertEqual(found, [("clip", "x", "sql")])

    def test_types(self):
        found = self.column("""SELECT t.typname, t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod)
            FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
              LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
            WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c')
              AND (et.typcategory IS NULL OR et.typcategory <> 'C')""")
        self.assertLessEqual({"int8", "float4", "float8", "text", "_int8", "timestamp", "numeric"}, set(found))

    def test_keywords(self):
        found = self.column("SELECT word FROM pg_catalog.pg_get_keywords() WHERE catcode = 'R'")
        self.assertIn("select", found)

    def test_plan(self):
        plan = self.column("EXPLAIN (FORMAT JSON, ANALYSE) SELECT * FROM notes")[0]
        plan = plan if isinstance(plan, list) else json.loads(plan)
        self.assertEqual(plan[0]["Plan"]["Plans"][0]["Node Type"], "SCAN notes")
        self.assertEqual(plan[0]["Plan"]["Actual Rows"], 2)


class PgAdminTest(Introspection):
    client = "pgAdmin 4 (introspection)"

    def test_connect(self):
        self.connection.execute("""SET DateStyle=ISO; SET client_min_messages=notice;
            SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() WHERE name = 'bytea_output';
            SET client_encoding='utf-8';""")
        self.assertEqual(self.rows("""SELECT db.datname, db.datallowconn, pg_catalog.pg_encoding_to_char(db.encoding),
              has_database_privilege(db.oid, 'CREATE') AS cancreate, datistemplate
            FROM pg_catalog.pg_database db WHERE db.datname = current_database()"""), [("s", True, "UTF8", True, False)])
        self.assertEqual(self.rows("""SELECT roles.rolname AS name, roles.rolsuper AS is_superuser,
              CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db
            FROM pg_catalog.pg_roles AS roles WHERE rolname = current_user"""), [("ada", False, False)])

    def test_databases_with_acl(self):
        found = self.rows("""SELECT db.oid AS did, db.datname AS name, ta.spcname AS spcname, db.datallowconn,
              pg_catalog.has_database_privilege(db.oid, 'CREATE') AS cancreate, datdba AS owner, descr.description
            FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid
              LEFT OUTER JOIN pg_catalog.pg_shdescription descr ON (db.oid = descr.objoid
                AND descr.classoid = 'pg_database'::regclass)
            WHERE db.oid > 0::OID ORDER BY datname""")
        self.assertEqual([row[1:3] for row in found], [("s", "pg_default")])

    def test_schemas(self):
        found = self.rows("""SELECT nsp.oid, nsp.nspname AS name,
              pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') AS can_create,
              pg_catalog.has_schema_privilege(nsp.oid, 'USAGE') AS has_usage
            FROM pg_catalog.pg_namespace nsp
            WHERE nspname NOT LIKE 'pg\\_%' AND NOT (nsp.nspname = 'information_schema') ORDER BY nspname""")
        self.assertEqual(found, [(2200, "public", True, True)])

    def test_tables(self):
        found = self.rows("""SELECT rel.oid, rel.relname AS name,
              (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggers,
              (SELECT count(*) FROM pg_catalog.pg_inherits i LEFT JOIN pg_catalog.pg_class c ON i.inhparent = c.oid
                WHERE i.inhrelid = rel.oid) AS parents
            FROM pg_catalog.pg_class rel WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = 2200::oid
              AND NOT rel.relispartition ORDER BY rel.relname""")
        self.assertEqual([row[1] for row in found], ["C", "X", "child", "notes"])

    def test_columns(self):
        found = self.rows("""SELECT att.attname AS name, att.attnum, format_type(ty.oid, NULL) AS typname,
              pg_catalog.format_type(ty.oid, att.atttypmod) AS cltype, att.attnotnull AS not_null,
              EXISTS(SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = att.attrelid AND contype = 'f'
                AND att.attnum = ANY(conkey)) AS is_fk,
              CASE WHEN att.attnum = ANY(ix.indkey) THEN true ELSE false END AS is_pk
            FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
              LEFT OUTER JOIN pg_catalog.pg_index ix ON ix.indrelid = att.attrelid AND ix.indisprimary
            WHERE att.attrelid = 'child'::regclass AND att.attnum > 0 AND att.attisdropped IS FALSE
            ORDER BY att.attnum""")
        self.assertEqual([(row[0], row[2], row[5], row[6]) for row in found],
                         [("a", "bigint", False, True), ("b", "bigint", False, True), ("note", "bigint", True, False)])

    def test_indexes(self):
        found = self.rows("""SELECT DISTINCT ON(cls.relname) cls.oid, cls.relname AS name
            FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid
              JOIN pg_catalog.pg_class tab ON tab.oid = indrelid
              LEFT OUTER JOIN pg_catalog.pg_constraint con ON con.conindid = cls.oid AND con.contype = 'p'
            WHERE indrelid = 'notes'::regclass AND con.oid IS NULL ORDER BY cls.relname""")
        self.assertEqual([row[1] for row in found], ["notes_title"])

    def test_properties(self):
        found = self.rows("""SELECT rel.relname AS name, pg_catalog.pg_get_userbyid(rel.relowner) AS relowner,
              rel.relhasindex, spc.spcname, con.conname, rel.reloptions, substring(array_to_string(rel.reloptions, ',')
                FROM 'fillfactor=([0-9]*)') AS fillfactor, am.amname
            FROM pg_catalog.pg_class rel LEFT OUTER JOIN pg_catalog.pg_tablespace spc ON spc.oid = rel.reltablespace
              LEFT OUTER JOIN pg_catalog.pg_constraint con ON con.conrelid = rel.oid AND con.contype = 'p'
              LEFT OUTER JOIN pg_catalog.pg_am am ON am.oid = rel.relam
            WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relname = 'notes'""")
        self.assertEqual(found, [("notes", "ada", True, None, "notes_pkey", None, None, "heap")])

    def test_activity(self):
        found = self.rows("""SELECT pid, datname, usename, application_name, client_addr, backend_start, state, query
            FROM pg_catalog.pg_stat_activity WHERE datname = 's' ORDER BY pid""")
        self.assertIn("ada", {row[2] for row in found})


class DataGripTest(Introspection):
    client = "DataGrip (introspection)"

    def test_connect(self):
        self.assertEqual(self.rows("SELECT current_database(), current_schema(), current_user"), [("s", "public", "ada")])
        found = self.rows("""SELECT N.oid::bigint AS id, datname AS name, D.description, datistemplate AS is_template,
              datallowconn AS allow_connections, pg_catalog.pg_get_userbyid(N.datdba) AS "owner"
            FROM pg_catalog.pg_database N LEFT JOIN pg_catalog.pg_shdescription D ON N.oid = D.objoid
            ORDER BY CASE WHEN datname = pg_catalog.current_database() THEN -1::bigint ELSE N.oid::bigint END""")
        self.assertEqual([(row[1], row[5]) for row in found], [("s", "ada")])

    def test_schemas(self):
        found = self.rows("""SELECT N.oid::bigint AS id, N.xmin AS state_number, nspname AS name, D.description,
              pg_catalog.pg_get_userbyid(N.nspowner) AS "owner"
            FROM pg_catalog.pg_namespace N LEFT JOIN pg_catalog.pg_description D ON N.oid = D.objoid
            ORDER BY CASE WHEN nspname = pg_catalog.current_schema() THEN -1::bigint ELSE N.oid::bigint END""")
        self.assertEqual([row[2] for row in found], ["public", "pg_catalog", "information_schema"])

    def test_tables(self):
        found = self.rows("""SELECT T.relkind AS table_kind, T.relname AS table_name, T.oid AS table_id,
              T.xmin AS table_state_number, T.relam AS am_id, T.reltablespace AS tablespace_id, T.reloptions AS options,
              T.relpersistence AS persistence, pg_catalog.pg_get_userbyid(T.relowner) AS "owner"
            FROM pg_catalog.pg_class T WHERE relnamespace = 2200::oid AND relkind IN ('r', 'm', 'v', 'f', 'p')
            ORDER BY table_kind, table_id""")
        self.assertEqual({row[1] for row in found}, {"C", "X", "child", "notes", "titles"})

    def test_columns(self):
        found = self.rows("""WITH T AS (SELECT DISTINCT T.oid AS table_id, T.relname AS table_name
              FROM pg_catalog.pg_class T WHERE T.relnamespace = 2200::oid AND T.relkind IN ('r', 'm', 'v', 'f', 'p'))
            SELECT T.table_id, C.attnum AS column_position, C.attname AS column_name, C.xmin AS column_state_number,
              C.atttypmod AS type_mod, C.attndims AS dimensions_number,
              pg_catalog.format_type(C.atttypid, C.atttypmod) AS type_spec, C.atttypid AS type_id,
              C.attnotnull AS mandatory, pg_catalog.pg_get_expr(D.adbin, T.table_id) AS column_default_expression
            FROM T JOIN pg_catalog.pg_attribute C ON T.table_id = C.attrelid
              LEFT JOIN pg_catalog.pg_attrdef D ON (C.attrelid, C.attnum) = (D.adrelid, D.adnum)
            WHERE attnum > 0 AND NOT attisdropped AND T.table_name = 'X' ORDER BY table_id, attnum""")
        self.assertEqual([(row[2], row[6]) for row in found], [("i", "bigint"), ("j", "bigint"), ("val", "real")])

    def test_indexes(self):
        found = self.rows("""SELECT tab.oid AS table_id, tab.relkind AS table_kind, ind_stor.relname AS index_name,
              ind_head.indexrelid AS index_id, ind_stor.xmin AS state_number, ind_head.indisunique AS is_unique,
              ind_head.indisprimary AS is_primary, pg_catalog.pg_get_expr(ind_head.indpred, ind_head.indrelid) AS condition
            FROM pg_catalog.pg_class tab JOIN pg_catalog.pg_index ind_head ON ind_head.indrelid = tab.oid
              JOIN pg_catalog.pg_class ind_stor ON tab.relnamespace = ind_stor.relnamespace
                AND ind_stor.oid = ind_head.indexrelid
            WHERE tab.relnamespace = 2200::oid AND tab.relkind IN ('r', 'm', 'v', 'p')
              AND ind_stor.relkind IN ('i', 'I') ORDER BY ind_stor.relname""")
        self.assertEqual([row[2] for row in found], ["C_pkey", "X_pkey", "child_pkey", "notes_pkey", "notes_title"])

    def test_constraints(self):
        found = self.rows("""SELECT T.oid AS table_id, relkind AS table_kind, C.oid::bigint AS con_id,
              C.xmin AS con_state_id, conname AS con_name, contype AS con_kind, conkey AS con_columns,
              conindid AS index_id, confrelid AS ref_table_id, confkey AS ref_columns
            FROM pg_catalog.pg_constraint C JOIN pg_catalog.pg_class T ON C.conrelid = T.oid
            WHERE relkind IN ('r', 'v', 'f', 'p') AND relnamespace = 2200::oid AND contype IN ('p', 'u', 'f', 'c', 'x')
            ORDER BY conname""")
        self.assertEqual([row[4] for row in found], ["C_pkey", "X_pkey", "child_note_fkey", "child_pkey", "notes_pkey"])

    def test_views(self):
        found = self.rows("""SELECT T.relkind AS view_kind, T.oid AS view_id,
              pg_catalog.pg_get_viewdef(T.oid, true) AS source_text
            FROM pg_catalog.pg_class T JOIN pg_catalog.pg_namespace N ON T.relnamespace = N.oid
            WHERE N.oid = 2200::oid AND T.relkind IN ('m', 'v')""")
        self.assertEqual([row[2] for row in found], ["SELECT id, title FROM notes;"])

    def test_functions(self):
        found = self.rows("""SELECT pronamespace, proname, pg_catalog.pg_get_function_identity_arguments(P.oid),
              P.xmin AS r_state_number, lanname FROM pg_catalog.pg_proc P
              LEFT JOIN pg_catalog.pg_language L ON P.prolang = L.oid WHERE pronamespace = 2200::oid""")
        self.assertEqual([row[1] for row in found], ["clip"])

    def test_session(self):
        for sql in ("SET application_name = 'DataGrip'", "SET extra_float_digits = 3", "SHOW search_path",
                    "SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN 1 ELSE "
                    "pg_catalog.txid_current()::varchar::bigint END AS current_txid"):  # fmt: skip
            self.connection.execute(sql)

    def test_whatever_has_no_members_is_empty(self):
        for table in ("pg_sequence", "pg_rewrite", "pg_event_trigger", "pg_foreign_server", "pg_opclass", "pg_cast",
                      "pg_extension", "pg_collation", "pg_operator", "pg_aggregate", "pg_policy", "pg_user_mappings",
                      "pg_timezone_names", "pg_available_extensions", "pg_opfamily", "pg_amop", "pg_amproc",
                      "pg_sequences", "pg_rules", "pg_policies", "pg_publication_tables", "pg_replication_slots"):  # fmt: skip
            with self.subTest(table):
                self.rows(f"SELECT * FROM pg_catalog.{table}")


class NpgsqlTest(Introspection):
    """The driver of .NET, and of Power BI, reads the types when it connects."""

    client = "Npgsql (introspection)"

    def test_types(self):
        found = self.rows("""SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
            FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
                elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind
              FROM (SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, proc.proname,
                  CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
                  CASE WHEN proc.proname = 'array_recv' THEN typ.typelem WHEN typ.typtype = 'r' THEN rngsubtype
                    WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
                    WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemoid
                FROM pg_type AS typ LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
                  LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
                  LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)) AS typ
                LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemoid
                LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid)) AS t
              JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
            WHERE typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown'))
            ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN typtype = 'c' THEN 1 ELSE 2 END""")
        self.assertLessEqual({"int8", "float4", "float8", "text", "bool", "bytea"}, {row[2] for row in found})

    def test_composites_and_enums(self):
        self.assertEqual(self.rows("""SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ
            JOIN pg_namespace AS ns ON (ns.oid = typ.typnamespace) JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
            JOIN pg_attribute AS att ON (att.attrelid = typ.typrelid)
            WHERE (typ.typtype = 'c' AND cls.relkind = 'c') AND attnum > 0 AND NOT attisdropped
            ORDER BY typ.oid, att.attnum"""), [])
        self.assertEqual(self.rows("""SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid
            ORDER BY oid, enumsortorder"""), [])


class InformationSchemaTest(Introspection):
    """Drivers and tools that know only the standard's catalog."""

    client = "information_schema"

    def test_foreign_keys(self):
        found = self.rows("""SELECT rc.constraint_name, rc.unique_constraint_name, rc.delete_rule, kcu.column_name,
              ccu.table_name, ccu.column_name
            FROM information_schema.referential_constraints rc
              JOIN information_schema.key_column_usage kcu ON kcu.constraint_name = rc.constraint_name
              JOIN information_schema.constraint_column_usage ccu ON ccu.constraint_name = rc.constraint_name""")
        self.assertEqual(found, [("child_note_fkey", "notes_pkey", "NO ACTION", "note", "notes", "id")])

    def test_constraints(self):
        found = self.rows("""SELECT table_name, constraint_type FROM information_schema.table_constraints
            WHERE table_schema = 'public' ORDER BY 1, 2""")
        self.assertEqual(found, [("C", "PRIMARY KEY"), ("X", "PRIMARY KEY"), ("child", "FOREIGN KEY"),
                                 ("child", "PRIMARY KEY"), ("notes", "PRIMARY KEY")])  # fmt: skip

    def test_views(self):
        self.assertEqual(self.rows("SELECT table_name, view_definition FROM information_schema.views "
                                   "WHERE table_schema = 'public'"), [("titles", "SELECT id, title FROM notes;")])

    def test_others(self):
        for view in ("schemata", "routines", "sequences", "domains", "parameters", "triggers", "enabled_roles",
                     "constraint_table_usage", "information_schema_catalog_name", "check_constraints", "character_sets",
                     "applicable_roles", "user_defined_types", "foreign_tables"):  # fmt: skip
            with self.subTest(view):
                self.rows(f"SELECT * FROM information_schema.{view}")


if __name__ == "__main__":
    unittest.main()

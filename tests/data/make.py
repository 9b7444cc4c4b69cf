#!/usr/bin/python3
"""make.py EINDB: makes eindb-VERSION.db.gz, a database of what its file can hold, and eindb-VERSION.json, what is in it.

To be run once for each release, by that release's program. What is there already is not made anew.
"""
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PASSWORD = "a password kept for years"
STATEMENTS = f"""
CREATE TENSOR whole AS EINSUM whole[i 3, j 4] = 10 * i + j / 4;
CREATE TENSOR single FLOAT32 AS EINSUM single[i 5] = i / 3;
CREATE TENSOR number INT64 PARTITION (4) AS EINSUM number[i 8] = i * 1000000007 * 1000000007;
CREATE TENSOR pair AS EINSUM pair[i 3] = COMPLEX(i, -1);
CREATE TENSOR small_pair COMPLEX64 AS EINSUM small_pair[i 3] = COMPLEX(i / 3, 1);
CREATE TENSOR scalar () INT64;
UPDATE TENSOR scalar[] = 42;
CREATE TENSOR special AS EINSUM special[i 4] = CASE i WHEN 0 THEN NAN WHEN 1 THEN INFINITY WHEN 2 THEN -INFINITY ELSE -0.0 END;
CREATE TENSOR yes BOOL AS EINSUM yes[i 70] = i % 3 = 1;
CREATE TENSOR byte INT8 AS EINSUM byte[i 5] = 50 * i - 100;
CREATE TENSOR short INT16 AS EINSUM short[i 3] = 10000 * i - 10000;
CREATE TENSOR middle INT32 AS EINSUM middle[i 3] = 1000000000 * i - 1000000000;
CREATE TENSOR pixel UINT8 AS EINSUM pixel[y 2, x 3] = 100 * y + 50 * x;
CREATE TENSOR port UINT16 AS EINSUM port[i 3] = 30000 * i;
CREATE TENSOR address UINT32 AS EINSUM address[i 3] = 2000000000 * i;
CREATE TENSOR half FLOAT16 AS EINSUM half[i 4] = i / 10;
CREATE TENSOR brain BFLOAT16 AS EINSUM brain[i 4] = i / 10;
CREATE TENSOR e4m3 FLOAT8_E4M3 AS EINSUM e4m3[i 4] = i / 10;
CREATE TENSOR e5m2 FLOAT8_E5M2 AS EINSUM e5m2[i 4] = i / 10;
CREATE TENSOR blocks8 Q8_0 AS EINSUM blocks8[i 2, j 32] = (i + 1) * (j - 16);
CREATE TENSOR blocks4 Q4_0 AS EINSUM blocks4[i 2, j 32] = (i + 1) * (j - 16) / 2;
CREATE TENSOR one_value AS EINSUM one_value[i 40, j 40] = 7;
CREATE TENSOR few_cells PARTITION (2, 2) AS EINSUM few_cells[i 60, j 60] = CASE WHEN (i * 60 + j) % 601 = 5 THEN i + j / 8 ELSE 0 END;
CREATE TENSOR some_cells AS EINSUM some_cells[i 32, j 32] = CASE WHEN (5 * i + 3 * j) % 16 = 1 THEN i - j / 4 ELSE 0 END;
CREATE TENSOR mask AS EINSUM mask[i 64, j 64] = CASE WHEN (i * i * 7 + j * j * 13 + i * j) % 11 < 5 THEN 3 ELSE 0 END;
CREATE TENSOR three (i 2, "a label" 2, k 2);
INSERT INTO TENSOR three VALUES (0, 1, 0, 2.5), (1, 0, 1, -4);
CREATE TENSOR readings (time 0, sensor 3);
INSERT INTO TENSOR readings AT (time) EINSUM now[sensor 3] = 20 + sensor;
INSERT INTO TENSOR readings AT (time) EINSUM later[time 2, sensor 3] = 30 + time;
INSERT INTO TENSOR readings AT (time) VALUES (0, 1, 40.5);
ALTER TENSOR readings EXTEND (sensor 4);
CREATE TENSOR old_name AS EINSUM old_name[i 2] = i;
ALTER TENSOR old_name RENAME TO "new name";
ALTER TENSOR "new name" RENAME LABEL i TO row;
CREATE TENSOR gone AS EINSUM gone[i 4] = i;
DROP TENSOR gone;
CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, day TEXT, amount REAL, note BLOB);
INSERT INTO orders VALUES (1, 'Oslo', '2024-01-30', 5, x'00ff'), (2, 'Bergen', '2024-01-31', 2, NULL), (3, 'Oslo', '2024-02-01', 7, x'');
CREATE INDEX by_city ON orders (city);
CREATE VIEW per_city AS SELECT city, SUM(amount) AS total FROM orders GROUP BY city;
CREATE TENSOR Revenue (city IN (SELECT DISTINCT city FROM orders ORDER BY city), day FROM '2024-01-30' TO '2024-02-02')
    AS SELECT city, day, amount FROM orders;
ANALYZE TENSOR few_cells;
CREATE MACRO square(x) AS x^2;
CREATE MACRO norm(x) AS SQRT(SUM(square(x[i])));
CREATE AGGREGATE longest(x, y) AS GREATEST(x, y) INITIAL -INFINITY COMMUTATIVE ASSOCIATIVE IDEMPOTENT;
COMMENT ON TENSOR whole IS 'kept since the first release';
CREATE USER ada PASSWORD '{PASSWORD}' ADMIN;
CREATE USER guest PASSWORD 'x' RESTRICTED;
GRANT SELECT ON whole TO guest;
"""
# Of tensors of few cells those that are not zero, and how many cells there are.
QUERIES = [
    "SHOW TENSORS", "DESCRIBE whole", "DESCRIBE Revenue", "SHOW MACROS", "SHOW AGGREGATES", "SHOW USERS",
    "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE '%eindb_%' ORDER BY name",
    *(f'EINSUM Z[i] = {name}[i]' for name in ("single", "number", "pair", "small_pair", "special", "yes", "byte", "short",
                                               "middle", "port", "address", "half", "brain", "e4m3", "e5m2")),
    "EINSUM Z[] = scalar[]", "EINSUM Z[i,j] = whole[i,j]", "EINSUM Z[y,x] = pixel[y,x]",
    "EINSUM Z[i,j] = blocks8[i,j]", "EINSUM Z[i,j] = blocks4[i,j]", "EINSUM Z[i,j,k] = three[i,j,k]",
    *(f"SELECT COUNT(*), SUM(val), MIN(val), MAX(val) FROM {name}" for name in ("one_value", "few_cells", "some_cells", "mask")),
    *(f"SELECT * FROM {name} WHERE val <> 0 ORDER BY 1, 2" for name in ("few_cells", "some_cells")),
    "EINSUM Z[i] = SUM(mask[i,j] * (j + 1))", "SELECT * FROM readings", 'SELECT * FROM "new name"',
    "SELECT id, city, day, amount, hex(note) FROM orders ORDER BY id", "SELECT * FROM per_city ORDER BY city",
    "SELECT * FROM Revenue", "EINSUM Z[] = Revenue['Oslo','2024-02-01']",
    "EINSUM Z[] = ROUND(1000 * norm(single))", "EINSUM Z[i] = longest(whole[i,j])", "EINSUM Z[i,k] = SUM(whole[i,j] * whole[k,j])",
    "PRAGMA integrity_check",
]  # fmt: skip


def run(eindb, *arguments):
    return subprocess.run([eindb, "--json", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def rows(eindb, database, query):
    return json.loads(run(eindb, database, "-c", query))


def main():
    eindb = sys.argv[1]
    version = run(eindb, "--version").split()[1]
    packed, facts = FOLDER / f"eindb-{version}.db.gz", FOLDER / f"eindb-{version}.json"
    if packed.exists():
        raise SystemExit(f"{packed} has been made already")
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "made.db"
        run(eindb, database, "-c", STATEMENTS)
        known = [[query, rows(eindb, database, query)] for query in QUERIES]
        packed.write_bytes(gzip.compress(database.read_bytes(), mtime=0))
    lines = ",\n".join(json.dumps(pair) for pair in known)
    facts.write_text(f'{{"version": "{version}", "password": "{PASSWORD}", "facts": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()

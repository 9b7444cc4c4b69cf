"""Random statements of ordinary SQL over integers, numbers, texts, booleans, dates and NULLs, by one seed."""

import random

COLUMNS = {
    "t": {"id": "int", "a": "int", "b": "int", "x": "float", "n": "numeric", "s": "text", "u": "text", "d": "date", "ts": "timestamp", "f": "bool"},
    "r": {"id": "int", "t_id": "int", "k": "int", "name": "text", "day": "date"},
}
SCHEMA = """
CREATE TABLE t (id bigint PRIMARY KEY, a bigint, b bigint, x double precision, n numeric, s text, u varchar(20), d date, ts timestamp, f boolean);
CREATE TABLE r (id bigint PRIMARY KEY, t_id bigint, k bigint, name text, day date);
"""
INTEGERS = [0, 1, 2, 3, -1, -7, 10, 42, 100, 1000000007, -9223372036854775807, 9223372036854775807]
TEXTS = ["", "a", "b", "abc", "ABC", "aBc", "Zed", "a%", "a_c", "10", "-3", "x y", " pad ", "Ünï", "zz"]
WORDS = ["year", "month", "day", "quarter", "dow", "doy", "isodow", "week", "decade", "century"]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Statements:
    """Makes statements, and the rows of the tables that they read."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.sources = []  # (alias, columns) of the query at hand
        self.depth = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    # ---- Rows ----------------------------------------------------------------------------------------------------------

    def rows(self):
        """INSERT statements that fill the tables."""
        for number in range(1, 41):
            values = [str(number)] + [self.stored(kind) for kind in list(COLUMNS["t"].values())[1:]]
            yield f"INSERT INTO t VALUES ({', '.join(values)})"
        for number in range(1, 31):
            values = [str(number), self.pick("NULL", str(self.random.randint(1, 45)))]
            values += [self.stored(kind) for kind in list(COLUMNS["r"].values())[2:]]
            yield f"INSERT INTO r VALUES ({', '.join(values)})"

    def stored(self, kind):
        if self.random.random() < 0.15:
            return "NULL"
        if kind == "int":
            return str(self.random.randint(-20, 20))
        return self.constant(kind)

    # ---- Constants -----------------------------------------------------------------------------------------------------

    def constant(self, kind):
        r = self.random
        if kind == "int":
            return str(r.choice(INTEGERS) if r.random() < 0.2 else r.randint(-20, 20))
        if kind == "float":
            return f"{r.randint(-40, 40) / 8}::float8" if r.random() < 0.5 else f"'{r.randint(-40, 40) / 8}'::float8"
        if kind == "numeric":
            return f"{r.randint(-400, 400) / 4:.2f}"
        if kind == "text":
            return quoted(r.choice(TEXTS))
        if kind == "date":
            day = f"{r.randint(1990, 2030):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
            return self.pick(f"DATE '{day}'", f"'{day}'::date", f"CAST('{day}' AS date)")
        if kind == "timestamp":
            return (f"TIMESTAMP '{r.randint(1990, 2030):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02} "
                    f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}'")
        if kind == "interval":
            return f"INTERVAL '{self.pick('1 day', '2 months', '3 hours', '1 year 2 days', '90 minutes', '-5 days')}'"
        return self.pick("TRUE", "FALSE")

    # ---- Expressions ---------------------------------------------------------------------------------------------------

    def column(self, kind):
        found = [f"{alias}.{name}" for alias, columns in self.sources for name, of in columns.items() if of == kind]
        return self.random.choice(found) if found else None

    def value(self, kind, depth=3):
        """An expression of the kind."""
        r = self.random
        if depth <= 0 or r.random() < 0.3:
            column = self.column(kind)
            if column and r.random() < 0.75:
                return column
            if r.random() < 0.04:
                return f"NULL::{ {'int': 'bigint', 'float': 'float8', 'bool': 'boolean'}.get(kind, kind)}"
            return self.constant(kind)
        return getattr(self, "make_" + kind)(depth - 1)

    def common(self, kind, depth):
        v = lambda: self.value(kind, depth)  # noqa: E731
        shape = self.random.randrange(5)
        if shape == 0:
            return f"COALESCE({v()}, {v()})"
        if shape == 1:
            return f"CASE WHEN {self.value('bool', depth)} THEN {v()} ELSE {v()} END"
        if shape == 2:
            return f"NULLIF({v()}, {v()})"
        if shape == 3:
            return f"CASE {self.value('int', depth)} WHEN {self.value('int', 0)} THEN {v()} WHEN {self.value('int', 0)} THEN {v()} END"
        return f"{self.pick('GREATEST', 'LEAST')}({v()}, {v()})" if kind != "bool" else v()

    def make_int(self, depth):
        v = lambda: self.value("int", depth)  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} {self.pick('+', '-', '*')} {v()})",
            lambda: f"{v()} {self.pick('+', '-')} {v()}",
            lambda: f"({v()} {self.pick('/', '%')} {v()})",
            lambda: f"(- {v()})",
            lambda: f"ABS({v()})",
            lambda: f"{self.pick('LENGTH', 'CHAR_LENGTH', 'OCTET_LENGTH')}({self.value('text', depth)})",
            lambda: f"STRPOS({self.value('text', depth)}, {self.value('text', 0)})",
            lambda: f"({self.value('date', depth)} - {self.value('date', depth)})",
            lambda: f"MOD({v()}, {self.random.randint(1, 9)})",
            lambda: f"CAST({self.value(self.pick('numeric', 'float'), depth)} AS bigint)",
            lambda: f"EXTRACT({self.pick(*WORDS)} FROM {self.value(self.pick('date', 'timestamp'), depth)})::bigint",
            lambda: f"POSITION({self.value('text', 0)} IN {self.value('text', depth)})",
            lambda: self.common("int", depth),
            lambda: self.scalar_query("int"),
        ])()

    def make_float(self, depth):
        v = lambda: self.value("float", depth)  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} {self.pick('+', '-', '*')} {v()})",
            lambda: f"({v()} / {v()})",
            lambda: f"CAST({self.value(self.pick('int', 'numeric'), depth)} AS float8)",
            lambda: f"SQRT(ABS({v()}))",
            lambda: f"{self.pick('FLOOR', 'CEIL', 'ROUND', 'TRUNC', 'SIGN', 'ABS')}({v()})",
            lambda: self.common("float", depth),
        ])()

    def make_numeric(self, depth):
        v = lambda: self.value("numeric", depth)  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} {self.pick('+', '-', '*')} {self.value(self.pick('int', 'numeric'), 0)})",
            lambda: f"({v()} / {v()})",
            lambda: f"ROUND({self.value('numeric', 0)}, {self.random.randint(0, 3)})",
            lambda: f"CAST({self.value('int', depth)} AS numeric)",
            lambda: self.common("numeric", depth),
        ])()

    def make_text(self, depth):
        v = lambda: self.value("text", depth)  # noqa: E731
        i = lambda: str(self.random.randint(-2, 5))  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} || {v()})",
            lambda: f"({v()} || {self.value(self.pick('int', 'bool', 'date'), depth)})",
            lambda: f"{self.pick('UPPER', 'LOWER', 'BTRIM', 'LTRIM', 'RTRIM', 'REVERSE', 'INITCAP')}({v()})",
            lambda: f"SUBSTR({v()}, {i()})",
            lambda: f"SUBSTRING({v()} FROM {i()} FOR {self.random.randint(0, 4)})",
            lambda: f"{self.pick('LEFT', 'RIGHT')}({v()}, {i()})",
            lambda: f"REPLACE({v()}, {self.constant('text')}, {self.constant('text')})",
            lambda: f"{self.pick('LPAD', 'RPAD')}({v()}, {self.random.randint(0, 8)}, {self.constant('text')})",
            lambda: f"REPEAT({v()}, {self.random.randint(0, 2)})",
            lambda: f"CAST({self.value(self.pick('int', 'bool', 'date', 'timestamp'), depth)} AS text)",
            lambda: f"SPLIT_PART({v()}, {self.constant('text')}, {self.random.randint(1, 3)})",
            lambda: f"CONCAT({v()}, {self.value('int', 0)})",
            lambda: f"TRIM({self.pick('LEADING', 'TRAILING', 'BOTH')} {self.constant('text')} FROM {v()})",
            lambda: f"TO_CHAR({self.value('timestamp', depth)}, '{self.pick('YYYY-MM-DD', 'HH24:MI:SS', 'DD Mon YYYY', 'Day')}')",
            lambda: self.common("text", depth),
            lambda: self.scalar_query("text"),
        ])()

    def make_date(self, depth):
        v = lambda: self.value("date", depth)  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} {self.pick('+', '-')} {self.random.randint(0, 400)})",
            lambda: f"CAST({self.value('timestamp', depth)} AS date)",
            lambda: f"DATE_TRUNC('{self.pick('month', 'year', 'week', 'quarter')}', {v()})::date",
            lambda: self.common("date", depth),
        ])()

    def make_timestamp(self, depth):
        v = lambda: self.value("timestamp", depth)  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} {self.pick('+', '-')} {self.constant('interval')})",
            lambda: f"({self.value('date', depth)} + {self.constant('interval')})",
            lambda: f"DATE_TRUNC('{self.pick('day', 'hour', 'month', 'minute')}', {v()})",
            lambda: f"CAST({self.value('date', depth)} AS timestamp)",
            lambda: self.common("timestamp", depth),
        ])()

    def make_bool(self, depth):
        kind = self.pick("int", "int", "float", "numeric", "text", "text", "date", "timestamp")
        v = lambda: self.value(kind, depth)  # noqa: E731
        t = lambda: self.value("text", depth)  # noqa: E731
        b = lambda: self.value("bool", depth)  # noqa: E731
        return self.random.choice([
            lambda: f"({v()} {self.pick('=', '<>', '!=', '<', '>', '<=', '>=')} {v()})",
            lambda: f"({v()} {self.pick('=', '<', '>=')} {v()})",
            lambda: f"({b()} {self.pick('AND', 'OR')} {b()})",
            lambda: f"(NOT {b()})",
            lambda: f"({v()} IS {self.pick('', 'NOT ')}NULL)",
            lambda: f"({b()} IS {self.pick('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE', 'UNKNOWN')})",
            lambda: f"({t()} {self.pick('LIKE', 'NOT LIKE', 'ILIKE')} {quoted(self.pick('a%', '%b%', '_', '%', 'A_C', '', 'a!%'))})",
            lambda: f"({v()} {self.pick('', 'NOT ')}IN ({v()}, {v()}, {v()}))",
            lambda: f"({v()} {self.pick('', 'NOT ')}BETWEEN {self.pick('', '', 'SYMMETRIC ')}{v()} AND {v()})",
            lambda: f"({v()} IS {self.pick('', 'NOT ')}DISTINCT FROM {v()})",
            lambda: f"({self.value('int', 0)} {self.pick('', 'NOT ')}IN (SELECT k FROM r WHERE k IS NOT NULL))",
            lambda: "EXISTS (SELECT 1 FROM r WHERE " + self.inner_condition() + ")",
            lambda: f"(({t()}) < ({t()} || {t()}))",
        ])()

    def inner_condition(self):
        outer = self.column("int") or "1"
        return f"r.t_id = {outer} AND r.k > {self.random.randint(-10, 10)}"

    def scalar_query(self, kind):
        if kind == "int":
            outer = self.column("int") or "1"
            return self.pick(f"(SELECT {self.pick('COUNT(*)', 'MAX(k)', 'MIN(id)')} FROM r WHERE r.t_id = {outer})",
                             "(SELECT k FROM r ORDER BY id LIMIT 1)", f"(SELECT id FROM r WHERE id = {outer})")
        return self.pick("(SELECT MIN(name) FROM r)", "(SELECT name FROM r ORDER BY id DESC LIMIT 1)")

    # ---- Queries -------------------------------------------------------------------------------------------------------

    def any_value(self, depth=3):
        return self.value(self.pick("int", "int", "float", "numeric", "text", "text", "date", "timestamp", "bool"), depth)

    def from_clause(self):
        shape = self.random.randrange(6)
        if shape < 3:
            self.sources = [("t", COLUMNS["t"])]
            return "t"
        if shape == 3:
            self.sources = [("t", COLUMNS["t"]), ("q", COLUMNS["r"])]
            join = self.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
            return f"t {join} r q ON t.{self.pick('id', 'a')} = q.t_id"
        if shape == 4:
            self.sources = [("q", COLUMNS["r"])]
            return "r AS q"
        self.sources = [("w", {"a": "int", "s": "text", "d": "date"})]
        return "(SELECT a, s, d FROM t WHERE a IS NOT NULL) AS w"

    def query(self):
        """A SELECT with a total order of its rows, by all its columns."""
        source = self.from_clause()
        if self.random.random() < 0.3:
            return self.grouped(source)
        values = [self.any_value() for _ in range(self.random.randint(1, 4))]
        columns = ", ".join(f"{value} AS c{n}" for n, value in enumerate(values, 1))
        where = f" WHERE {self.value('bool')}" if self.random.random() < 0.7 else ""
        distinct = "DISTINCT " if self.random.random() < 0.2 else ""
        text = f"SELECT {distinct}{columns} FROM {source}{where}"
        if self.random.random() < 0.1 and not distinct:
            other = ", ".join(f"{value}" for value in values)
            word = self.pick("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
            text += f" {word} SELECT {other} FROM {source} WHERE {self.value('bool', 1)}"
        return text + self.order(len(values))

    def grouped(self, source):
        key = self.column(self.pick("int", "text", "date")) or "1"
        aggregates = []
        for _ in range(self.random.randint(1, 3)):
            aggregates.append(self.random.choice([
                lambda: "COUNT(*)",
                lambda: f"COUNT({self.any_value(1)})",
                lambda: f"COUNT(DISTINCT {self.value('int', 1)})",
                lambda: f"SUM({self.value('int', 0)})",
                lambda: f"AVG({self.value('int', 0)})",
                lambda: f"{self.pick('MIN', 'MAX')}({self.value(self.pick('int', 'text', 'date', 'float', 'timestamp'), 1)})",
                lambda: f"{self.pick('BOOL_AND', 'BOOL_OR')}({self.value('bool', 1)})",
                lambda: f"COUNT(*) FILTER (WHERE {self.value('bool', 1)})",
            ])())
        columns = ", ".join(f"{value} AS c{n}" for n, value in enumerate([key, *aggregates], 1))
        where = f" WHERE {self.value('bool', 2)}" if self.random.random() < 0.5 else ""
        having = f" HAVING COUNT(*) > {self.random.randint(0, 3)}" if self.random.random() < 0.3 else ""
        return f"SELECT {columns} FROM {source}{where} GROUP BY {key}{having}" + self.order(len(aggregates) + 1)

    def order(self, count):
        keys = [f"{n}{self.pick('', ' ASC', ' DESC')}{self.pick('', '', ' NULLS FIRST', ' NULLS LAST')}" for n in range(1, count + 1)]
        limit = f" LIMIT {self.random.randint(0, 9)}" if self.random.random() < 0.2 else ""
        offset = f" OFFSET {self.random.randint(0, 3)}" if self.random.random() < 0.1 else ""
        return " ORDER BY " + ", ".join(keys) + limit + offset

    def write(self):
        """A statement that changes t, and RETURNING that shows it."""
        self.sources = [("t", COLUMNS["t"])]
        columns = self.random.sample([c for c in COLUMNS["t"] if c != "id"], 3)
        shape = self.random.randrange(3)
        if shape == 0:
            settings = ", ".join(f"{c} = {self.value(COLUMNS['t'][c], 2)}" for c in columns)
            return f"UPDATE t SET {settings} WHERE {self.value('bool', 2)} RETURNING id, {', '.join(columns)}"
        if shape == 1:
            self.sources = []
            values = ", ".join(self.value(COLUMNS["t"][c], 1) for c in columns)
            number = self.random.randint(1, 1000)
            return (f"INSERT INTO t (id, {', '.join(columns)}) VALUES ({number}, {values}) "
                    f"ON CONFLICT (id) DO {self.pick('NOTHING', f'UPDATE SET {columns[0]} = excluded.{columns[0]}')} RETURNING *")
        return f"DELETE FROM t WHERE {self.value('bool', 2)} AND id % 7 = 0 RETURNING id"

    def mistaken(self):
        """A statement that PostgreSQL probably refuses: operands of two kinds, an unknown column, a bad constant."""
        self.sources = [("t", COLUMNS["t"])]
        a, b = self.random.sample(["int", "text", "date", "bool", "timestamp"], 2)
        return self.random.choice([
            lambda: f"SELECT {self.value(a, 1)} {self.pick('=', '<', '+', '-', '*', '||')} {self.value(b, 1)} FROM t ORDER BY 1",
            lambda: f"SELECT {self.value(a, 1)} = {quoted(self.pick('x', '1', '2024-01-01', 'true', '1.5', ''))} FROM t ORDER BY 1",
            lambda: f"SELECT {self.pick('vall', 't.vall', 'q.a')} FROM t",
            lambda: f"SELECT CAST({self.value(a, 1)} AS {self.pick('bigint', 'date', 'boolean', 'int', 'smallint')}) FROM t ORDER BY 1",
            lambda: f"SELECT a FROM t WHERE {self.value(a, 1)} ORDER BY 1",
            lambda: f"SELECT {self.pick('UPPER', 'ABS', 'LENGTH', 'SQRT', 'SUM')}({self.value(a, 1)}) FROM t ORDER BY 1",
            lambda: f"SELECT a, COUNT(*) FROM t",
            lambda: f"SELECT a FROM t WHERE COUNT(*) > 1",
            lambda: f"SELECT COALESCE({self.value(a, 1)}, {self.value(b, 1)}) FROM t ORDER BY 1",
            lambda: f"UPDATE t SET {self.pick('a', 'd', 'f', 'u')} = {self.value(a, 1)} WHERE id = 3 RETURNING id",
            lambda: f"SELECT (SELECT k FROM r WHERE k IS NOT NULL) FROM t",
            lambda: f"SELECT a FROM t UNION SELECT s FROM t ORDER BY 1",
        ])()

    def statement(self):
        chance = self.random.random()
        if chance < 0.12:
            return self.write()
        if chance < 0.25:
            return self.mistaken()
        return self.query()

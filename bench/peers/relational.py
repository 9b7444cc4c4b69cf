"""Compares a matrix product with SQLite's own join and GROUP BY over tables of scalars."""

import sqlite3

from case import Outcome
from contestants import Call, Statement
from context import check_close
from rounds import measure, median_ratio

SIZES = (64, 128)
SQL = "SELECT a.i, b.k, SUM(a.val * b.val) FROM a JOIN b ON a.j = b.j GROUP BY a.i, b.k"


def tables(x, y):
    connection = sqlite3.connect(":memory:")
    for name, labels, array in (("a", "ij", x), ("b", "jk", y)):
        columns = ", ".join(f"{label} INTEGER" for label in labels)
        connection.execute(f"CREATE TABLE {name} ({columns}, val REAL, PRIMARY KEY ({', '.join(labels)})) WITHOUT ROWID")
        rows = ((*index, float(array[index])) for index in _indices(array.shape))
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    return connection


def _indices(shape):
    return ((i, j) for i in range(shape[0]) for j in range(shape[1]))


def run(context):
    for size in SIZES:
        outcome = Outcome("relational", f"ij,jk->ik of {size}x{size} float64")
        if not context.selects(outcome.name):
            continue
        x, y = (context.random((size, size), "float64") for _ in "xy")
        context.eindb.store("X", x)
        context.eindb.store("Y", y)
        query = "EINSUM 'ij,jk->ik' (X, Y)"
        check_close(outcome, context.eindb.array(query), x @ y, size)
        connection = tables(x, y)
        statement = Statement(context.eindb, query)
        contestants = {"eindb": statement, "sqlite": Call(lambda: connection.execute(SQL).fetchall())}
        if earlier := statement.of_earlier_build():
            contestants["earlier"] = earlier
        times = measure(contestants, min(context.rounds, 3))
        outcome.seconds = {name: sorted(values)[len(values) // 2] for name, values in times.items()}
        outcome.add("over sqlite", median_ratio(times["sqlite"], times["eindb"]))
        if earlier:
            outcome.add("over earlier", median_ratio(times["earlier"], times["eindb"]))
        yield outcome

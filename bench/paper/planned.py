"""Plans for workers that are not here, over tensors that are there by name and extents alone."""

import json


def make_empty(eindb, shapes):
    for name, (rows, columns) in shapes.items():
        eindb.drop(name)
        eindb.execute(f"CREATE TENSOR {name} (i {rows}, j {columns}) FLOAT32")


def received(eindb, query, strategy):
    """Elements that the workers of the strategy's plan receive from each other."""
    eindb.execute(f"SET strategy = '{strategy}'")
    return json.loads(eindb.execute(f"EXPLAIN (FORMAT json) {query}"))["elements_received"]

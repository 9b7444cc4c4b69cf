"""Plans for workers that do not exist, over tensors that have only a name and extents."""

import json


def make_empty(eindb, shapes):
    for name, (rows, columns) in shapes.items():
        eindb.drop(name)
        eindb.execute(f"CREATE TENSOR {name} (i {rows}, j {columns}) FLOAT32")


def received(eindb, query, strategy):
    """The number of elements that workers would receive from each other by the plan of the strategy."""
    eindb.execute(f"SET strategy = '{strategy}'")
    return json.loads(eindb.execute(f"EXPLAIN (FORMAT json) {query}"))["elements_received"]

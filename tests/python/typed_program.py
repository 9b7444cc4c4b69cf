"""A program that type checkers take: what stubs say of the package's names."""

import eindb
import numpy as np
from numpy.typing import NDArray

A = np.ones((2, 3))
product: NDArray[np.float64] = eindb.einsum("ij,kj->ik", A, A, optimize="greedy")
path, info = eindb.contract_path("ij,jk->ik", (2, 3), (3, 2), shapes=True)
steps: list[tuple[int, ...]] = path
cost: int = info.opt_cost
order: list[tuple[int, ...]] = eindb.path_optimizer(["ij", "jk"], "ik", {"i": 2, "j": 3, "k": 2})
contracted = eindb.array_contract([A, A], [("row", 0), ("col", 0)], optimize=eindb.path_optimizer)
with eindb.connect() as db:
    db["X"] = A
    rows: list[tuple[object, ...]] = db.execute("SELECT * FROM X WHERE val > ?", [0]).fetchall()
    shape: tuple[int, ...] = db["X"].shape
    db.store("Named", A, labels=["city", "day"], names={"city": ["Oslo", "Bergen"]})
    names: tuple[list[str] | None, ...] = db["Named"].names
    oslo = db["Named"]["Oslo", :]
    i, j = eindb.labels("i j")
    sums = (eindb.operand(A)[i, j] * 2 + 1).sum(j).compute()
    try:
        db.execute("NONSENSE")
    except eindb.Error as error:
        place: int = error.column

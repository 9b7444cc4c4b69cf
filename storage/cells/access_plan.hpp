#pragma once

#include <cstdint>
#include <vector>

#include "storage/cells/cell_walk.hpp"
#include "storage/cells/index_constraint.hpp"
#include "tensor/dtype.hpp"
#include "tensor/partition.hpp"

struct sqlite3_index_info;

namespace eindb {

/// How one scan of a tensor as a table goes: found while SQLite plans, used when it runs.
struct AccessPlan {
  struct Condition {
    std::size_t dimension;
    Comparison comparison;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  std::vector<Condition> conditions;  ///< in the order in which SQLite gives their values
  WalkOrder order;
  bool reads_values = true;
  friend bool operator==(const AccessPlan&, const AccessPlan&) = default;
};

/// The plan for what SQLite wants to know, with SQLite's structure filled in: which conditions it need not check, the
/// order, rows and costs; not idxNum and idxStr. All conditions on labels that bound a range are taken. An order of
/// labels is taken if the tiles give it: those of one band, which a walk in that order comes back to, fit into
/// `kept_bytes`. Example: ORDER BY i, j over A(i, j) cut 8 x 8 keeps 8 tiles; ORDER BY j, i as well; WHERE i = 3 ORDER
/// BY j none at all.
AccessPlan plan_access(sqlite3_index_info& info, const TileGrid& grid, DType dtype, std::int64_t kept_bytes);

}  // namespace eindb

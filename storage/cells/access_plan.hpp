#pragma once

#include <cstdint>
#include <vector>

#include "storage/cells/cell_walk.hpp"
#include "storage/cells/index_constraint.hpp"
#include "tensor/dtype.hpp"
#include "tensor/index_names.hpp"
#include "tensor/partition.hpp"

struct sqlite3_index_info;

namespace eindb {

/// The plan of one scan of a tensor as a table, made while SQLite plans and used when it runs.
struct AccessPlan {
  struct Condition {
    std::size_t dimension;
    Comparison comparison;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  std::vector<Condition> conditions;  ///< in the order in which SQLite passes their values
  WalkOrder order;
  bool reads_values = true;
  bool skips_zeros = false;  ///< a condition on the values holds for no zero
  friend bool operator==(const AccessPlan&, const AccessPlan&) = default;
};

/// Answers a planning query of SQLite. Fills in the conditions that SQLite need not check, the order, row counts and
/// costs, but not idxNum and idxStr. All conditions on labels that bound a range are used. An order of labels is used
/// if the tiles allow it: the tiles of one band, which a walk in that order revisits, must fit into `kept_bytes`.
/// Example: ORDER BY i, j over A(i, j) cut 8 x 8 keeps 8 tiles; so does ORDER BY j, i; WHERE i = 3 ORDER BY j keeps
/// none. With `has_cells`, a scan without zeros goes by the cells of one tile after the other (TileReader::has_cells),
/// and SQLite sorts its rows.
/// Conditions on indices with `names` are checked by SQLite, too, which compares the names.
AccessPlan plan_access(sqlite3_index_info& info, const TileGrid& grid, const DimensionNames& names, DType dtype,
                       std::int64_t kept_bytes, bool has_cells);

}  // namespace eindb

#pragma once

#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// What a statement gives and takes, known before it runs.
struct StatementDescription {
  std::vector<Column> columns;         ///< empty: it gives no rows
  std::vector<ColumnType> parameters;  ///< of $1, $2, ...; Any where the statement says nothing of them
  bool reads_only = false;             ///< SQL that leaves the database as it is
  bool gives_tensor = false;           ///< the columns are its labels and its values
};

}  // namespace eindb

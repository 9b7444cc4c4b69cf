#pragma once

#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// The columns and parameters of a statement, known before it runs.
struct StatementDescription {
  std::vector<Column> columns;         ///< empty: no rows
  std::vector<ColumnType> parameters;  ///< of $1, $2, ...; Any if the statement does not determine the type
  bool reads_only = false;             ///< SQL that does not change the database
  bool gives_tensor = false;           ///< the columns are the labels and values of a tensor
};

}  // namespace eindb

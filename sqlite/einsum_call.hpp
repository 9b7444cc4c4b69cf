#pragma once

#include <eindb/eindb.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sqlite/database.hpp"

namespace eindb_sqlite {

/// Rows of a result, and what has to stay as long as they are read.
struct ComputedEinsum {
  std::shared_ptr<const void> operands;
  eindb::QueryResult rows;
};

/// Computes the einsum: reads operands that are tables into arrays, by the host's connection, and runs eindb's EINSUM
/// with subscripts over them and over stored tensors, which are those of `state`, if there is one. A table of few cells
/// in large extents becomes a tensor of a database in memory instead. `without_zeros` leaves out the rows whose value
/// is 0.
///
/// Every label has one extent: that of the tensors that it is a dimension of, or that is given, or else the greatest
/// index in all tables, plus one. Cells without a row are 0. A value of NULL is NaN. HostError for a table that is no
/// tensor: an index that is negative, or no integer, or beyond the extent, two rows for one cell, a value that is no
/// number. Interruptible.
ComputedEinsum compute_einsum(Database& database, const FileStatePtr& state, const std::string& subscripts,
                              const std::vector<std::string>& operands, bool without_zeros);

/// The labels of the result, in order: what stands behind the arrow, or, without one, the letters that occur once, in
/// alphabetical order. HostError if there is an ellipsis, whose labels the operands tell.
std::vector<std::string> result_labels(const std::string& subscripts);

}  // namespace eindb_sqlite

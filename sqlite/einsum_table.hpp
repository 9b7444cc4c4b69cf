#pragma once

#include <memory>

#include "sqlite/database.hpp"
#include "sqlite/virtual_table.hpp"

namespace eindb_sqlite {

/// The module einsum. As a table function:
///
///     SELECT i, k, val FROM einsum('ij,jk->ik', 'A', 'B')
///     columns: key (a JSON array of the indices), val, hidden subscripts, operand1 ... operand8, a ... z
///
/// An operand is a tensor of the file, or a table, a view or a query in parentheses of the host, whose last column is
/// the value and whose others are indices; `A(3, 4)` gives the extents of such a one. The hidden columns a ... z are
/// the indices by their letters, NULL where the result has none such. A table that is created by it has exactly the
/// result's columns:
///
///     CREATE VIRTUAL TABLE temp.Z USING einsum('ij,jk->ik', A, B)
void add_einsum_module(const std::shared_ptr<Database>& database);

}  // namespace eindb_sqlite

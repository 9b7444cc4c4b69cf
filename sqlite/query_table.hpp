#pragma once

#include <memory>

#include "sqlite/database.hpp"
#include "sqlite/virtual_table.hpp"

namespace eindb_sqlite {

/// The module eindb_query. As a table function it runs any statement of eindb's, with values for its parameters:
///
///     SELECT row FROM eindb_query('EINSUM Z[i] = $1 * v[i]', 2)
///     columns: row, hidden statement, p1 ... p9, c0 ... c31
///
/// `row` is the value of a statement with one column, else an object of JSON by the columns' names; c0, c1, ... are the
/// single values. A table that is created by it has the columns of its query, which is run for each scan:
///
///     CREATE VIRTUAL TABLE temp.Z USING eindb_query('EINSUM Z[i,k] = SUM(A[i,j] * B[j,k])')
void add_query_module(const std::shared_ptr<Database>& database);

}  // namespace eindb_sqlite

#pragma once

#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"
#include "tensor/index_names.hpp"

namespace eindb {

/// The names of a dimension's indices that a clause of CREATE TENSOR or ALTER TENSOR ... EXTEND gives: a list, the
/// values of the rows of a query in their order, or a calendar. Error{Value} at the clause for names that cannot be
/// (IndexNames), for a query with several columns, and for one whose values are neither texts nor integers;
/// Error{MemoryLimit} if the names of a query take more than a quarter of memory_limit.
IndexNames::Ptr names_of_indices(const ast::NamesClause& clause, SessionState& session);

/// Those of `before`, and behind them those of the clause that are new; of a calendar those up to its last day or time,
/// and at least those of `before`. Error{Value} at the clause if that calendar is not the one that goes on.
IndexNames::Ptr more_names_of_indices(const IndexNames& before, const ast::NamesClause& clause, SessionState& session);

}  // namespace eindb

#pragma once

#include <span>

#include "engine/results/statement_description.hpp"
#include "engine/session/prepared_statement.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// The columns of a statement's result and the types of its parameters, from its text and the catalog. The statement
/// does not run, except SHOW, DESCRIBE and similar ones, which read only the session and the catalog. Throws Error with
/// spans into the statement. `parameters`: the known types of $1, $2, ...
StatementDescription describe_statement(const PreparedStatement& statement, std::span<const ColumnType> parameters,
                                        SessionState& session);

}  // namespace eindb

#pragma once

#include <span>

#include "engine/prepared_statement.hpp"
#include "engine/session_state.hpp"
#include "engine/statement_description.hpp"

namespace eindb {

/// What the statement gives and takes, from its text and the catalog. Statements that only tell of the session or the
/// catalog run for it. Throws Error, with spans into the statement.
/// `parameters` are the types of $1, $2, ... as far as they are known.
StatementDescription describe_statement(const PreparedStatement& statement, std::span<const ColumnType> parameters,
                                        SessionState& session);

}  // namespace eindb

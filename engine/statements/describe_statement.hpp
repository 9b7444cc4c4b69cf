#pragma once

#include <span>

#include "engine/results/statement_description.hpp"
#include "engine/session/prepared_statement.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// The columns of a statement's result and the types of its parameters, found from its text and the catalog without
/// running it; only SHOW, DESCRIBE and the like, which read nothing but session and catalog, are run. Throws Error,
/// with spans into the statement. `parameters` are the types of $1, $2, ... as far as they are known.
StatementDescription describe_statement(const PreparedStatement& statement, std::span<const ColumnType> parameters,
                                        SessionState& session);

}  // namespace eindb

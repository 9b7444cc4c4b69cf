#pragma once

#include "engine/session/open_database.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// Throws Error{ReadOnly} if the statement would change a tensor or table of an attached database, or make one there.
void refuse_attached_targets(const ast::Statement& statement, OpenDatabase& database);

}  // namespace eindb

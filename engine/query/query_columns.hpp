#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "engine/session/session_state.hpp"
#include "parser/binder/binder.hpp"

namespace eindb {

/// The columns of a query's rows: the labels and `val` of a single tensor, or the name and the value of several. They
/// are known before the query is planned.
std::vector<Column> columns_of(const BoundQuery& query);

/// The same for the text of a query in parentheses, of which parameters need no values yet. Throws Error for a text
/// that is no query, or a wrong one.
std::vector<Column> columns_of_text(const std::string& query, SessionState& session);

}  // namespace eindb

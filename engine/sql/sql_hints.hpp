#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.hpp"

namespace eindb {

/// A hint for an error of SQLite about `sql`, a user's statement, if the cause involves tensors or queries of eindb: an
/// EINSUM without parentheses, a column that a tensor does not have, a file's name as a table. Empty if there is none.
std::string hint_for_sql(std::string_view message, std::string_view sql, Catalog& catalog);

}  // namespace eindb

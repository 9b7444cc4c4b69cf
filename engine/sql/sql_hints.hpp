#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.hpp"

namespace eindb {

/// What to say beside an error of SQLite about `sql`, a person's statement, where tensors or queries of ours are
/// behind it: an EINSUM without parentheses, a column that a tensor does not have, a file's name as a table. Empty if
/// there is nothing to say.
std::string hint_for_sql(std::string_view message, std::string_view sql, Catalog& catalog);

}  // namespace eindb

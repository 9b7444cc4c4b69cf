#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.hpp"
#include "catalog/macro_catalog.hpp"
#include "engine/sql_types/sql_types.hpp"

namespace eindb {

/// A hint for an error of SQLite about `sql`, a user's statement: an EINSUM without parentheses, a column that no table
/// has, a text in double quotes, a file's name as a table. Empty if there is none. `names` finds the columns of tables.
std::string hint_for_sql(std::string_view message, std::string_view sql, Catalog& catalog, MacroCatalog& macros,
                         const SqlNames& names);

}  // namespace eindb

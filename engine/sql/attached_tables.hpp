#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.hpp"
#include "common/error.hpp"
#include "engine/sql/sql_text.hpp"
#include "parser/ast.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A name in two parts, of which the first is an attached database: other.X.
struct AttachedName {
  std::string schema;  ///< as it was attached
  std::string name;
};
std::optional<AttachedName> attached_name(std::string_view name, const SqliteConnection& connection);

/// The error of a statement that would change an attached database; `what` is named in it: other.X.
Error refused_as_attached(const std::string& what, std::optional<SourceSpan> place);

/// The error of a view or trigger of the database that would read an attached one.
Error refused_in_view(const std::string& tensor, SourceSpan place);

/// Where a name in SQL is looked up if databases are attached.
struct NamesBesideAttached {
  Catalog& catalog;
  SqliteConnection& connection;
  /// Whether the program's memory has a tensor of this name.
  std::function<bool(const std::string&)> is_of_program;
  /// Whether SQLite itself has a table of this lower-case name, such as json_each.
  std::function<bool(const std::string&)> is_of_sqlite;
};

/// The places of the SQL at which a tensor is named that SQLite would not find, or not alone, and what stands there
/// instead. SQLite finds the table of a tensor (storage/cells/tensor_table) without regard to the schema before its
/// name, and only if no schema has an ordinary table of the name. So the tensor X of a database that is attached as
/// other is a table named "other.X", with the alias X:
///
///     SELECT X.val FROM other.X          SELECT X.val FROM "other.X" AS "X"
///     SELECT other.X.val FROM other.X    SELECT "X".val FROM "other.X" AS "X"
///
/// and X alone is main.X where an attached database has a table of this name. Without a schema a name is looked for in
/// the session, the database, and what is attached, in the order of attachment.
///
/// Throws Error for a name that is that of a table and of a tensor in one attached database; for a view or trigger of
/// the database that would read one; for a view of an attached database that reads tensors, since SQLite would look for
/// them in the session's database; and for a statement that would change one. Spans are those of the user's statement.
std::vector<NameForSqlite> names_for_sqlite(const ast::Sql& sql, const NamesBesideAttached& names);

}  // namespace eindb

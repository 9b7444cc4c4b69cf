#include "engine/statements/views_of_dropped.hpp"

#include "common/coded_error.hpp"
#include "engine/sql/missing_table.hpp"
#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {
namespace {

/// The views of the database and of this session that cannot be compiled, as quoted names with their schemas.
std::set<std::string> broken_views(OpenDatabase& database) {
  std::set<std::string> names;
  auto select = database.connection().prepare(
      "SELECT 'main', name FROM main.sqlite_schema WHERE type = 'view'"
      " UNION ALL SELECT 'temp', name FROM temp.sqlite_schema WHERE type = 'view'");
  while (select.step()) names.insert(select.text(0) + "." + quote_identifier(select.text(1)));
  std::erase_if(names, [&](const std::string& name) {
    try {
      check_readable(name, database);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Cancelled) throw;
      return false;
    }
  });
  return names;
}

}  // namespace

void check_readable(const std::string& quoted_name, OpenDatabase& database) {
  for (;;) {
    try {
      database.connection().prepare("SELECT * FROM " + quoted_name);
      return;
    } catch (const Error& error) {
      if (!show_missing(error, database.tensor_tables)) throw;
    }
  }
}

ViewsOfDropped::ViewsOfDropped(OpenDatabase& database, ast::DropBehavior behavior)
    : database_(database), behavior_(behavior) {
  if (behavior_ == ast::DropBehavior::Plain) return;
  database_.tensor_tables.refresh();
  broken_before_ = broken_views(database_);
}

void ViewsOfDropped::settle(SourceSpan place) {
  if (behavior_ == ast::DropBehavior::Plain) return;
  database_.tensor_tables.refresh();
  auto broken = broken_views(database_);
  std::erase_if(broken, [&](const std::string& name) { return broken_before_.contains(name); });
  if (broken.empty()) return;
  if (behavior_ == ast::DropBehavior::Restrict)
    throw CodedError("2BP01", ErrorKind::Sql, "the view " + *broken.begin() + " depends on what would be dropped",
                     "DROP ... CASCADE drops such views as well", place);
  for (const auto& name : broken) database_.connection().execute("DROP VIEW " + name);
}

}  // namespace eindb

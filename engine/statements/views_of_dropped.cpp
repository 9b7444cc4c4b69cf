#include "engine/statements/views_of_dropped.hpp"

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "engine/query/stored_query.hpp"
#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {
namespace {

/// The views of the database and of this session that cannot be compiled, as quoted names with their schemas.
std::set<std::string> broken_views(SessionState& session) {
  std::set<std::string> names;
  auto select = session.database.connection().prepare(
      "SELECT 'main', name FROM main.sqlite_schema WHERE type = 'view'"
      " UNION ALL SELECT 'temp', name FROM temp.sqlite_schema WHERE type = 'view'");
  while (select.step()) names.insert(select.text(0) + "." + quote_identifier(select.text(1)));
  std::erase_if(names, [&](const std::string& name) {
    try {
      std::vector<VisibleTable> queries;
      check_readable(name, session, queries);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Cancelled) throw;
      return false;
    }
  });
  return names;
}

}  // namespace

ViewsOfDropped::ViewsOfDropped(SessionState& session, ast::DropBehavior behavior, Change change)
    : session_(session), behavior_(behavior), change_(change) {
  if (behavior_ == ast::DropBehavior::Plain) return;
  CHECK(session_.database.connection().in_transaction(), "views are looked at in the transaction of the statement");
  session_.database.tensor_tables.refresh();
  broken_before_ = broken_views(session_);
}

void ViewsOfDropped::settle(SourceSpan place) {
  if (behavior_ == ast::DropBehavior::Plain) return;
  session_.database.tensor_tables.refresh();
  auto broken = broken_views(session_);
  std::erase_if(broken, [&](const std::string& name) { return broken_before_.contains(name); });
  if (broken.empty()) return;
  const bool drops = change_ == Change::Drops;
  if (behavior_ == ast::DropBehavior::Restrict)
    throw CodedError("2BP01", ErrorKind::Sql,
                     "the view " + *broken.begin() + " depends on what would be " + (drops ? "dropped" : "renamed"),
                     drops ? "DROP ... CASCADE drops such views as well" : "DROP VIEW it, and make it again afterwards",
                     place);
  for (const auto& name : broken) session_.database.connection().execute("DROP VIEW " + name);
}

}  // namespace eindb

#include <string>

#include "catalog/comment_catalog.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

using What = ast::CommentOn::What;

/// The name of the table, view or index as it was created; nullopt if there is none.
std::optional<std::string> find_in_schema(const std::string& name, const char* type, SqliteConnection& connection) {
  auto select = connection.prepare(
      "SELECT name FROM main.sqlite_schema WHERE type = ? AND name = ? COLLATE NOCASE AND sql IS NOT NULL");
  select.bind(1, std::string(type)).bind(2, name);
  return select.step() ? std::optional(select.text(0)) : std::nullopt;
}

[[noreturn]] void fail_missing(const std::string& what, const ast::Identifier& name) {
  throw Error(ErrorKind::UnknownName, "there is no " + what + " " + name.text, name.span);
}

std::string tensor_of_database(const ast::Identifier& name, OpenDatabase& database) {
  if (const auto tensor = database.catalog.find_in(kMainSchema, name.text)) return tensor->own_name();
  if (database.catalog.find_own(name.text))
    throw Error(ErrorKind::Unsupported, name.text + " is a temporary tensor, and comments are for all sessions",
                name.span);
  const auto tensor = database.tensor(name);
  throw Error(ErrorKind::ReadOnly, tensor.name + " is in an attached database, which statements only read", name.span,
              "open that file by itself to comment on it");
}

std::string object_of(const ast::CommentOn& comment, OpenDatabase& database) {
  const auto& name = comment.object;
  auto& connection = database.connection();
  const bool of_column = comment.what == What::Column;
  if (comment.what == What::Tensor) return tensor_of_database(name, database);
  if (comment.what == What::Index) {
    if (const auto index = find_in_schema(name.text, "index", connection)) return *index;
    fail_missing("index", name);
  }
  if (comment.what == What::View || of_column)
    if (const auto view = find_in_schema(name.text, "view", connection)) return *view;
  if (comment.what == What::View) fail_missing("view", name);
  if (const auto table = find_in_schema(name.text, "table", connection)) return *table;
  if (const auto tensor = database.catalog.find_in(kMainSchema, name.text)) return tensor->own_name();
  fail_missing("table", name);
}

std::string column_of(const ast::CommentOn& comment, const std::string& object, OpenDatabase& database) {
  if (const auto tensor = database.catalog.find_in(kMainSchema, object)) {
    for (const auto& label : tensor->labels)
      if (equal_ignoring_case(label, comment.column->text)) return label;
    for (const std::string_view name : {"val", "re", "im"})
      if (equal_ignoring_case(name, comment.column->text) && (name == "val" || is_complex(tensor->dtype)))
        return std::string(name);
  }
  const auto columns = database.columns_in_sql(std::string(kMainSchema), object);
  if (columns)
    for (const auto& column : *columns)
      if (equal_ignoring_case(column.name, comment.column->text)) return column.name;
  throw Error(ErrorKind::UnknownName, object + " has no column " + comment.column->text, comment.column->span);
}

}  // namespace

Result execute_statement(const ast::CommentOn& comment, OpenDatabase& database) {
  SqliteTransaction transaction(database.connection());
  const auto object = object_of(comment, database);
  const auto column = comment.column ? column_of(comment, object, database) : "";
  CommentCatalog(database.connection()).put(object, column, comment.text);
  transaction.commit();
  return status_result("COMMENT");
}

}  // namespace eindb

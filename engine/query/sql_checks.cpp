#include "engine/query/sql_checks.hpp"

#include <algorithm>
#include <span>

#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/dialect/originals.hpp"
#include "engine/sql/attached_tables.hpp"
#include "engine/sql/missing_table.hpp"
#include "engine/sql/schema_objects.hpp"
#include "engine/sql/sql_hints.hpp"
#include "engine/sql/table_names.hpp"
#include "storage/cells/tensor_table.hpp"

namespace eindb {
namespace {

std::string how_to_write(const std::string& tensor) {
  return "use INSERT INTO TENSOR " + tensor + " VALUES (...) to set cells, UPDATE TENSOR or COPY for all of it";
}

/// The error with the condition of a CHECK as it was written.
Error with_written_condition(const Error& error) {
  constexpr std::string_view kBegins = "CHECK constraint failed: ";
  if (!error.message().starts_with(kBegins)) return error;
  return {error.kind(), std::string(kBegins) + dialect::as_written(error.message().substr(kBegins.size())),
          error.span(), error.hint()};
}

/// Whether SQLite's schema, such as temp, has a table or view of this name; tensors of databases are in none.
bool has_in_schema(const std::string& schema, const std::string& name, SqliteConnection& connection) {
  return connection.has_schema(schema) && !kind_of_object(schema, name, connection).empty();
}

}  // namespace

Error explained(const Error& of_sqlite, const RewrittenSql& text, OpenDatabase& database) {
  const auto error = with_written_condition(of_sqlite);
  auto& catalog = database.catalog;
  if (const auto name = text_between(error.message(), "table ", " may not be modified")) {
    auto place = find_name(text.text, *name);
    if (place) place = text.in_statement(*place);
    if (name->starts_with(kQueryTable))
      return {ErrorKind::ReadOnly, "the result of a query cannot be modified", place, "store it: CREATE TENSOR ... AS"};
    if (database.attached.find(*name) != nullptr)
      return {ErrorKind::ReadOnly, *name + " is an attached tensor, which statements only read", place,
              "its values are the program's to change"};
    if (catalog.find(*name))
      return {ErrorKind::ReadOnly, *name + " is a tensor, which SQL only reads", place, how_to_write(*name)};
  }
  auto hint = error.hint();
  const auto missing = missing_table(error);
  if (missing && hint.empty()) {
    const auto names = catalog.names();
    if (const auto nearest = nearest_name(without_schema(*missing), std::span<const std::string>(names)))
      hint = "did you mean the tensor " + *nearest + "?";
  }
  if (hint.empty())
    hint = hint_for_sql(error.message(), text.text, catalog, database.macros, database.sql_names.names());
  if (missing && !error.span()) {
    if (const auto place = find_name(text.text, without_schema(*missing)))
      return {error.kind(), error.message(), text.in_statement(*place), hint};
  }
  if (!error.span()) return {error.kind(), error.message(), std::nullopt, hint};
  return {error.kind(), error.message(), text.in_statement(*error.span()), hint};
}

bool is_ordinary(const std::string& name, SqliteConnection& connection) {
  auto select = connection.prepare(
      "SELECT 1 FROM (SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')"
      " UNION ALL SELECT name FROM temp.sqlite_schema WHERE sql NOT LIKE '%USING ' || ?2) WHERE name = ?1"
      " COLLATE NOCASE");
  select.bind(1, name).bind(2, kTemporaryModule);
  return select.step();
}

void check_schema_targets(const ast::Sql& sql, OpenDatabase& database) {
  for (const auto& [use, schema, name, span] : schema_targets(sql.text)) {
    const SourceSpan place{span.begin + sql.span.begin, span.end + sql.span.begin};
    if (const auto attached = database.connection().attached_schema(schema))
      throw refused_as_attached(*attached + "." + name, place);
    if (const auto* attached = database.attached.find(name)) {
      throw Error(ErrorKind::DuplicateName, attached->name() + " is an attached tensor", place,
                  "use another name, or detach it first");
    }
    const auto tensor = database.catalog.find_own(name);
    if (!tensor) continue;
    if (use == SchemaTarget::Use::Create) {
      throw Error(ErrorKind::DuplicateName, "a tensor " + tensor->name + " exists already", place,
                  "use another name: SQL sees tensors and tables side by side");
    }
    if (is_ordinary(name, database.connection())) continue;
    const auto what = tensor->name + " is a tensor, not a table";
    switch (use) {
      case SchemaTarget::Use::Drop: throw Error(ErrorKind::Type, what, place, "use DROP TENSOR " + tensor->name);
      case SchemaTarget::Use::Alter: throw Error(ErrorKind::Type, what, place, "use ALTER TENSOR " + tensor->name);
      case SchemaTarget::Use::Index:
        throw Error(ErrorKind::Type, what, place, "it needs no index: conditions on labels find their tiles");
      default: throw Error(ErrorKind::Type, what, place, "triggers stand on tables and views");
    }
  }
}

std::optional<Error> misleading_bracket(const RewrittenSql& text, OpenDatabase& database) {
  for (const auto& [name, span, misleads] : brackets_after_names(text.text)) {
    const bool of_tensor = !name.empty() && database.find_tensor(name).has_value();
    if (!misleads && !of_tensor) continue;
    const auto bracket = text.text.substr(span.begin, span.end - span.begin);
    return Error(ErrorKind::Syntax,
                 "SQL takes brackets for quotes: " + bracket + " would be another name, and would choose nothing", span,
                 of_tensor ? "conditions choose cells, as in FROM " + name +
                                 " WHERE i = 1; so does a bracket right after it there: FROM " + name + "[1,j]"
                           : "conditions choose rows: WHERE i = 1; another name stands after AS");
  }
  return std::nullopt;
}

void refuse_foreign_schema(const std::string& sql, OpenDatabase& database) {
  if (sql.find('.') == std::string::npos) return;
  const ast::Sql text{sql, {}, {0, 0}};
  const TableNames names(text);
  for (const auto& [schema, name, span, is_listed] : names.tables()) {
    if (schema.empty() || equal_ignoring_case(schema, kMainSchema) || !database.find_tensor(name)) continue;
    if (has_in_schema(schema, name, database.connection())) continue;
    const bool is_schema = database.connection().has_schema(schema);
    throw Error(ErrorKind::UnknownName, "no such table: " + schema + "." + name, span,
                is_schema ? "the tensor " + name + " is in no such schema: leave out the schema, or write main." + name
                          : "no database is attached as " + schema + ": ATTACH 'file' AS " + schema);
  }
}

void check_names_of_sqlite(const ast::Sql& sql, OpenDatabase& database) {
  for (const auto& name : names_in(sql.text, sql.text.size())) {
    const auto folded = to_lower(name);
    if (!folded.starts_with("pragma_") && !database.tensor_tables.names_module(folded)) continue;
    const auto tensor = database.catalog.find(name);
    if (!tensor) continue;
    throw Error(ErrorKind::DuplicateName, "SQL has a table " + folded + " of its own beside the tensor " + tensor->name,
                sql.span, "ALTER TENSOR " + tensor->name + " RENAME TO another name first");
  }
}

}  // namespace eindb

#include "engine/statements/schema_statements.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "catalog/comment_catalog.hpp"
#include "catalog/grant_catalog.hpp"
#include "common/coded_error.hpp"
#include "engine/query/postgres_sql.hpp"
#include "engine/query/sql_query.hpp"
#include "engine/query/stored_query.hpp"
#include "engine/results/rows.hpp"
#include "engine/sql/schema_change.hpp"
#include "engine/sql/schema_objects.hpp"
#include "engine/statements/views_of_dropped.hpp"
#include "parser/parser.hpp"
#include "parser/statement_outline.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

/// Runs SQL without rows, whose places are those of `whole`.
void run_in_place(std::string text, const ast::Sql& whole, SessionState& session) {
  auto prepared = prepare_sql({std::move(text), {}, whole.span}, session);
  prepared.step();
  prepared.commit();
}

void drop_all(const DropOfSeveral& drop, const ast::Sql& sql, SessionState& session) {
  ViewsOfDropped views(session, drop.behavior);
  for (const auto& statement : drop.statements) run_in_place(statement, sql, session);
  views.settle(sql.span);
}

/// The statements that made the triggers of a view, which go with it.
std::vector<std::string> triggers_of(const std::string& schema, const std::string& view, SqliteConnection& connection) {
  auto select = connection.prepare("SELECT sql FROM " + quote_identifier(schema) +
                                   ".sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE");
  select.bind(1, view);
  std::vector<std::string> texts;
  while (select.step()) texts.push_back(select.text(0));
  return texts;
}

void replace_view(const ReplacedView& view, const ast::Sql& sql, SessionState& session) {
  auto& connection = session.database.connection();
  const SourceSpan place{sql.span.begin + view.span.begin, sql.span.begin + view.span.end};
  const auto kind = kind_of_object(view.schema, view.name, connection);
  if (kind == "table")
    throw CodedError("42809", ErrorKind::Type, view.name + " is a table, not a view", "DROP TABLE it first", place);
  const auto name = quote_identifier(view.schema) + "." + quote_identifier(view.name);
  const auto triggers = triggers_of(view.schema, view.name, connection);
  if (kind == "view") run_in_place("DROP VIEW " + name, sql, session);
  auto create = sql;
  create.text = view.create;
  auto prepared = prepare_sql(create, session);
  prepared.step();
  // A view that cannot be read would have taken the place of one that could.
  std::vector<VisibleTable> queries;
  with_place(place, [&] { check_readable(name, session, queries); });
  for (const auto& trigger : triggers) run_in_place(trigger, sql, session);
}

/// The number of rows that the table has now; none if it was there before.
std::int64_t create_of_query(const TableOfQuery& table, const ast::Sql& sql, SessionState& session) {
  if (table.if_not_exists && !kind_of_object(table.schema, table.name, session.database.connection()).empty()) return 0;
  run_in_place(table.create, sql, session);
  auto insert = sql;
  insert.text = table.insert;
  auto prepared = prepare_sql(insert, session);
  prepared.step();
  prepared.commit();
  return session.database.connection().changes();
}

}  // namespace

std::optional<ast::Sql> translated_definition(const ast::Sql& sql, SessionState& session) {
  if (!runs_inner_sql(session) || outline_of(sql.text).kind != StatementKind::Create) return std::nullopt;
  std::optional<PostgresSql> translated;
  try {
    translated = translate_inner_sql(sql.text, session);
  } catch (const Error& error) {
    const auto place = error.span().value_or(SourceSpan{0, sql.text.size()});
    throw_at(error, SourceSpan{sql.span.begin + place.begin, sql.span.begin + place.end}, error.hint());
  }
  if (!translated) return std::nullopt;
  auto statement = parse_statement(translated->text);
  auto* const definition = std::get_if<ast::Sql>(&statement.node);
  return definition == nullptr ? std::nullopt : std::optional(std::move(*definition));
}

bool takes_several_statements(const ast::Sql& sql) {
  return drop_of_several(sql.text).has_value() || replaced_view(sql.text).has_value() ||
         table_of_query(sql.text).has_value();
}

void forget_what_is_missing(SqliteConnection& connection) {
  GrantCatalog(connection).forget_missing();
  CommentCatalog(connection).forget_missing();
}

std::optional<Result> execute_schema_statement(const ast::Sql& sql, SessionState& session) {
  const auto several = drop_of_several(sql.text);
  const auto view = several ? std::nullopt : replaced_view(sql.text);
  const auto table = several || view ? std::nullopt : table_of_query(sql.text);
  if (!several && !view && !table) return std::nullopt;
  session.database.check_writable();
  SqliteTransaction transaction(session.database.connection());
  auto result = status_result("OK");
  if (several) {
    drop_all(*several, sql, session);
    forget_what_is_missing(session.database.connection());
  } else if (table) result.rows_changed = create_of_query(*table, sql, session);
  else replace_view(*view, sql, session);
  transaction.commit();
  return result;
}

}  // namespace eindb

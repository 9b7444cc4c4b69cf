#include "engine/query/stored_query.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/sql/missing_table.hpp"
#include "parser/parser.hpp"
#include "parser/tokenizer.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

Error of_view(const Error& error) {
  return {error.kind(), "the query of a view: " + error.message(), std::nullopt, error.hint()};
}

/// The table of a query that nobody reads.
VisibleTable described(const StoredQuery& stored, SessionState& session) {
  try {
    const auto planned = plan_query(stored.query, session);
    return {session.database.connection(),
            TensorTable{.name = stored.name,
                        .labels = planned.query.results.front().label_names,
                        .dtype = planned.output().dtype,
                        .grid = planned.result_grid(),
                        .tiles = std::make_shared<HeldTileReader>([](std::int64_t) -> TilePtr {
                          throw Error(ErrorKind::Internal, "a table that is described is not read");
                        }),
                        .names = planned.query.results.front().index_names}};
  } catch (const Error& error) {
    throw of_view(error);
  }
}

}  // namespace

std::string stored_query_name(const ast::Sql& sql, const ast::EmbeddedQuery& embedded) {
  CHECK(embedded.span.begin >= sql.span.begin, "a query lies in the SQL around it");
  const auto text = sql.text.substr(embedded.span.begin - sql.span.begin, embedded.span.end - embedded.span.begin);
  Tokenizer tokenizer(text, 0, kEindbRules);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (!token.is(Token::Kind::Parameter)) continue;
    throw Error(ErrorKind::Unsupported, "the query of a view has no parameters: they would have no value later",
                SourceSpan{embedded.span.begin + token.span.begin, embedded.span.begin + token.span.end},
                "write the value, or select by a condition on the view");
  }
  return quote_identifier(text);
}

std::optional<StoredQuery> missing_query(const Error& of_sqlite) {
  auto name = missing_table(of_sqlite);
  if (!name) return std::nullopt;
  if (!name->starts_with('(')) name = without_schema(*name);
  if (!name->starts_with('(') || !name->ends_with(')')) return std::nullopt;
  try {
    return StoredQuery{*name, parse_query(std::string_view(*name).substr(1, name->size() - 2))};
  } catch (const Error& error) {
    throw of_view(error);
  }
}

void check_readable(const std::string& quoted_name, SessionState& session, std::vector<VisibleTable>& queries) {
  for (;;) {
    try {
      session.database.connection().prepare("SELECT * FROM " + quoted_name);
      return;
    } catch (const Error& error) {
      if (show_missing(error, session.database.tensor_tables)) continue;
      const auto stored = missing_query(error);
      if (!stored) throw;
      queries.push_back(described(*stored, session));
    }
  }
}

void show_sources_of_views(SessionState& session, std::vector<VisibleTable>& queries) {
  auto select = session.database.connection().prepare(
      "SELECT 'main', name FROM main.sqlite_schema WHERE type = 'view'"
      " UNION ALL SELECT 'temp', name FROM temp.sqlite_schema WHERE type = 'view'");
  while (select.step()) {
    try {
      check_readable(select.text(0) + "." + quote_identifier(select.text(1)), session, queries);
    } catch (const Error& error) {  // SQLite says what is wrong with it
      if (error.kind() == ErrorKind::Cancelled) throw;
    }
  }
}

std::optional<std::vector<TypedColumn>> columns_of(SessionState& session, const std::string& schema,
                                                   const std::string& table) {
  std::vector<VisibleTable> queries;
  for (;;) {
    try {
      return session.database.columns_of(schema, table);
    } catch (const Error& error) {
      const auto stored = missing_query(error);
      if (!stored) throw;
      queries.push_back(described(*stored, session));
    }
  }
}

}  // namespace eindb

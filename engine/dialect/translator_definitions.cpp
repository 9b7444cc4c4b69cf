// CREATE VIEW, CREATE TABLE AS, CREATE INDEX, and the expressions of CREATE TABLE.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/originals.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

/// The query of CREATE VIEW name [(columns)] [WITH (options)] AS query, whose name is at `place`.
std::string_view query_behind_as(std::string_view statement, std::size_t place) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  auto token = tokenizer.next();
  for (int depth = 0; depth > 0 || !token.is_word("AS"); token = tokenizer.next()) {
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated)) return {};
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
  }
  const auto begin = tokenizer.next().span.begin;
  auto end = begin;
  tokenizer = Tokenizer(statement, begin, kPostgresRules);
  for (token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is_symbol(';'); token = tokenizer.next())
    end = token.span.end;
  return statement.substr(begin, end - begin);
}

/// A token for a comparison of texts: names without quotes and in lower case. Empty if precedence may differ there.
std::string plain_token(const Token& token) {
  constexpr std::array<std::string_view, 11> kOperators{"=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", ","};
  constexpr std::array<std::string_view, 3> kUnlike{"collate", "escape", "glob"};
  switch (token.kind) {
    case Token::Kind::Word: {
      auto word = to_lower(token.text);
      return std::find(kUnlike.begin(), kUnlike.end(), word) == kUnlike.end() ? word : std::string();
    }
    case Token::Kind::QuotedName: return std::string(without_quotes(token.text));
    case Token::Kind::String: return std::string(token.text);
    default: break;
  }
  if (token.is_number()) return std::string(token.text);
  return std::find(kOperators.begin(), kOperators.end(), token.text) == kOperators.end() ? std::string()
                                                                                         : std::string(token.text);
}

}  // namespace

bool means_the_same(std::string_view written, std::string_view translated) {
  const auto plain = [](std::string_view text) {
    std::vector<std::string> out;
    for (const auto& token : tokens_of(text, kPostgresRules))
      if (!token.is_symbol('(') && !token.is_symbol(')') && !token.is(Token::Kind::End))
        out.push_back(plain_token(token));
    return out;
  };
  const auto tokens = plain(written);
  return tokens == plain(translated) && std::find(tokens.begin(), tokens.end(), std::string()) == tokens.end();
}

std::string declared_type(const Column& column) {
  if (column.type == SqlType::Any || column.type == SqlType::Unknown || column.type == SqlType::Complex) return {};
  if (!column.declared.empty()) return column.declared;
  return column.type == SqlType::Array ? std::string() : std::string(name_of(column.type));
}

SqlText with_original(const SqlText& translated, std::string_view original) {
  const auto text = with_original(std::string_view(translated.str()), original);
  return SqlText(text.substr(0, text.size() - translated.str().size())) + translated;
}

// Tables, views and indices have no schema but public, and pg_temp for those of the session.
SqlText Translator::name_of_new(const PgQuery__RangeVar& relation) const {
  const std::string schema = is_set(relation.schemaname) ? relation.schemaname : "public";
  if (schema != "public" && schema != "pg_temp" && schema != "temp" && schema != "main")
    refuse("3F000", "schema \"" + schema + "\" does not exist", relation.location,
           "all tables and tensors are in the schema public");
  return {quote_identifier(relation.relname), relation.location};
}

bool Translator::is_temporary(const PgQuery__RangeVar& relation) {
  const std::string_view schema = is_set(relation.schemaname) ? relation.schemaname : "";
  return std::string_view(relation.relpersistence) == "t" || schema == "pg_temp" || schema == "temp";
}

// The view calls the functions of the translation, which every session has. What PostgreSQL's clients wrote is kept in
// a comment where the translation is no SQL of PostgreSQL's.
SqlText Translator::create_view(const PgQuery__ViewStmt& node) {
  const auto& view = *node.view;
  if (node.query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) unsupported("a view of this form", view.location);
  if (node.n_options > 0) unsupported("a view WITH options", view.location, "leave out WITH (...)");
  if (node.with_check_option != PG_QUERY__VIEW_CHECK_OPTION__NO_CHECK_OPTION)
    unsupported("WITH CHECK OPTION", view.location, "views are only read");
  of_view_ = true;
  const auto rows = query(*node.query->select_stmt, nullptr);
  if (!parameters_.empty()) refuse("42P02", "there are no parameters in a view", view.location, "write their values");
  SqlText out(node.replace ? "CREATE OR REPLACE " : "CREATE ");
  if (is_temporary(view)) out += "TEMP ";
  out += SqlText("VIEW ") + name_of_new(view);
  if (node.n_aliases > 0) out += SqlText(" ") + name_list(names_of(nodes(node.n_aliases, node.aliases)));
  out += " AS ";
  const auto written = query_behind_as(statement_, static_cast<std::size_t>(view.location));
  if (!means_the_same(written, rows.text.str())) return out + with_original(rows.text, written);
  return out + SqlText(written, static_cast<int>(written.data() - statement_.data()));
}

SqlText Translator::create_table_as(const PgQuery__CreateTableAsStmt& node) {
  const auto& table = *node.into->rel;
  if (node.objtype == PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW)
    unsupported("a materialized view", table.location, "CREATE TABLE AS, or CREATE VIEW");
  if (node.query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
    unsupported("CREATE TABLE AS EXECUTE", table.location, "write the query");
  const auto rows = query(*node.query->select_stmt, nullptr);
  const auto names = names_of(nodes(node.into->n_col_names, node.into->col_names));
  if (rows.known && names.size() > rows.columns.size())
    refuse("42601", "too many column names were specified", table.location);
  SqlText out(is_temporary(table) ? "CREATE TEMP TABLE " : "CREATE TABLE ");
  if (node.if_not_exists) out += "IF NOT EXISTS ";
  out += name_of_new(table);
  if (!rows.known && !names.empty())
    unsupported("names of columns here", table.location, "give them in the query: SELECT x AS name");
  if (rows.known) {
    std::vector<SqlText> columns;
    for (std::size_t n = 0; n < rows.columns.size(); ++n) {
      const auto& column = rows.columns[n];
      if (column.type == SqlType::Complex)
        refuse("42804", "column \"" + column.name + "\" has complex numbers, which no column of a table holds",
               table.location, hint_for(SqlType::Complex));
      const auto type = declared_type(column);
      columns.emplace_back(quote_identifier(n < names.size() ? names[n] : column.name) + (type.empty() ? "" : " ") +
                           type);
    }
    out += SqlText(" (") + joined(columns) + ")";
  }
  out += " AS ";
  return out + (node.into->skip_data ? SqlText("SELECT * FROM (") + rows.text + ") LIMIT 0" : rows.text);
}

}  // namespace eindb::dialect

// What stands in FROM: tables, queries, joins.
#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/token_value.hpp"

namespace eindb::dialect {

SqlText Translator::sources(std::span<PgNode* const> nodes, Scope& scope) {
  std::vector<SqlText> texts;
  for (const auto* node : nodes) texts.push_back(source(*node, scope));
  return joined(texts);
}

SqlText Translator::source(const PgNode& node, Scope& scope) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR: return table(*node.range_var, scope);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: return derived(*node.range_subselect, scope);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION: return table_function(*node.range_function, scope);
    case PG_QUERY__NODE__NODE_JOIN_EXPR: return join(*node.join_expr, scope);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
      unsupported("TABLESAMPLE", node.range_table_sample->location, "write WHERE random() < 0.1");
    default: unsupported("this in a FROM clause", -1);
  }
}

// A table of the session hides the one of its name in public, which is main to SQLite.
std::string Translator::schema_for_sqlite(const std::string& schema, const std::string& table) {
  if (schema == "pg_temp") return "temp";
  if (schema != "public") return schema;
  return columns_of("temp", table) ? "main" : "";
}

SqlText Translator::table(const PgQuery__RangeVar& node, Scope& scope) {
  const std::string schema = is_set(node.schemaname) ? node.schemaname : "";
  const std::string name = node.relname;
  if (place_of_einsum(name)) return einsum(node, scope);
  const auto with = schema.empty() ? with_queries_.find(to_lower(name)) : with_queries_.end();
  const bool of_information = equal_ignoring_case(schema, "information_schema");
  Source out{.name = name, .columns = {}};
  SqlText text;
  if (with != with_queries_.end()) {
    out.columns = with->second.columns;
    out.known = with->second.known;
    text = SqlText(quote_identifier(name), node.location);
  } else {
    const bool of_catalog = of_information || equal_ignoring_case(schema, "pg_catalog");
    const auto own_schema = of_catalog ? std::string() : schema_for_sqlite(schema, name);
    std::optional<std::vector<Column>> columns;
    // As in PostgreSQL, the catalog comes before tables of the user's.
    if (of_catalog || (schema.empty() && name.starts_with("pg_"))) {
      const auto table = of_information ? "information_schema_" + to_lower(name) : to_lower(name);
      columns = columns_of("pg_catalog", table);
      uses_catalog_ = uses_catalog_ || of_catalog || columns.has_value();
      text = SqlText("\"pg_catalog\"." + quote_identifier(table), node.location);
    }
    if (!columns && !of_catalog) {
      columns = columns_of(own_schema, name);
      text = SqlText((own_schema.empty() ? "" : quote_identifier(own_schema) + ".") + quote_identifier(name),
                     node.location);
    }
    if (!columns && is_file(node)) {
      text = SqlText(quote_string(name), node.location);
      out.name = name.substr(name.rfind('/') + 1);
      out.name.resize(std::min(out.name.rfind('.'), out.name.size()));
    }
    out.known = columns.has_value();  // SQLite refuses a table that there is not, or knows it by itself
    if (!columns && of_view_ && !name.starts_with("sqlite_") && !name.starts_with("pragma_"))
      refuse("42P01", "relation \"" + name + "\" does not exist", node.location);
    if (columns) out.columns = std::move(*columns);
  }
  if (node.alias == nullptr) {
    // A table of the catalog has another name for SQLite.
    if (!text.str().ends_with(quote_identifier(name)) && !is_file(node))
      text += SqlText(" AS " + quote_identifier(name));
  } else {
    out.name = node.alias->aliasname;
    text += SqlText(" AS " + quote_identifier(out.name));
    const auto names = names_of(nodes(node.alias->n_colnames, node.alias->colnames));
    if (!names.empty() && (!out.known || names.size() > out.columns.size()))
      refuse("42P10", "table \"" + out.name + "\" has fewer columns available than specified", node.location);
    for (std::size_t n = 0; n < names.size(); ++n) {
      out.columns[n].sql = quote_identifier(out.name) + "." + quote_identifier(out.columns[n].name);
      out.columns[n].name = names[n];
    }
  }
  scope.add(std::move(out));
  return text;
}

// A string where a table is expected: FROM 'sales.csv'.
bool Translator::is_file(const PgQuery__RangeVar& node) const {
  const auto begin = static_cast<std::size_t>(std::max(node.location, 0));
  return begin < statement_.size() && statement_[begin] == '\'';
}

SqlText Translator::derived(const PgQuery__RangeSubselect& node, Scope& scope) {
  if (node.alias == nullptr)
    refuse("42601", "subquery in FROM must have an alias", -1, "For example, FROM (SELECT ...) AS foo.");
  CHECK(node.subquery->node_case == PG_QUERY__NODE__NODE_SELECT_STMT, "a subquery is a SELECT");
  if (node.lateral) return lateral(node, scope);
  const auto had_aggregate = has_aggregate_;
  auto inner = query(*node.subquery->select_stmt, nullptr);
  has_aggregate_ = had_aggregate;
  const auto names = names_of(nodes(node.alias->n_colnames, node.alias->colnames));
  const std::string alias = node.alias->aliasname;
  if (inner.known && names.size() > inner.columns.size())
    refuse("42P10",
           "table \"" + alias + "\" has " + std::to_string(inner.columns.size()) + " columns available but " +
               std::to_string(names.size()) + " columns specified",
           -1);
  if (!inner.known && !names.empty()) {
    inner = {.text = inner.text, .columns = {}};
    for (const auto& name : names) inner.columns.push_back({.name = name});
  }
  for (std::size_t n = 0; n < names.size(); ++n) inner.columns[n].name = names[n];
  std::vector<std::string> all;
  for (const auto& column : inner.columns) all.push_back(column.name);
  auto text = inner.text;
  const bool is_values = text.str().starts_with("VALUES ");
  if (!names.empty() || is_values)
    text = SqlText("WITH ") + SqlText(quote_identifier(alias)) + name_list(all) + " AS (" + inner.text +
           ") SELECT * FROM " + quote_identifier(alias);
  scope.add({.name = alias, .columns = std::move(inner.columns), .known = inner.known});
  return SqlText("(") + text + ") AS " + quote_identifier(alias);
}

// Columns of USING are in both sides of a join, whose sources begin at `first` and `middle`.
void Translator::check_using(const std::vector<std::string>& names, const Scope& scope, std::size_t first,
                             std::size_t middle) const {
  const auto check = [&](const std::string& name, std::size_t begin, std::size_t end, std::string_view side) {
    for (auto n = begin; n < end; ++n) {
      const auto& source = scope.sources()[n];
      const bool has = std::any_of(source.columns.begin(), source.columns.end(),
                                   [&](const Column& column) { return equal_ignoring_case(column.name, name); });
      if (has || !source.known) return;
    }
    refuse("42703",
           "column \"" + name + "\" specified in USING clause does not exist in " + std::string(side) + " table", -1);
  };
  for (const auto& name : names) {
    check(name, first, middle, "left");
    check(name, middle, scope.sources().size(), "right");
  }
}

SqlText Translator::join(const PgQuery__JoinExpr& node, Scope& scope) {
  if (node.alias != nullptr || node.join_using_alias != nullptr)
    unsupported("a name for a join", -1, "give the tables names");
  const auto first = scope.sources().size();
  auto left = source(*node.larg, scope);
  const auto middle = scope.sources().size();
  auto right = source(*node.rarg, scope);
  if (node.rarg->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR) right = SqlText("(") + right + ")";
  CHECK(first <= middle && middle < scope.sources().size(), "the right side of a join adds a source");
  std::string_view word = " JOIN ";
  if (node.jointype == PG_QUERY__JOIN_TYPE__JOIN_LEFT) word = " LEFT JOIN ";
  if (node.jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT) word = " RIGHT JOIN ";
  if (node.jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL) word = " FULL JOIN ";
  const bool crosses = !node.is_natural && node.n_using_clause == 0 && node.quals == nullptr;
  if (crosses) word = " CROSS JOIN ";
  auto& added = scope.sources().back();
  std::vector<std::string> columns;
  if (node.n_using_clause > 0) columns = names_of(nodes(node.n_using_clause, node.using_clause));
  if (node.is_natural) {
    for (const auto& column : added.columns)
      for (auto n = first; n < middle; ++n)
        for (const auto& other : scope.sources()[n].columns)
          if (equal_ignoring_case(column.name, other.name)) columns.push_back(column.name);
  }
  for (const auto& column : added.columns)
    if (column.type == SqlType::Complex && std::find(columns.begin(), columns.end(), column.name) != columns.end())
      refuse("42883", "a join USING complex numbers is not supported", -1, hint_for(column.type));
  if (!node.is_natural) check_using(columns, scope, first, middle);
  const bool merges = !columns.empty();
  added.joined = columns;
  auto text = left + word + right;
  if (merges) {
    text += SqlText(" USING ") + name_list(columns);
  } else if (node.quals != nullptr) {
    text += SqlText(" ON ") + condition(*node.quals, scope, "JOIN/ON");
  } else if (node.is_natural) {
    text += " ON TRUE";
  }
  return text;
}

}  // namespace eindb::dialect

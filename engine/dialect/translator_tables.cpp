#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

/// A part of the statement and what stands in its place.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

bool is_serial(std::string_view type) {
  return type == "serial" || type == "bigserial" || type == "smallserial" || type == "serial4" || type == "serial8" ||
         type == "serial2";
}

const PgQuery__Constraint* find_constraint(const PgQuery__ColumnDef& column, PgQuery__ConstrType type) {
  for (const auto* each : nodes(column.n_constraints, column.constraints))
    if (each->node_case == PG_QUERY__NODE__NODE_CONSTRAINT && each->constraint->contype == type)
      return each->constraint;
  return nullptr;
}

/// Whether the table's PRIMARY KEY (column) names the column alone.
bool is_key_of_table(const PgQuery__CreateStmt& table, const std::string& column) {
  for (const auto* each : nodes(table.n_table_elts, table.table_elts)) {
    if (each->node_case != PG_QUERY__NODE__NODE_CONSTRAINT) continue;
    const auto& constraint = *each->constraint;
    if (constraint.contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY && constraint.n_keys == 1 &&
        text_of(*constraint.keys[0]) == column)
      return true;
  }
  return false;
}

Token token_at(std::string_view statement, std::size_t place) {
  return Tokenizer(statement, place, kPostgresRules).next();
}

/// The end of int[] or int[3][], with so many pairs of brackets; SQLite takes brackets for quotes.
std::size_t end_of_array_type(std::string_view statement, std::size_t place, std::size_t dimensions) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  auto token = tokenizer.next();
  for (std::size_t closed = 0; closed < dimensions; token = tokenizer.next()) {
    if (token.is(Token::Kind::End)) throw NotTranslated();
    if (token.is_symbol(']') && ++closed == dimensions) return token.span.end;
  }
  throw NotTranslated();
}

/// The end of GENERATED ... AS IDENTITY and the options in parentheses behind it.
std::size_t end_of_identity(std::string_view statement, std::size_t place) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  auto token = tokenizer.next();
  while (!token.is_word("IDENTITY")) {
    if (token.is(Token::Kind::End)) throw NotTranslated();
    token = tokenizer.next();
  }
  auto end = token.span.end;
  token = tokenizer.next();
  if (!token.is_symbol('(')) return end;
  for (int depth = 1; depth > 0;) {
    token = tokenizer.next();
    if (token.is(Token::Kind::End)) throw NotTranslated();
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    end = token.span.end;
  }
  return end;
}

}  // namespace

// SQLite counts in columns that are INTEGER PRIMARY KEY alone; all else stays as it was written.
SqlText Translator::create_table(const PgQuery__CreateStmt& node) const {
  std::vector<Edit> edits;
  for (const auto* each : nodes(node.n_table_elts, node.table_elts)) {
    if (each->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF) continue;
    const auto& column = *each->column_def;
    if (column.type_name == nullptr) throw NotTranslated();
    const auto* const initial = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT);
    if (initial != nullptr && initial->raw_expr != nullptr &&
        initial->raw_expr->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
      const auto& call = *initial->raw_expr->func_call;
      const auto function = name_in_catalog(nodes(call.n_funcname, call.funcname));
      if ((function == "now" || function == "clock_timestamp" || function == "statement_timestamp") &&
          call.n_args == 0) {
        Tokenizer tokenizer(statement_, static_cast<std::size_t>(call.location), kPostgresRules);
        auto token = tokenizer.next();
        while (!token.is_symbol(')') && !token.is(Token::Kind::End)) token = tokenizer.next();
        edits.push_back({static_cast<std::size_t>(call.location), token.span.end, "CURRENT_TIMESTAMP"});
      }
    }
    const auto names = nodes(column.type_name->n_names, column.type_name->names);
    const auto type = names.empty() ? std::string() : text_of(*names.back());
    if (column.type_name->n_array_bounds > 0) {
      const auto begin = static_cast<std::size_t>(column.type_name->location);
      edits.push_back(
          {begin, end_of_array_type(statement_, begin, column.type_name->n_array_bounds), quoted(type + "[]")});
    }
    const auto* const identity = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY);
    if (!is_serial(type) && identity == nullptr) continue;
    const auto* const key = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY);
    if (key == nullptr && !is_key_of_table(node, column.colname))
      refuse("0A000", "column \"" + std::string(column.colname) + "\" counts, but is not the primary key",
             column.location,
             "write " + std::string(column.colname) + " serial PRIMARY KEY: other columns cannot count");
    const auto type_token = token_at(statement_, static_cast<std::size_t>(column.type_name->location));
    edits.push_back({type_token.span.begin, type_token.span.end, "INTEGER"});
    if (identity != nullptr) {
      const auto begin = static_cast<std::size_t>(identity->location);
      edits.push_back({begin, end_of_identity(statement_, begin), ""});
    }
    if (key != nullptr) {
      Tokenizer tokenizer(statement_, static_cast<std::size_t>(key->location), kPostgresRules);
      auto token = tokenizer.next();
      while (!token.is_word("KEY") && !token.is(Token::Kind::End)) token = tokenizer.next();
      edits.push_back({token.span.end, token.span.end, " AUTOINCREMENT"});
    }
  }
  if (edits.empty()) throw NotTranslated();
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  SqlText out;
  std::size_t copied = 0;
  for (const auto& [begin, end, text] : edits) {
    CHECK(copied <= begin && begin <= end && end <= statement_.size(), "edits follow each other");
    out += SqlText(statement_.substr(copied, begin - copied), static_cast<int>(copied));
    out += SqlText(text, static_cast<int>(begin));
    copied = end;
  }
  return out + SqlText(statement_.substr(copied), static_cast<int>(copied));
}

}  // namespace eindb::dialect

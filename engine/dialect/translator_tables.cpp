#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
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

/// Words that SQLite reserves, and PostgreSQL takes as names of tables and columns.
constexpr std::array<std::string_view, 13> kReservedBySqlite{
    "add",    "alter",   "autoincrement", "commit",      "delete", "drop",  "index",
    "insert", "nothing", "set",           "transaction", "update", "values"};

bool is_reserved_by_sqlite(const Token& token) {
  return token.is(Token::Kind::Word) && std::any_of(kReservedBySqlite.begin(), kReservedBySqlite.end(),
                                                    [&](std::string_view word) { return token.is_word(word); });
}

/// Whether the word belongs to ON DELETE SET NULL and the like.
bool is_of_action(const Token& before, const Token& word) {
  if (word.is_word("delete") || word.is_word("update") || word.is_word("commit")) return before.is_word("on");
  return word.is_word("set") && (before.is_word("delete") || before.is_word("update"));
}

/// Quotes the names from `place` on that SQLite reserves.
void quote_names(std::string_view statement, std::size_t place, std::vector<Edit>& edits) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  Token before;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (is_reserved_by_sqlite(token) && !is_of_action(before, token))
      edits.push_back({token.span.begin, token.span.end, quoted(to_lower(token.text))});
    before = token;
  }
}

/// The end of a column's definition that begins at `place`, before the comma or parenthesis behind it.
std::size_t end_of_column(std::string_view statement, std::size_t place) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  auto end = place;
  int depth = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (depth == 0 && (token.is_symbol(',') || token.is_symbol(')'))) return end;
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    end = token.span.end;
  }
  throw NotTranslated();
}

/// The names of the columns that the primary key has.
std::vector<std::string> primary_key(const PgQuery__CreateStmt& table) {
  std::vector<std::string> names;
  for (const auto* each : nodes(table.n_table_elts, table.table_elts)) {
    if (each->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF &&
        find_constraint(*each->column_def, PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY) != nullptr)
      names.emplace_back(each->column_def->colname);
    if (each->node_case == PG_QUERY__NODE__NODE_CONSTRAINT &&
        each->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY)
      for (const auto* key : nodes(each->constraint->n_keys, each->constraint->keys)) names.push_back(text_of(*key));
  }
  return names;
}

/// The place of the word that ends PRIMARY KEY.
std::size_t end_of_key(std::string_view statement, const PgQuery__Constraint& key) {
  Tokenizer tokenizer(statement, static_cast<std::size_t>(key.location), kPostgresRules);
  auto token = tokenizer.next();
  while (!token.is_word("KEY") && !token.is(Token::Kind::End)) token = tokenizer.next();
  return token.span.end;
}

/// DEFAULT now() is CURRENT_TIMESTAMP for SQLite, and DEFAULT 'x'::text is 'x'.
void translate_default(std::string_view statement, const PgNode& initial, std::vector<Edit>& edits) {
  if (initial.node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
    const auto& call = *initial.func_call;
    const auto function = name_in_catalog(nodes(call.n_funcname, call.funcname));
    const bool is_now = function == "now" || function == "clock_timestamp" || function == "statement_timestamp";
    if (!is_now || call.n_args > 0) return;
    const auto begin = static_cast<std::size_t>(call.location);
    Tokenizer tokenizer(statement, begin, kPostgresRules);
    auto token = tokenizer.next();
    while (!token.is_symbol(')') && !token.is(Token::Kind::End)) token = tokenizer.next();
    edits.push_back({begin, token.span.end, "CURRENT_TIMESTAMP"});
  } else if (initial.node_case == PG_QUERY__NODE__NODE_TYPE_CAST &&
             initial.type_cast->arg->node_case == PG_QUERY__NODE__NODE_A_CONST) {
    const auto begin = static_cast<std::size_t>(initial.type_cast->location);
    if (!token_at(statement, begin).is_symbol("::")) return;
    Tokenizer tokenizer(statement, begin, kPostgresRules);
    auto end = tokenizer.next().span.end;
    const auto last = static_cast<std::size_t>(initial.type_cast->type_name->location);
    int depth = 0;
    for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
      const bool of_type = token.span.begin == last || depth > 0 || token.is_symbol('(') || token.is_symbol('[') ||
                           token.is_symbol(']') || token.is_symbol('.') || token.is_word("varying") ||
                           token.is_word("precision") || token.is_word("without") || token.is_word("with") ||
                           token.is_word("time") || token.is_word("zone") || token.span.begin < last;
      if (!of_type) break;
      depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
      end = token.span.end;
    }
    edits.push_back({begin, end, ""});
  }
}

/// A part of the statement as it stands there, with the place of each token.
SqlText copied_text(std::string_view statement, std::size_t begin, std::size_t end) {
  SqlText out;
  Tokenizer tokenizer(statement.substr(0, end), begin, kPostgresRules);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    out += SqlText(statement.substr(begin, token.span.begin - begin));
    out += SqlText(token.text, static_cast<int>(token.span.begin));
    begin = token.span.end;
    if (token.is(Token::Kind::Unterminated)) break;
  }
  return out + SqlText(statement.substr(begin, end - begin));
}

/// The statement with its parts replaced.
SqlText edited(std::string_view statement, std::vector<Edit> edits) {
  if (edits.empty()) throw NotTranslated();
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  SqlText out;
  std::size_t copied = 0;
  for (const auto& [begin, end, text] : edits) {
    CHECK(copied <= begin && begin <= end && end <= statement.size(), "edits follow each other");
    out += copied_text(statement, copied, begin);
    out += SqlText(text, static_cast<int>(begin));
    copied = end;
  }
  return out + copied_text(statement, copied, statement.size());
}

std::size_t place_of(const PgQuery__RangeVar& relation) { return static_cast<std::size_t>(relation.location); }

}  // namespace

// GENERATED ... AS IDENTITY (options): SQLite counts from 1, by 1.
void Translator::check_identity(const PgQuery__Constraint& identity) const {
  for (const auto* each : nodes(identity.n_options, identity.options)) {
    if (each->node_case != PG_QUERY__NODE__NODE_DEF_ELEM) throw NotTranslated();
    const auto& option = *each->def_elem;
    const std::string_view name = option.defname;
    const auto* const value = option.arg;
    const bool is_one =
        value != nullptr && value->node_case == PG_QUERY__NODE__NODE_INTEGER && value->integer->ival == 1;
    const bool harmless = name == "cache" || name == "maxvalue" || name == "owned_by" ||
                          (name == "cycle" && (value == nullptr || value->node_case != PG_QUERY__NODE__NODE_BOOLEAN ||
                                               !value->boolean->boolval));
    if (!harmless && !is_one && value != nullptr)
      refuse("0A000", "the option " + std::string(name) + " of a column that counts is not supported", option.location,
             "columns count from 1, by 1: insert the first row with another number to count on from there");
  }
}

// SQLite counts in columns that are INTEGER PRIMARY KEY alone, takes NULL in other keys, and reserves other words; all
// else stays as it was written.
SqlText Translator::create_table(const PgQuery__CreateStmt& node) const {
  std::vector<Edit> edits;
  const auto keys = primary_key(node);
  for (const auto* each : nodes(node.n_table_elts, node.table_elts)) {
    if (each->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF) continue;
    const auto& column = *each->column_def;
    if (column.type_name == nullptr) throw NotTranslated();
    const auto* const initial = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT);
    if (initial != nullptr && initial->raw_expr != nullptr) translate_default(statement_, *initial->raw_expr, edits);
    const auto names = nodes(column.type_name->n_names, column.type_name->names);
    const auto type = names.empty() ? std::string() : text_of(*names.back());
    if (column.type_name->n_array_bounds > 0) {
      const auto begin = static_cast<std::size_t>(column.type_name->location);
      edits.push_back(
          {begin, end_of_array_type(statement_, begin, column.type_name->n_array_bounds), quoted(type + "[]")});
    }
    const auto* const identity = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY);
    const bool counts = is_serial(type) || identity != nullptr;
    const auto type_token = token_at(statement_, static_cast<std::size_t>(column.type_name->location));
    // SQLite would store the numbers among the values of a type json as numbers, and lose how they are written.
    if (type_named(type) == SqlType::Json && column.type_name->n_array_bounds == 0)
      edits.push_back({type_token.span.end, type_token.span.end, " text"});
    const bool in_key = std::find(keys.begin(), keys.end(), column.colname) != keys.end();
    const bool is_row_id = keys.size() == 1 && in_key && (counts || type_token.is_word("INTEGER"));
    if (in_key && !is_row_id && find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL) == nullptr) {
      const auto end = end_of_column(statement_, static_cast<std::size_t>(column.location));
      edits.push_back({end, end, " NOT NULL"});
    }
    if (!counts) continue;
    const auto* const key = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY);
    if (!is_row_id)
      refuse("0A000", "column \"" + std::string(column.colname) + "\" counts, but is not the primary key",
             column.location,
             "write " + std::string(column.colname) + " serial PRIMARY KEY: other columns cannot count");
    edits.push_back({type_token.span.begin, type_token.span.end, "INTEGER"});
    if (identity != nullptr) {
      check_identity(*identity);
      const auto begin = static_cast<std::size_t>(identity->location);
      edits.push_back({begin, end_of_identity(statement_, begin), ""});
    }
    if (key != nullptr) {
      const auto end = end_of_key(statement_, *key);
      edits.push_back({end, end, " AUTOINCREMENT"});
    }
  }
  quote_names(statement_, place_of(*node.relation), edits);
  return edited(statement_, std::move(edits));
}

// ADD COLUMN as in create_table(); all else stays as it was written.
SqlText Translator::alter_table(const PgQuery__AlterTableStmt& node) const {
  std::vector<Edit> edits;
  for (const auto* each : nodes(node.n_cmds, node.cmds)) {
    if (each->node_case != PG_QUERY__NODE__NODE_ALTER_TABLE_CMD) continue;
    const auto* const definition = each->alter_table_cmd->def;
    if (definition == nullptr || definition->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF) continue;
    const auto& column = *definition->column_def;
    const auto name = token_at(statement_, static_cast<std::size_t>(column.location));
    if (is_reserved_by_sqlite(name)) edits.push_back({name.span.begin, name.span.end, quoted(column.colname)});
    const auto* const initial = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT);
    if (initial != nullptr && initial->raw_expr != nullptr) translate_default(statement_, *initial->raw_expr, edits);
    if (column.type_name == nullptr || column.type_name->n_names == 0) continue;
    const auto type = text_of(*column.type_name->names[column.type_name->n_names - 1]);
    if (is_serial(type))
      refuse("0A000", "a column that counts cannot be added to a table", column.location,
             "create the table with " + std::string(column.colname) + " serial PRIMARY KEY");
    if (type_named(type) != SqlType::Json || column.type_name->n_array_bounds > 0) continue;
    const auto end = token_at(statement_, static_cast<std::size_t>(column.type_name->location)).span.end;
    edits.push_back({end, end, " text"});
  }
  return edited(statement_, std::move(edits));
}

// All indices are btrees, which is what USING btree says; SQLite builds them at once, and knows no classes of
// operators.
SqlText Translator::create_index(const PgQuery__IndexStmt& node) const {
  const std::string_view method = is_set(node.access_method) ? node.access_method : "btree";
  if (method != "btree")
    refuse("0A000", "an index USING " + std::string(method) + " is not supported", -1, "leave out USING: a btree");
  if (node.n_index_including_params > 0)
    refuse("0A000", "an index with INCLUDE is not supported", -1, "make them columns of the index");
  std::vector<Edit> edits;
  Tokenizer tokenizer(statement_, 0, kPostgresRules);
  std::size_t behind_verb = 0;
  Token before;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    const auto is_before_place = token.span.begin < place_of(*node.relation);
    if (behind_verb == 0 && token.is_word("index")) behind_verb = token.span.end;
    if (is_before_place && token.is_word("concurrently")) edits.push_back({token.span.begin, token.span.end, ""});
    if (!is_before_place && before.is_word("using") && token.is_word("btree"))
      edits.push_back({before.span.begin, token.span.end, ""});
    if (!is_before_place && token.is(Token::Kind::Word) && to_lower(token.text).ends_with("_ops") &&
        !before.is_symbol('(') && !before.is_symbol(','))
      edits.push_back({token.span.begin, token.span.end, ""});
    before = token;
  }
  quote_names(statement_, behind_verb, edits);
  return edited(statement_, std::move(edits));
}

}  // namespace eindb::dialect

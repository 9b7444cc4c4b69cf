#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

bool is_serial(std::string_view type) {
  return type == "serial" || type == "bigserial" || type == "smallserial" || type == "serial4" || type == "serial8" ||
         type == "serial2";
}

/// The last part of the type's name; empty for a column without a type.
std::string type_text(const PgQuery__ColumnDef& column) {
  if (column.type_name == nullptr || column.type_name->n_names == 0) return {};
  return text_of(*column.type_name->names[column.type_name->n_names - 1]);
}

const PgQuery__Constraint* find_constraint(const PgQuery__ColumnDef& column, PgQuery__ConstrType type) {
  for (const auto* each : nodes(column.n_constraints, column.constraints))
    if (each->node_case == PG_QUERY__NODE__NODE_CONSTRAINT && each->constraint->contype == type)
      return each->constraint;
  return nullptr;
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

/// Whether a word begins what follows a DEFAULT.
bool ends_default(const Token& token) {
  constexpr std::array<std::string_view, 10> kNext{"check",     "collate", "constraint", "deferrable", "generated",
                                                   "initially", "not",     "primary",    "references", "unique"};
  return token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated) || token.is_symbol(',') ||
         token.is_symbol(')') || token.is_symbol(';') ||
         std::any_of(kNext.begin(), kNext.end(), [&](std::string_view word) { return token.is_word(word); });
}

/// The expression behind DEFAULT, which is at `place`.
std::string_view default_at(std::string_view statement, std::size_t place) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  tokenizer.next();
  auto token = tokenizer.next();
  const auto begin = token.span.begin;
  auto end = begin;
  for (int depth = 0; depth > 0 || end == begin || !ends_default(token); token = tokenizer.next()) {
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated)) break;
    depth += token.is_symbol('(') || token.is_symbol('[') ? 1 : token.is_symbol(')') || token.is_symbol(']') ? -1 : 0;
    end = token.span.end;
    if (token.is_word("NULL")) return statement.substr(begin, end - begin);
  }
  return statement.substr(begin, end - begin);
}

/// The expression in parentheses behind the word, with them, of a constraint at `place`.
std::string_view group_behind(std::string_view statement, std::size_t place, std::string_view word) {
  Tokenizer tokenizer(statement, place, kPostgresRules);
  auto token = tokenizer.next();
  while (!token.is_word(word)) {
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated)) throw NotTranslated();
    token = tokenizer.next();
  }
  const auto begin = tokenizer.next().span.begin;
  return statement.substr(begin, end_of_group(statement, begin) - begin);
}

bool is_clock(std::string_view function) {
  return function == "now" || function == "clock_timestamp" || function == "statement_timestamp" ||
         function == "transaction_timestamp";
}

/// Whether a DEFAULT is a time that SQLite knows by name: now(), CURRENT_DATE.
bool is_now(const PgNode& initial) {
  if (initial.node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
    const auto& call = *initial.func_call;
    return call.n_args == 0 && is_clock(name_in_catalog(nodes(call.n_funcname, call.funcname)));
  }
  if (initial.node_case != PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION) return false;
  const auto time = initial.sqlvalue_function->op;
  return time == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP ||
         time == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE ||
         time == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME;
}

Column column_of(const PgQuery__ColumnDef& definition) {
  Column out{.name = definition.colname, .type = SqlType::Any};
  if (definition.type_name == nullptr || definition.type_name->n_names == 0) return out;
  const auto& type_name = *definition.type_name;
  const auto type = text_of(*type_name.names[type_name.n_names - 1]);
  const bool is_array = type_name.n_array_bounds > 0;
  out.type = is_array ? SqlType::Array : is_serial(type) ? SqlType::Integer : type_named(type);
  out.declared = type + (is_array ? "[]" : "");
  for (std::size_t n = 0; n < type_name.n_typmods && !is_array; ++n) {
    const auto& modifier = *type_name.typmods[n];
    if (modifier.node_case != PG_QUERY__NODE__NODE_A_CONST ||
        modifier.a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL)
      return out;
    out.declared += (n == 0 ? "(" : ",") + std::to_string(modifier.a_const->ival->ival);
  }
  if (type_name.n_typmods > 0 && !is_array) out.declared += ")";
  return out;
}

/// The constant of a DEFAULT, also of 'x'::text, as dumps have it; null for anything else.
const PgQuery__AConst* constant_of_default(const PgNode& initial) {
  const auto* node = &initial;
  if (node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST && node->type_cast->type_name->n_typmods == 0 &&
      type_named(text_of(*node->type_cast->type_name->names[node->type_cast->type_name->n_names - 1])) == SqlType::Text)
    node = node->type_cast->arg;
  return node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const : nullptr;
}

std::optional<double> number_of_default(const PgQuery__AConst& constant) {
  if (constant.val_case == PG_QUERY__A__CONST__VAL_IVAL) return constant.ival->ival;
  if (constant.val_case != PG_QUERY__A__CONST__VAL_FVAL) return std::nullopt;
  return real_from(constant.fval->fval);
}

std::size_t count_of_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

int place_of_like(const PgNode& element) { return element.table_like_clause->relation->location; }

/// timestamp(3) without time zone is written timestamp(3) for SQLite, which takes no words behind the digits, and
/// timestamp(3) with time zone timestamptz(3).
void move_digits(std::string_view statement, int location, std::vector<TextEdit>& edits) {
  Tokenizer tokenizer(statement, static_cast<std::size_t>(location), kPostgresRules);
  const auto name = tokenizer.next();
  if (!name.is_word("timestamp") && !name.is_word("time")) return;
  if (!tokenizer.next().is_symbol('(')) return;
  tokenizer.next();
  const auto close = tokenizer.next();
  const auto word = tokenizer.next();
  if (!close.is_symbol(')') || (!word.is_word("with") && !word.is_word("without"))) return;
  tokenizer.next();
  const auto zone = tokenizer.next();
  edits.push_back({close.span.end, zone.span.end, ""});
  if (word.is_word("with") && name.is_word("timestamp"))
    edits.push_back({name.span.begin, name.span.end, "timestamptz"});
}

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
SqlText Translator::create_table(const PgQuery__CreateStmt& node) {
  name_of_new(*node.relation);
  std::vector<TextEdit> edits;
  const auto keys = primary_key(node);
  for (const auto* each : nodes(node.n_table_elts, node.table_elts)) {
    if (each->node_case == PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE)
      unsupported("LIKE in CREATE TABLE", place_of_like(*each),
                  "CREATE TABLE name AS SELECT * FROM other WHERE FALSE copies the columns");
    if (each->node_case == PG_QUERY__NODE__NODE_CONSTRAINT) check_reference(*each->constraint, *node.relation);
  }
  Source columns{.name = node.relation->relname, .columns = {}};
  for (const auto* each : nodes(node.n_table_elts, node.table_elts))
    if (each->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF) columns.columns.push_back(column_of(*each->column_def));
  columns.known = node.n_inh_relations == 0;
  Scope scope(nullptr);
  scope.add(std::move(columns));
  for (const auto* each : nodes(node.n_table_elts, node.table_elts))
    if (each->node_case == PG_QUERY__NODE__NODE_CONSTRAINT) translate_constraint(*each->constraint, {}, scope, edits);
  for (const auto* each : nodes(node.n_table_elts, node.table_elts)) {
    if (each->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF) continue;
    const auto& column = *each->column_def;
    if (column.type_name == nullptr) throw NotTranslated();
    translate_column(column, *node.relation, scope, edits);
    const auto type = type_text(column);
    const auto* const identity = find_constraint(column, PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY);
    const bool counts = is_serial(type) || identity != nullptr;
    const auto type_token = token_at(statement_, static_cast<std::size_t>(column.type_name->location));
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
      const bool always = std::string_view(identity->generated_when) == "a";
      edits.push_back({begin, end_of_identity(statement_, begin), always ? std::string(kAlwaysIdentity) : ""});
    }
    if (key != nullptr) {
      const auto end = end_of_key(statement_, *key);
      edits.push_back({end, end, " AUTOINCREMENT"});
    }
  }
  quote_names(statement_, place_of_name(*node.relation), edits);
  drop_schema(statement_, edits);
  return edited(statement_, std::move(edits));
}

// The type and the constraints of a column. What both dialects read in the same way stays as it was written.
void Translator::translate_column(const PgQuery__ColumnDef& definition, const PgQuery__RangeVar& table,
                                  const Scope& scope, std::vector<TextEdit>& edits) {
  for (const auto* part : nodes(definition.n_constraints, definition.constraints))
    if (part->node_case == PG_QUERY__NODE__NODE_CONSTRAINT) check_reference(*part->constraint, table);
  translate_constraints(definition, scope, edits);
  const auto type = type_text(definition);
  if (type.empty()) return;
  check_type(*definition.type_name);
  move_digits(statement_, definition.type_name->location, edits);
  const auto begin = static_cast<std::size_t>(definition.type_name->location);
  if (const auto dimensions = definition.type_name->n_array_bounds; dimensions > 0) {
    edits.push_back({begin, end_of_array_type(statement_, begin, dimensions), quote_identifier(type + "[]")});
  } else if (type_named(type) == SqlType::Json) {
    // SQLite would store the numbers among the values of a type json as numbers, and lose how they are written.
    const auto end = token_at(statement_, begin).span.end;
    edits.push_back({end, end, " text"});
  }
}

void Translator::check_type(const PgQuery__TypeName& type) const {
  if (type.n_names == 0) return;
  const auto name = text_of(*type.names[type.n_names - 1]);
  if (type_named(name) != SqlType::Any || is_serial(name) || (is_type_of_sqlite(name) && type.n_array_bounds == 0))
    return;
  refuse("42704", "type \"" + name + "\" does not exist", type.location, "a column of type text holds anything");
}

void Translator::check_reference(const PgQuery__Constraint& constraint, const PgQuery__RangeVar& created) {
  if (constraint.contype != PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN || constraint.pktable == nullptr) return;
  const auto& other = *constraint.pktable;
  if (equal_ignoring_case(other.relname, created.relname) || columns_of("", other.relname)) return;
  refuse("42P01", "relation \"" + std::string(other.relname) + "\" does not exist", other.location,
         "create the table that is referred to first");
}

bool Translator::is_default_that_fits(const PgNode& initial, const Column& column) const {
  const auto* const constant = constant_of_default(initial);
  const auto modifiers = modifiers_of(column.declared);
  if (constant == nullptr || constant->isnull) return constant != nullptr;
  if (column.type == SqlType::Text && constant->val_case == PG_QUERY__A__CONST__VAL_SVAL) {
    const bool fits = modifiers.empty() || count_of_characters(constant->sval->sval) <=
                                               static_cast<std::size_t>(std::max<std::int64_t>(modifiers[0], 0));
    if (!fits)
      refuse("22001", "value too long for type character varying(" + std::to_string(modifiers[0]) + ")",
             constant->location, "the DEFAULT is a value of the column");
    return true;
  }
  const auto number = number_of_default(*constant);
  const auto type = column.declared.substr(0, column.declared.find('('));
  const bool is_small = type == "int2" || type == "smallint" || type == "smallserial";
  if (number && column.type == SqlType::Integer && is_small && std::fabs(*number) > 32767)
    refuse("22003", "smallint out of range", constant->location, "the DEFAULT is a value of the column");
  if (number && column.type == SqlType::Integer) return *number == std::trunc(*number);
  if (!number || column.type != SqlType::Numeric || modifiers.empty()) return false;
  const auto places = modifiers.size() > 1 ? modifiers[1] : 0;
  const double factor = std::pow(10.0, static_cast<double>(places));
  const double scaled = std::round(*number * factor) / factor;
  if (std::fabs(scaled) >= std::pow(10.0, static_cast<double>(modifiers[0] - places)))
    refuse("22003", "numeric field overflow", constant->location,
           "the DEFAULT is a value of the column, whose absolute value must be less than 10^" +
               std::to_string(modifiers[0] - places));
  return scaled == *number;
}

// All that a definition does not translate stays as it was written.
SqlText Translator::without_schema() const {
  std::vector<TextEdit> edits;
  drop_schema(statement_, edits);
  return edited(statement_, std::move(edits));
}

void Translator::translate_constraints(const PgQuery__ColumnDef& definition, const Scope& scope,
                                       std::vector<TextEdit>& edits) {
  const auto column = column_of(definition);
  for (const auto* each : nodes(definition.n_constraints, definition.constraints))
    if (each->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
      translate_constraint(*each->constraint, column, scope, edits);
}

// CHECK, GENERATED ALWAYS AS and DEFAULT. What both dialects read in the same way stays as it was written.
void Translator::translate_constraint(const PgQuery__Constraint& node, const Column& column, const Scope& scope,
                                      std::vector<TextEdit>& edits) {
  if (node.raw_expr == nullptr) return;
  const auto begin = static_cast<std::size_t>(node.location);
  std::string_view written;
  SqlText translated;
  switch (node.contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK:
      written = group_behind(statement_, begin, "CHECK");
      translated = condition(*node.raw_expr, scope, "CHECK");
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED:
      written = group_behind(statement_, begin, "AS");
      translated = stored(expression(*node.raw_expr, scope), column).text;
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT:
      written = default_at(statement_, begin);
      if (is_now(*node.raw_expr)) {
        translated = clock_default(*node.raw_expr);
      } else {
        auto target = column;
        const bool fits = is_default_that_fits(*node.raw_expr, column);
        const bool has_blanks = padded_width(column.declared) && default_at(statement_, begin).ends_with(" '");
        if (fits && !has_blanks) target.declared.clear();
        translated = stored(expression(*node.raw_expr, Scope(nullptr)), target).text;
      }
      break;
    default: return;
  }
  if (!parameters_.empty()) refuse("42P02", "there are no parameters in a definition", node.location);
  const auto at = static_cast<std::size_t>(written.data() - statement_.data());
  const TextEdit whole{.begin = at, .end = at + written.size(), .text = {}};
  if (node.contype == PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT) {
    const bool is_clock = is_now(*node.raw_expr);
    const bool needs_parentheses =
        node.raw_expr->node_case != PG_QUERY__NODE__NODE_A_CONST && !written.starts_with('(');
    if (means_the_same(written, translated.str()) && (is_clock || !needs_parentheses)) return;
    edits.push_back(
        {whole.begin, whole.end, is_clock ? translated : SqlText("(") + with_original(translated, written) + ")"});
    return;
  }
  if (means_the_same(written, translated.str())) return;
  edits.push_back(
      {whole.begin, whole.end, SqlText("(") + with_original(translated, written.substr(1, written.size() - 2)) + ")"});
}

// SQLite's own names of the time, so that other programs can insert into the table.
SqlText Translator::clock_default(const PgNode& initial) {
  const bool is_call = initial.node_case == PG_QUERY__NODE__NODE_FUNC_CALL;
  const auto time = is_call ? PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP : initial.sqlvalue_function->op;
  switch (time) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE: return "CURRENT_DATE";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME: return "CURRENT_TIME";
    default: return "CURRENT_TIMESTAMP";
  }
}

// ADD COLUMN as in create_table(), DROP COLUMN without CASCADE or RESTRICT; all else stays as it was written.
SqlText Translator::alter_table(const PgQuery__AlterTableStmt& node) {
  std::vector<TextEdit> edits;
  Scope scope(nullptr);
  const auto schema = is_set(node.relation->schemaname) ? std::string(node.relation->schemaname) : std::string();
  auto columns = columns_of(schema == "public" ? std::string() : schema, node.relation->relname);
  Source table{.name = node.relation->relname, .columns = {}, .known = columns.has_value()};
  if (columns) table.columns = std::move(*columns);
  scope.add(std::move(table));
  for (const auto* each : nodes(node.n_cmds, node.cmds)) {
    if (each->node_case != PG_QUERY__NODE__NODE_ALTER_TABLE_CMD) continue;
    if (each->alter_table_cmd->subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn && node.n_cmds == 1) {
      // SQLite refuses to drop a column that something else needs, whatever the last word says.
      Token last;
      for (const auto& token : tokens_of(statement_, kPostgresRules))
        if (!token.is(Token::Kind::End) && !token.is_symbol(';')) last = token;
      if (last.is_word("CASCADE") || last.is_word("RESTRICT")) edits.push_back({last.span.begin, last.span.end, ""});
    }
    const auto* const definition = each->alter_table_cmd->def;
    if (definition != nullptr && definition->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
      translate_constraint(*definition->constraint, {}, scope, edits);
    if (definition == nullptr || definition->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF) continue;
    const auto& column = *definition->column_def;
    const auto name = token_at(statement_, static_cast<std::size_t>(column.location));
    if (is_reserved_by_sqlite(name))
      edits.push_back({name.span.begin, name.span.end, quote_identifier(column.colname)});
    scope.sources().back().columns.push_back(column_of(column));
    translate_column(column, *node.relation, scope, edits);
    if (is_serial(type_text(column)))
      refuse("0A000", "a column that counts cannot be added to a table", column.location,
             "create the table with " + std::string(column.colname) + " serial PRIMARY KEY");
  }
  drop_schema(statement_, edits);
  return edited(statement_, std::move(edits));
}

}  // namespace eindb::dialect

#include "server/dialect_rewriter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/dialect_types.hpp"

namespace eindb {
namespace {

using Kind = DialectToken::Kind;

/// In alphabetical order.
constexpr std::array<std::string_view, 55> kCatalogFunctions{"array_append",
                                                             "array_length",
                                                             "array_lower",
                                                             "array_position",
                                                             "array_remove",
                                                             "array_to_string",
                                                             "array_upper",
                                                             "btrim",
                                                             "cardinality",
                                                             "clock_timestamp",
                                                             "col_description",
                                                             "concat",
                                                             "current_catalog",
                                                             "current_database",
                                                             "current_role",
                                                             "current_schema",
                                                             "current_schemas",
                                                             "current_setting",
                                                             "current_user",
                                                             "format_type",
                                                             "has_any_column_privilege",
                                                             "has_column_privilege",
                                                             "has_database_privilege",
                                                             "has_function_privilege",
                                                             "has_schema_privilege",
                                                             "has_sequence_privilege",
                                                             "has_table_privilege",
                                                             "has_type_privilege",
                                                             "inet_client_addr",
                                                             "inet_client_port",
                                                             "inet_server_addr",
                                                             "inet_server_port",
                                                             "left",
                                                             "now",
                                                             "obj_description",
                                                             "parse_ident",
                                                             "quote_ident",
                                                             "quote_literal",
                                                             "quote_nullable",
                                                             "regexp_replace",
                                                             "right",
                                                             "row_security_active",
                                                             "session_user",
                                                             "set_config",
                                                             "shobj_description",
                                                             "split_part",
                                                             "starts_with",
                                                             "statement_timestamp",
                                                             "string_to_array",
                                                             "strpos",
                                                             "to_regclass",
                                                             "to_regtype",
                                                             "transaction_timestamp",
                                                             "txid_current",
                                                             "version"};

bool is_reserved_schema(const DialectToken& token, std::string_view name) {
  return token.is_word(name) || (token.is(Kind::QuotedName) && token.text.substr(1, token.text.size() - 2) == name);
}

constexpr std::string_view kElementsOfSelect = ") SELECT pg_array_of_json(json_group_array(element)) FROM pg_elements)";
constexpr std::string_view kBackslashEscape = " ESCAPE '\\'";

}  // namespace

bool is_catalog_function(std::string_view name) {
  return std::binary_search(kCatalogFunctions.begin(), kCatalogFunctions.end(), name);
}

DialectRewriter::DialectRewriter(std::string_view statement, std::vector<DialectToken> tokens)
    : statement_(statement),
      tokens_(std::move(tokens)),
      edits_(tokens_.size()),
      match_(tokens_.size(), kNone),
      is_alias_(tokens_.size()),
      frames_(1) {}

Translation DialectRewriter::run() {
  match_parentheses();
  rewrite_tables();
  rewrite_expressions();
  return assemble();
}

const DialectToken& DialectRewriter::before(Index i, Index count) const {
  static constexpr DialectToken kNothing{};
  return i < count ? kNothing : tokens_[i - count];
}

std::string_view DialectRewriter::source(Index begin, Index end) const {
  if (begin >= end) return {};
  return statement_.substr(tokens_[begin].begin, tokens_[end - 1].end() - tokens_[begin].begin);
}

void DialectRewriter::drop(Index begin, Index end) {
  for (auto i = begin; i < end; ++i) edits_[i].replacement.emplace();
}

void DialectRewriter::put_before(Index i, std::string_view text) {
  prefixes_.push_back({text, edits_[i].first_prefix});
  edits_[i].first_prefix = static_cast<int>(prefixes_.size()) - 1;
}

void DialectRewriter::match_parentheses() {
  std::vector<Index> open;
  for (Index i = 0; i < tokens_.size(); ++i) {
    if (token(i).is_symbol('(') || token(i).is_symbol('[')) open.push_back(i);
    if (!token(i).is_symbol(')') && !token(i).is_symbol(']')) continue;
    const char wanted = token(i).is_symbol(')') ? '(' : '[';
    if (open.empty() || !token(open.back()).is_symbol(wanted)) return;  // what follows is for SQLite to refuse
    match_[open.back()] = i;
    match_[i] = open.back();
    open.pop_back();
  }
}

// ---- The second walk -----------------------------------------------------------------------------------------------

void DialectRewriter::rewrite_expressions() {
  Index i = 0;
  while (i + 1 < tokens_.size()) i = step(i);
  join_key_columns(tokens_.size() - 1);
}

DialectRewriter::Index DialectRewriter::step(Index i) {
  switch (token(i).kind) {
    case Kind::Word:
    case Kind::QuotedName: return step_word(i);
    case Kind::Operator: return step_operator(i);
    case Kind::Symbol: return step_symbol(i);
    case Kind::NestedComment: replace(i, " "); return i + 1;
    case Kind::EscapeString:
    case Kind::UnicodeString:
    case Kind::DollarString: replace(i, quote_string(string_value(token(i)))); return take_operand(i);
    default: return take_operand(i);
  }
}

DialectRewriter::Index DialectRewriter::take_operand(Index i) {
  operand_ = i;
  return i + 1;
}

DialectRewriter::Index DialectRewriter::keyword(Index i) {
  operand_ = kNone;
  return i + 1;
}

DialectRewriter::Index DialectRewriter::step_word(Index i) {
  const bool is_field = before(i).is_symbol('.') && operand_ != kNone && !edits_[i - 1].replacement;
  if (is_field) return i + 1;
  if (edits_[i].replacement) return edits_[i].replacement->empty() ? i + 1 : take_operand(i);
  if (is_alias_[i]) return keyword(i);
  if (token(i + 1).is_symbol('.') && token(i + 2).is_name()) {
    if (is_reserved_schema(token(i), "pg_catalog")) return on_pg_catalog(i);
    if (is_reserved_schema(token(i), "public")) return on_public(i);
  }
  if (token(i).is(Kind::QuotedName)) return take_operand(i);
  constexpr std::size_t kLongestWord = 32;
  if (token(i).text.size() > kLongestWord) return take_operand(i);
  const auto word = to_lower(token(i).text);
  if (const auto* known = find_rule(word)) return (this->*known->rule)(i);
  if (word.starts_with("pg_") || (token(i + 1).is_symbol('(') && is_catalog_function(word))) uses_catalog_ = true;
  return take_operand(i);
}

DialectRewriter::Index DialectRewriter::step_symbol(Index i) {
  const char symbol = token(i).text.front();
  if (symbol == '(' && token(i + 1).is_word("EINSUM") && match_[i] != kNone) {
    operand_ = i;
    return match_[i] + 1;
  }
  if (symbol == '.') return field(i);
  if (symbol == '[' && !edits_[i].replacement) return subscript(i);
  if (symbol == '(' || symbol == '[') open(i);
  else if (symbol == ')' || symbol == ']') close(i);
  else operand_ = kNone;
  return i + 1;
}

void DialectRewriter::open(Index i) {
  frames_.push_back({.kind = std::exchange(next_frame_, Frame::Kind::Plain),
                     .operand = operand_ != kNone ? operand_ : i,
                     .end = match_[i],
                     .cases = cases_.size()});
  operand_ = kNone;
}

void DialectRewriter::close(Index i) {
  if (frames_.size() == 1) return;
  join_key_columns(i);
  operand_ = frames_.back().operand;
  cases_.resize(std::min(cases_.size(), frames_.back().cases));
  frames_.pop_back();
}

DialectRewriter::Index DialectRewriter::step_operator(Index i) {
  const auto text = token(i).text;
  if (text == "::") return cast(i);
  if (edits_[i].replacement) return i + 1;
  if (operand_ != kNone) {
    if (text == "~") return match_regex(i, " REGEXP ");
    if (text == "~*") return match_regex(i, " REGEXP '(?i)' || ");
    if (text == "!~") return match_regex(i, " NOT REGEXP ");
    if (text == "!~*") return match_regex(i, " NOT REGEXP '(?i)' || ");
    if (text == "~~" || text == "~~*") replace(i, " LIKE ");
    if (text == "!~~" || text == "!~~*") replace(i, " NOT LIKE ");
  }
  const bool any = token(i + 1).is_word("ANY") || token(i + 1).is_word("SOME");
  if (text == "=" && any) return any_of(i, false);
  if ((text == "<>" || text == "!=") && token(i + 1).is_word("ALL")) return any_of(i, true);
  return keyword(i);
}

DialectRewriter::Index DialectRewriter::match_regex(Index i, std::string_view rewritten) {
  replace(i, std::string(rewritten));
  uses_catalog_ = true;
  return keyword(i);
}

/// x::type  ->  CAST(x AS TYPE)
DialectRewriter::Index DialectRewriter::cast(Index i) {
  const auto type = read_type_name(tokens_, i + 1);
  if (edits_[i].replacement) return type.end;
  if (operand_ == kNone || type.end == i + 1) return i + 1;
  note_parameter(operand_, i, type.cast.type);
  put_before(operand_, type.cast.open);
  drop(i, type.end);
  replace(i, std::string(type.cast.close));
  uses_catalog_ = uses_catalog_ || !type.cast.close.starts_with(" AS");
  return type.end;
}

void DialectRewriter::note_parameter(Index operand, Index cast, DataType type) {
  const bool alone = operand + 1 == cast && token(operand).is(Kind::Parameter);
  constexpr std::size_t kMostDigits = 6;
  const auto digits = token(operand).text.substr(alone ? 1 : 0);
  if (alone && digits.size() <= kMostDigits && type != DataType::Unspecified)
    parameter_types_.push_back({std::stoul(std::string(digits)), type});
}

/// x = ANY (ARRAY[a, b])  ->  x IN (a, b)
/// x = ANY (y)            ->  x IN (SELECT value FROM json_each(pg_array_json(y)))
DialectRewriter::Index DialectRewriter::any_of(Index i, bool negated) {
  const auto parenthesis = i + 2;
  if (!token(parenthesis).is_symbol('(') || match_[parenthesis] == kNone) return keyword(i);
  const auto end = match_[parenthesis];
  replace(i, negated ? " NOT IN " : " IN ");
  drop(i + 1, i + 2);
  const auto first = parenthesis + 1;
  const auto bracket = first + 1;
  if (token(first).is_word("ARRAY") && token(bracket).is_symbol('[') && match_[bracket] != kNone) {
    drop(first, first + 2);
    drop(match_[bracket], end);  // and what the array is cast to
  } else if (!token(first).is_word("SELECT") && !token(first).is_word("WITH") && !token(first).is_word("VALUES")) {
    replace(parenthesis, "(SELECT value FROM json_each(pg_array_json(");
    replace(end, ")))");
    uses_catalog_ = true;
  }
  operand_ = kNone;
  return parenthesis;
}

/// x[i]  ->  pg_array_get(x, i), in the catalog's queries: to SQLite [i] is a quoted name.
DialectRewriter::Index DialectRewriter::subscript(Index i) {
  const bool is_subscript =
      uses_catalog_ && operand_ != kNone && match_[i] != kNone && i > 0 && before(i).end() == token(i).begin;
  if (is_subscript) {
    put_before(operand_, "pg_array_get(");
    replace(i, ", ");
    replace(match_[i], ")");
  }
  open(i);
  return i + 1;
}

/// (result.keys).x, of a row that information_schema._pg_expandarray gave: such rows are their x here.
DialectRewriter::Index DialectRewriter::field(Index i) {
  const bool of_group = uses_catalog_ && before(i).is_symbol(')') && match_[i - 1] != kNone;
  const bool of_name = of_group && i - 1 - match_[i - 1] <= 4 && token(match_[i - 1] + 1).is_name();
  if (of_name && token(i + 1).is_word("x")) drop(i, i + 2);
  return i + 1;
}

/// A function that gives rows in the list of SELECT, as JDBC asks for keys. Its array is joined to the tables:
///
///     SELECT (information_schema._pg_expandarray(i.indkey)).n FROM pg_index i
///     SELECT (pg_keys.key + 1) FROM pg_index i JOIN json_each(pg_array_json(i.indkey)) AS pg_keys
DialectRewriter::Index DialectRewriter::key_column(Index i) {
  const auto end = match_[i + 3];
  const bool in_group = before(i).is_symbol('(') && token(end + 1).is_symbol(')') && token(end + 2).is_symbol('.');
  auto& select = in_group && frames_.size() > 1 ? frames_[frames_.size() - 2] : frames_.back();
  if (select.key_columns.empty()) select.key_columns = source(i + 4, end);
  drop(i, end + 1);
  replace(i, in_group && token(end + 3).is_word("n") ? "pg_keys.key + 1" : "pg_keys.value");
  if (in_group) drop(end + 2, end + 4);
  operand_ = i;
  return end + 1;
}

void DialectRewriter::join_key_columns(Index i) {
  auto& columns = frames_.back().key_columns;
  if (columns.empty()) return;
  texts_.push_back(" JOIN json_each(pg_array_json(" + std::string(columns) + ")) AS pg_keys ");
  put_before(i, texts_.back());
  columns = {};
}

// ---- Rules for words -----------------------------------------------------------------------------------------------

DialectRewriter::Index DialectRewriter::call_renamed(Index i, std::string_view name) {
  if (token(i + 1).is_symbol('(')) replace(i, std::string(name));
  return take_operand(i);
}

DialectRewriter::Index DialectRewriter::on_array(Index i) {
  const auto open = i + 1;
  if (match_[open] == kNone) return take_operand(i);
  if (token(open).is_symbol('[')) {
    replace(i, "pg_array(");
    drop(open, open + 1);
    replace(match_[open], ")");
  } else if (token(open).is_symbol('(')) {
    drop(i, i + 1);
    replace(open, "(WITH pg_elements(element) AS (");
    replace(match_[open], std::string(kElementsOfSelect));
  } else {
    return take_operand(i);
  }
  uses_catalog_ = true;
  return take_operand(i);
}

DialectRewriter::Index DialectRewriter::on_array_agg(Index i) {
  if (!token(i + 1).is_symbol('(') || match_[i + 1] == kNone) return take_operand(i);
  replace(i, "pg_array_of_json(json_group_array");
  replace(match_[i + 1], "))");
  next_frame_ = Frame::Kind::Aggregate;
  uses_catalog_ = true;
  return take_operand(i);
}

/// CAST(x AS type), or a name.
DialectRewriter::Index DialectRewriter::on_as(Index i) {
  const auto& frame = frames_.back();
  if (frame.kind != Frame::Kind::Cast) {
    operand_ = kNone;
    const bool names = token(i + 1).is_name() && !token(i + 1).is_word("SELECT") && !edits_[i + 1].replacement;
    return names ? i + 2 : i + 1;
  }
  const auto type = read_type_name(tokens_, i + 1);
  if (type.end == i + 1) return keyword(i);
  note_parameter(i - 1, i, type.cast.type);
  if (type.is_plain) return type.end;
  drop(i, type.end);
  if (type.cast.close.starts_with(" AS")) {
    replace(i, std::string(type.cast.close.substr(1, type.cast.close.size() - 2)));
  } else {
    replace(frame.operand, std::string(type.cast.open.substr(0, type.cast.open.size() - 1)));
    uses_catalog_ = true;
  }
  return type.end;
}

DialectRewriter::Index DialectRewriter::on_case(Index i) {
  cases_.push_back(i);
  return keyword(i);
}

DialectRewriter::Index DialectRewriter::on_end(Index i) {
  if (cases_.size() <= frames_.back().cases) return keyword(i);
  operand_ = cases_.back();
  cases_.pop_back();
  return i + 1;
}

/// CAST, of which AS tells more.
DialectRewriter::Index DialectRewriter::on_cast(Index i) {
  if (token(i + 1).is_symbol('(')) next_frame_ = Frame::Kind::Cast;
  return take_operand(i);
}

DialectRewriter::Index DialectRewriter::on_collate(Index i) {
  auto name = i + 1;
  if (is_reserved_schema(token(name), "pg_catalog") && token(name + 1).is_symbol('.')) name += 2;
  if (is_reserved_schema(token(name), "default")) {
    drop(i, name + 1);
    return name + 1;
  }
  if (token(name).text == "\"C\"" || token(name).text == "\"POSIX\"") {
    drop(i + 1, name);
    replace(name, "BINARY");
  }
  return name + 1;
}

/// FETCH FIRST 3 ROWS ONLY  ->  LIMIT 3
DialectRewriter::Index DialectRewriter::on_fetch(Index i) {
  if (!token(i + 1).is_word("FIRST") && !token(i + 1).is_word("NEXT")) return take_operand(i);
  const bool has_count = token(i + 2).is(Kind::Number) || token(i + 2).is(Kind::Parameter);
  const auto rows = i + (has_count ? 3 : 2);
  const bool fits = (token(rows).is_word("ROW") || token(rows).is_word("ROWS")) && token(rows + 1).is_word("ONLY");
  if (!fits) return take_operand(i);
  replace(i, has_count ? "LIMIT" : "LIMIT 1");
  drop(i + 1, i + 2);
  drop(rows, rows + 2);
  operand_ = kNone;
  return rows + 2;
}

/// Locks of rows, which SQLite has none of; or substring(x FROM 1 FOR 2).
DialectRewriter::Index DialectRewriter::on_for(Index i) {
  if (frames_.back().kind == Frame::Kind::Substring) {
    replace(i, ",");
    return keyword(i);
  }
  constexpr std::array<std::string_view, 4> kLocks{"KEY", "NO", "SHARE", "UPDATE"};
  const bool locks =
      std::any_of(kLocks.begin(), kLocks.end(), [&](std::string_view word) { return token(i + 1).is_word(word); });
  if (!locks) return keyword(i);
  auto end = i + 1;
  while (token(end).is_name() || token(end).is_symbol(',')) ++end;
  drop(i, end);
  operand_ = kNone;
  return end;
}

DialectRewriter::Index DialectRewriter::on_from(Index i) {
  if (frames_.back().kind == Frame::Kind::Substring) replace(i, ",");
  return keyword(i);
}

DialectRewriter::Index DialectRewriter::on_greatest(Index i) { return call_renamed(i, "max"); }
DialectRewriter::Index DialectRewriter::on_least(Index i) { return call_renamed(i, "min"); }

DialectRewriter::Index DialectRewriter::on_ilike(Index i) {
  replace(i, "LIKE");
  return on_like(i);
}

/// PostgreSQL's patterns take a backslash for an escape, SQLite's only if told.
DialectRewriter::Index DialectRewriter::on_like(Index i) {
  const auto pattern = i + 1;
  const auto& next = token(pattern + 1);
  const bool alone = !next.is_word("ESCAPE") && !next.is(Kind::Operator) && !next.is_symbol('.');
  const bool escapes = token(pattern).is(Kind::Parameter) ||
                       (token(pattern).is_string() && token(pattern).text.find('\\') != std::string_view::npos);
  if (!uses_catalog_ || !alone || !escapes) return keyword(i);
  const auto& written = token(pattern);
  auto text = written.is_string() ? quote_string(string_value(written)) : std::string(written.text);
  replace(pattern, std::move(text.append(kBackslashEscape)));
  operand_ = kNone;
  return pattern + 1;
}

DialectRewriter::Index DialectRewriter::on_information_schema(Index i) {
  if (!token(i + 1).is_symbol('.') || !token(i + 2).is(Kind::Word)) return take_operand(i);
  uses_catalog_ = true;
  if (token(i + 2).is_word("_pg_expandarray") && token(i + 3).is_symbol('(') && match_[i + 3] != kNone)
    return key_column(i);
  replace(i, "pg_catalog");
  replace(i + 2, "information_schema_" + to_lower(token(i + 2).text));
  operand_ = i;
  return i + 3;
}

DialectRewriter::Index DialectRewriter::on_left(Index i) {
  if (!token(i + 1).is_symbol('(')) return keyword(i);
  uses_catalog_ = true;
  return call_renamed(i, "pg_left");
}

DialectRewriter::Index DialectRewriter::on_right(Index i) {
  if (!token(i + 1).is_symbol('(')) return keyword(i);
  uses_catalog_ = true;
  return call_renamed(i, "pg_right");
}

DialectRewriter::Index DialectRewriter::on_limit(Index i) {
  frames_.back().has_limit = true;
  if (token(i + 1).is_word("ALL")) replace(i + 1, "-1");
  return keyword(i);
}

DialectRewriter::Index DialectRewriter::on_offset(Index i) {
  const bool is_clause = operand_ != kNone && (token(i + 1).is(Kind::Number) || token(i + 1).is(Kind::Parameter));
  if (!is_clause) return take_operand(i);
  if (!frames_.back().has_limit) put_before(i, "LIMIT -1 ");
  if (token(i + 2).is_word("ROW") || token(i + 2).is_word("ROWS")) drop(i + 2, i + 3);
  return keyword(i);
}

/// OPERATOR(pg_catalog.~)  ->  ~, and then what that is. So psql compares names, in lower case where they stand without
/// quotes; eindb's names match without regard to case.
DialectRewriter::Index DialectRewriter::on_operator(Index i) {
  const auto open = i + 1;
  if (!token(open).is_symbol('(') || match_[open] == kNone) return take_operand(i);
  const auto end = match_[open];
  if (!token(end - 1).is(Kind::Operator)) return take_operand(i);
  drop(i, end - 1);
  drop(end, end + 1);
  if (token(end - 1).text == "~" && operand_ != kNone) match_regex(end - 1, " REGEXP '(?i)' || ");
  else step_operator(end - 1);
  return end + 1;
}

/// SQLite's aggregates take no order.
DialectRewriter::Index DialectRewriter::on_order(Index i) {
  const auto& frame = frames_.back();
  if (frame.kind != Frame::Kind::Aggregate || frame.end == kNone) return on_where(i);
  drop(i, frame.end);
  return frame.end;
}

/// Tables keep the schema, functions lose it.
DialectRewriter::Index DialectRewriter::on_pg_catalog(Index i) {
  uses_catalog_ = true;
  if (token(i + 3).is_symbol('(')) {
    drop(i, i + 2);
    return i + 2;
  }
  operand_ = i;
  return i + 3;
}

DialectRewriter::Index DialectRewriter::on_pg_get_keywords(Index i) {
  uses_catalog_ = true;
  if (token(i + 1).is_symbol('(') && token(i + 2).is_symbol(')')) {
    drop(i + 1, i + 3);
    replace(i, "pg_keywords");
  }
  return take_operand(i);
}

/// What is not the catalog's is in the schema public to clients, and in the database itself to SQLite.
DialectRewriter::Index DialectRewriter::on_public(Index i) {
  drop(i, i + 2);
  return i + 2;
}

/// CURRENT_USER and its like are functions without parentheses.
DialectRewriter::Index DialectRewriter::on_session_name(Index i) {
  uses_catalog_ = true;
  if (!token(i + 1).is_symbol('(') && !token(i + 1).is_symbol('.')) replace(i, to_lower(token(i).text) + "()");
  return take_operand(i);
}

/// A column may have this name in SQLite.
DialectRewriter::Index DialectRewriter::on_user(Index i) {
  if (uses_catalog_ && !token(i + 1).is_symbol('.')) replace(i, "current_user()");
  return take_operand(i);
}

DialectRewriter::Index DialectRewriter::on_string_agg(Index i) {
  if (!token(i + 1).is_symbol('(')) return take_operand(i);
  next_frame_ = Frame::Kind::Aggregate;
  return call_renamed(i, "group_concat");
}

DialectRewriter::Index DialectRewriter::on_substring(Index i) {
  if (token(i + 1).is_symbol('(')) next_frame_ = Frame::Kind::Substring;
  return call_renamed(i, "substr");
}

/// trim(both 'x' from y)  ->  pg_trim('both', 'x' , y)
DialectRewriter::Index DialectRewriter::on_trim(Index i) {
  const auto& side = token(i + 2);
  const bool sided = side.is_word("BOTH") || side.is_word("LEADING") || side.is_word("TRAILING");
  if (!token(i + 1).is_symbol('(') || !sided) return take_operand(i);
  replace(i + 2, quote_string(to_lower(side.text)) + ",");
  next_frame_ = Frame::Kind::Substring;
  uses_catalog_ = true;
  return call_renamed(i, "pg_trim");
}

/// WHERE, and what else ends the tables of SELECT.
DialectRewriter::Index DialectRewriter::on_where(Index i) {
  join_key_columns(i);
  return keyword(i);
}

const DialectRewriter::WordRule* DialectRewriter::find_rule(std::string_view word) {
  using Self = DialectRewriter;
  static constexpr std::array kRules{
      WordRule{"all", &Self::keyword},
      WordRule{"and", &Self::keyword},
      WordRule{"any", &Self::keyword},
      WordRule{"array", &Self::on_array},
      WordRule{"array_agg", &Self::on_array_agg},
      WordRule{"as", &Self::on_as},
      WordRule{"between", &Self::keyword},
      WordRule{"by", &Self::keyword},
      WordRule{"case", &Self::on_case},
      WordRule{"cast", &Self::on_cast},
      WordRule{"collate", &Self::on_collate},
      WordRule{"cross", &Self::keyword},
      WordRule{"current_catalog", &Self::on_session_name},
      WordRule{"current_role", &Self::on_session_name},
      WordRule{"current_schema", &Self::on_session_name},
      WordRule{"current_user", &Self::on_session_name},
      WordRule{"desc", &Self::keyword},
      WordRule{"distinct", &Self::keyword},
      WordRule{"else", &Self::keyword},
      WordRule{"end", &Self::on_end},
      WordRule{"escape", &Self::keyword},
      WordRule{"except", &Self::on_where},
      WordRule{"fetch", &Self::on_fetch},
      WordRule{"for", &Self::on_for},
      WordRule{"from", &Self::on_from},
      WordRule{"greatest", &Self::on_greatest},
      WordRule{"group", &Self::on_where},
      WordRule{"having", &Self::keyword},
      WordRule{"ilike", &Self::on_ilike},
      WordRule{"in", &Self::keyword},
      WordRule{"information_schema", &Self::on_information_schema},
      WordRule{"inner", &Self::keyword},
      WordRule{"intersect", &Self::on_where},
      WordRule{"is", &Self::keyword},
      WordRule{"join", &Self::keyword},
      WordRule{"least", &Self::on_least},
      WordRule{"left", &Self::on_left},
      WordRule{"like", &Self::on_like},
      WordRule{"limit", &Self::on_limit},
      WordRule{"not", &Self::keyword},
      WordRule{"offset", &Self::on_offset},
      WordRule{"on", &Self::keyword},
      WordRule{"operator", &Self::on_operator},
      WordRule{"or", &Self::keyword},
      WordRule{"order", &Self::on_order},
      WordRule{"pg_get_keywords", &Self::on_pg_get_keywords},
      WordRule{"returning", &Self::keyword},
      WordRule{"right", &Self::on_right},
      WordRule{"select", &Self::keyword},
      WordRule{"session_user", &Self::on_session_name},
      WordRule{"set", &Self::keyword},
      WordRule{"string_agg", &Self::on_string_agg},
      WordRule{"substring", &Self::on_substring},
      WordRule{"then", &Self::keyword},
      WordRule{"trim", &Self::on_trim},
      WordRule{"union", &Self::on_where},
      WordRule{"user", &Self::on_user},
      WordRule{"using", &Self::keyword},
      WordRule{"values", &Self::keyword},
      WordRule{"when", &Self::keyword},
      WordRule{"where", &Self::on_where},
      WordRule{"with", &Self::keyword},
  };
  static_assert(std::is_sorted(kRules.begin(), kRules.end(),
                               [](const WordRule& a, const WordRule& b) { return a.word < b.word; }));
  const auto* const found = std::lower_bound(kRules.begin(), kRules.end(), word,
                                             [](const WordRule& rule, std::string_view w) { return rule.word < w; });
  return found == kRules.end() || found->word != word ? nullptr : found;
}

// ---- The text ------------------------------------------------------------------------------------------------------

Translation DialectRewriter::assemble() const {
  Translation out{
      .text = std::nullopt, .uses_catalog = uses_catalog_, .segments = {}, .parameter_types = parameter_types_};
  const bool changed = std::any_of(edits_.begin(), edits_.end(), [](const Edit& edit) {
    return edit.replacement.has_value() || edit.first_prefix >= 0;
  });
  if (!changed) return out;
  std::string text;
  std::size_t copied = 0;
  const auto copy_to = [&](std::size_t end) {
    if (end > copied) out.segments.push_back({text.size(), copied, end, true});
    text.append(statement_, copied, end - copied);
    copied = end;
  };
  for (Index i = 0; i < tokens_.size(); ++i) {
    const auto& [replacement, first_prefix] = edits_[i];
    if (!replacement && first_prefix < 0) continue;
    copy_to(tokens_[i].begin);
    out.segments.push_back({text.size(), tokens_[i].begin, tokens_[i].end(), false});
    for (auto p = first_prefix; p >= 0; p = prefixes_[static_cast<std::size_t>(p)].next)
      text += prefixes_[static_cast<std::size_t>(p)].text;
    if (!replacement) continue;
    text += *replacement;
    copied = tokens_[i].end();
  }
  copy_to(statement_.size());
  out.text = std::move(text);
  return out;
}

}  // namespace eindb

#include "server/dialect/dialect_rewriter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "server/dialect/dialect_types.hpp"

namespace eindb {
namespace {

/// The functions of PgCatalog, in alphabetical order.
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

}  // namespace

bool is_catalog_function(std::string_view name) {
  return std::binary_search(kCatalogFunctions.begin(), kCatalogFunctions.end(), name);
}

DialectRewriter::DialectRewriter(std::string_view statement, std::vector<Token> tokens)
    : statement_(statement),
      tokens_(std::move(tokens)),
      edits_(tokens_.size()),
      match_(tokens_.size(), kNone),
      is_alias_(tokens_.size()),
      frames_(1) {}

Translation DialectRewriter::run() {
  CHECK(!tokens_.empty() && tokens_.back().is(Token::Kind::End), "the end stands behind the tokens of a statement");
  CHECK(edits_.size() == tokens_.size(), "each token has an edit");
  match_parentheses();
  DCHECK(is_matched(), "two parentheses that belong together know of each other");
  rewrite_tables();
  rewrite_expressions();
  return assemble();
}

bool DialectRewriter::is_matched() const {
  for (Index i = 0; i < match_.size(); ++i)
    if (match_[i] != kNone && (match_[i] >= match_.size() || match_[match_[i]] != i)) return false;
  return match_.size() == tokens_.size();
}

const Token& DialectRewriter::before(Index i, Index count) const {
  static constexpr Token kNothing{};
  return i < count ? kNothing : tokens_[i - count];
}

std::string_view DialectRewriter::source(Index begin, Index end) const {
  if (begin >= end) return {};
  CHECK(end <= tokens_.size(), "a part of the statement ends with one of its tokens");
  return statement_.substr(tokens_[begin].span.begin, tokens_[end - 1].span.end - tokens_[begin].span.begin);
}

void DialectRewriter::drop(Index begin, Index end) {
  CHECK(begin >= end || end <= edits_.size(), "what is dropped are tokens of the statement");
  for (auto i = begin; i < end; ++i) edits_[i].replacement.emplace();
}

void DialectRewriter::put_before(Index i, std::string_view text) {
  CHECK(i < edits_.size(), "a prefix stands before a token of the statement");
  prefixes_.push_back({text, edits_[i].first_prefix});
  edits_[i].first_prefix = static_cast<int>(prefixes_.size()) - 1;
}

void DialectRewriter::match_parentheses() {
  std::vector<Index> open;
  for (Index i = 0; i < tokens_.size(); ++i) {
    if (token(i).is_symbol('(') || token(i).is_symbol('[')) open.push_back(i);
    if (!token(i).is_symbol(')') && !token(i).is_symbol(']')) continue;
    const char wanted = token(i).is_symbol(')') ? '(' : '[';
    if (open.empty() || !token(open.back()).is_symbol(wanted)) return;  // SQLite refuses the remainder
    match_[open.back()] = i;
    match_[i] = open.back();
    open.pop_back();
  }
}

// ---- The second walk -----------------------------------------------------------------------------------------------

void DialectRewriter::rewrite_expressions() {
  Index i = 0;
  while (i + 1 < tokens_.size()) {
    const auto next = step(i);
    CHECK(next > i && next <= tokens_.size(), "each step of the walk goes on");
    i = next;
  }
  join_key_columns(tokens_.size() - 1);
}

DialectRewriter::Index DialectRewriter::step(Index i) {
  switch (token(i).kind) {
    case Token::Kind::Word:
    case Token::Kind::QuotedName: return step_word(i);
    case Token::Kind::Operator: return step_operator(i);
    case Token::Kind::Symbol: return step_symbol(i);
    case Token::Kind::NestedComment: replace(i, " "); return i + 1;
    case Token::Kind::String: compare_flag(i); return take_operand(i);
    case Token::Kind::EscapeString:
    case Token::Kind::UnicodeString:
    case Token::Kind::DollarString: replace(i, quote_string(string_value(token(i)))); return take_operand(i);
    default: return take_operand(i);
  }
}

/// Rewrites x.indisprimary = 'f'  ->  x.indisprimary = 0, for the columns of pg_catalog that are boolean.
void DialectRewriter::compare_flag(Index i) {
  constexpr std::array<std::string_view, 8> kFlags{"attisdropped", "attnotnull",  "indisprimary",   "indisunique",
                                                   "indisvalid",   "relhasindex", "relispartition", "typnotnull"};
  const bool compares = uses_catalog_ && before(i).is_symbol('=') && (token(i).text == "'f'" || token(i).text == "'t'");
  if (!compares || std::none_of(kFlags.begin(), kFlags.end(), [&](auto flag) { return before(i, 2).is_word(flag); }))
    return;
  replace(i, token(i).text == "'f'" ? "0" : "1");
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
    if (token(i).is_name_of("pg_catalog")) return on_pg_catalog(i);
    if (token(i).is_name_of("public")) return on_public(i);
  }
  if (token(i).is(Token::Kind::QuotedName)) return take_operand(i);
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

/// Rewrites x::type  ->  CAST(x AS TYPE).
DialectRewriter::Index DialectRewriter::cast(Index i) {
  const auto type = read_type_name(tokens_, i + 1);
  if (edits_[i].replacement) return type.end;
  if (operand_ == kNone || type.end == i + 1) return i + 1;
  CHECK(operand_ < i, "an operand stands before its cast");
  note_parameter(operand_, i, type.cast.type);
  put_before(operand_, type.cast.open);
  drop(i, type.end);
  replace(i, std::string(type.cast.close));
  uses_catalog_ = uses_catalog_ || !type.cast.close.starts_with(" AS");
  return type.end;
}

void DialectRewriter::note_parameter(Index operand, Index cast, DataType type) {
  const bool alone = operand + 1 == cast && token(operand).is(Token::Kind::Parameter);
  constexpr std::size_t kMostDigits = 6;
  const auto digits = token(operand).text.substr(alone ? 1 : 0);
  if (!alone || digits.size() > kMostDigits || type == DataType::Unspecified) return;
  // $0 is not a parameter; the engine reports it.
  if (const auto number = std::stoul(std::string(digits)); number > 0) parameter_types_.push_back({number, type});
}

/// Rewrites
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
    drop(match_[bracket], end);  // also drops a cast of the array
  } else if (!token(first).is_word("SELECT") && !token(first).is_word("WITH") && !token(first).is_word("VALUES")) {
    replace(parenthesis, "(SELECT value FROM json_each(pg_array_json(");
    replace(end, ")))");
    uses_catalog_ = true;
  }
  operand_ = kNone;
  return parenthesis;
}

/// Rewrites x[i]  ->  pg_array_get(x, i), in queries of the catalog only: for SQLite [i] is a quoted name.
DialectRewriter::Index DialectRewriter::subscript(Index i) {
  const bool is_subscript =
      uses_catalog_ && operand_ != kNone && match_[i] != kNone && i > 0 && before(i).span.end == token(i).span.begin;
  if (is_subscript) {
    put_before(operand_, "pg_array_get(");
    replace(i, ", ");
    replace(match_[i], ")");
  }
  open(i);
  return i + 1;
}

/// Rewrites (result.keys).x, a field of a row from information_schema._pg_expandarray. Such rows are represented by
/// their x.
DialectRewriter::Index DialectRewriter::field(Index i) {
  const bool of_group = uses_catalog_ && before(i).is_symbol(')') && match_[i - 1] != kNone;
  const bool of_name = of_group && i - 1 - match_[i - 1] <= 4 && token(match_[i - 1] + 1).is_name();
  if (of_name && token(i + 1).is_word("x")) drop(i, i + 2);
  return i + 1;
}

/// Rewrites a set-returning function in the list of a SELECT, as JDBC uses it to query keys. Its array is joined to the
/// tables:
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
    CHECK(copied <= end && end <= statement_.size(), "a statement is copied from left to right");
    if (end > copied) out.segments.push_back({text.size(), copied, end, true});
    text.append(statement_, copied, end - copied);
    copied = end;
  };
  for (Index i = 0; i < tokens_.size(); ++i) {
    const auto& [replacement, first_prefix] = edits_[i];
    if (!replacement && first_prefix < 0) continue;
    copy_to(tokens_[i].span.begin);
    out.segments.push_back({text.size(), tokens_[i].span.begin, tokens_[i].span.end, false});
    for (auto p = first_prefix; p >= 0; p = prefixes_[static_cast<std::size_t>(p)].next)
      text += prefixes_[static_cast<std::size_t>(p)].text;
    if (!replacement) continue;
    text += *replacement;
    copied = tokens_[i].span.end;
  }
  copy_to(statement_.size());
  DCHECK(std::is_sorted(out.segments.begin(), out.segments.end(),
                        [](const auto& a, const auto& b) { return a.begin < b.begin; }),
         "segments are in the order of the text");
  out.text = std::move(text);
  return out;
}

}  // namespace eindb

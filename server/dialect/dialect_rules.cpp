// The second pass of DialectRewriter, continued: the rules for words.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/dialect/dialect_rewriter.hpp"
#include "server/dialect/dialect_types.hpp"

namespace eindb {
namespace {

constexpr std::string_view kElementsOfSelect = ") SELECT pg_array_of_json(json_group_array(element)) FROM pg_elements)";
constexpr std::string_view kBackslashEscape = " ESCAPE '\\'";

}  // namespace

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

/// Handles CAST(x AS type), or AS before an alias.
DialectRewriter::Index DialectRewriter::on_as(Index i) {
  const auto& frame = frames_.back();
  if (frame.kind != Frame::Kind::Cast) {
    operand_ = kNone;
    if (token(i + 1).is_word("DEFAULT")) {  // which SQLite reserves
      replace(i + 1, "\"default\"");
      return i + 2;
    }
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

/// Handles CAST; on_as handles its type.
DialectRewriter::Index DialectRewriter::on_cast(Index i) {
  if (token(i + 1).is_symbol('(')) next_frame_ = Frame::Kind::Cast;
  return take_operand(i);
}

DialectRewriter::Index DialectRewriter::on_collate(Index i) {
  auto name = i + 1;
  if (token(name).is_name_of("pg_catalog") && token(name + 1).is_symbol('.')) name += 2;
  if (token(name).is_name_of("default")) {
    drop(i, name + 1);
    return name + 1;
  }
  if (token(name).text == "\"C\"" || token(name).text == "\"POSIX\"") {
    drop(i + 1, name);
    replace(name, "BINARY");
  }
  return name + 1;
}

/// Rewrites FETCH FIRST 3 ROWS ONLY  ->  LIMIT 3.
DialectRewriter::Index DialectRewriter::on_fetch(Index i) {
  if (!token(i + 1).is_word("FIRST") && !token(i + 1).is_word("NEXT")) return take_operand(i);
  const bool has_count = token(i + 2).is_number() || token(i + 2).is(Token::Kind::Parameter);
  const auto rows = i + (has_count ? 3 : 2);
  const bool fits = (token(rows).is_word("ROW") || token(rows).is_word("ROWS")) && token(rows + 1).is_word("ONLY");
  if (!fits) return take_operand(i);
  replace(i, has_count ? "LIMIT" : "LIMIT 1");
  drop(i + 1, i + 2);
  drop(rows, rows + 2);
  operand_ = kNone;
  return rows + 2;
}

/// Handles row locks, which SQLite lacks, and substring(x FROM 1 FOR 2).
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

/// A backslash is the escape character in PostgreSQL's patterns; SQLite needs an ESCAPE clause for that.
DialectRewriter::Index DialectRewriter::on_like(Index i) {
  const auto pattern = i + 1;
  const auto& next = token(pattern + 1);
  const bool alone = !next.is_word("ESCAPE") && !next.is(Token::Kind::Operator) && !next.is_symbol('.');
  const bool escapes = token(pattern).is(Token::Kind::Parameter) ||
                       (token(pattern).is_string() && token(pattern).text.find('\\') != std::string_view::npos);
  if (!uses_catalog_ || !alone || !escapes) return keyword(i);
  const auto& written = token(pattern);
  auto text = written.is_string() ? quote_string(string_value(written)) : std::string(written.text);
  replace(pattern, std::move(text.append(kBackslashEscape)));
  operand_ = kNone;
  return pattern + 1;
}

DialectRewriter::Index DialectRewriter::on_information_schema(Index i) {
  if (!token(i + 1).is_symbol('.') || !token(i + 2).is(Token::Kind::Word)) return take_operand(i);
  uses_catalog_ = true;
  if (token(i + 2).is_word("_pg_expandarray") && token(i + 3).is_symbol('(') && match_[i + 3] != kNone)
    return key_column(i);
  replace(i, "pg_catalog");
  replace(i + 2, "information_schema_" + to_lower(token(i + 2).text));
  operand_ = i;
  return i + 3;
}

/// In queries of the catalog alone, where it makes no difference that SQLite has 1 for true.
DialectRewriter::Index DialectRewriter::on_json_build_object(Index i) {
  return uses_catalog_ ? call_renamed(i, "json_object") : take_operand(i);
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
  const bool is_clause = operand_ != kNone && (token(i + 1).is_number() || token(i + 1).is(Token::Kind::Parameter));
  if (!is_clause) return take_operand(i);
  if (!frames_.back().has_limit) put_before(i, "LIMIT -1 ");
  if (token(i + 2).is_word("ROW") || token(i + 2).is_word("ROWS")) drop(i + 2, i + 3);
  return keyword(i);
}

/// Replaces OPERATOR(pg_catalog.~) by ~ and handles that. psql compares names so, in lower case unless they are quoted;
/// names of eindb are case-insensitive.
DialectRewriter::Index DialectRewriter::on_operator(Index i) {
  const auto open = i + 1;
  if (!token(open).is_symbol('(') || match_[open] == kNone) return take_operand(i);
  const auto end = match_[open];
  if (!token(end - 1).is(Token::Kind::Operator)) return take_operand(i);
  drop(i, end - 1);
  drop(end, end + 1);
  if (token(end - 1).text == "~" && operand_ != kNone) match_regex(end - 1, " REGEXP '(?i)' || ");
  else step_operator(end - 1);
  return end + 1;
}

/// SQLite's aggregates have no ORDER BY.
DialectRewriter::Index DialectRewriter::on_order(Index i) {
  const auto& frame = frames_.back();
  if (frame.kind != Frame::Kind::Aggregate || frame.end == kNone) return on_where(i);
  drop(i, frame.end);
  return frame.end;
}

/// Tables keep the schema pg_catalog; functions lose it.
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

/// Drops the schema public, in which clients expect tables outside the catalog. For SQLite these are in the main
/// schema.
DialectRewriter::Index DialectRewriter::on_public(Index i) {
  drop(i, i + 2);
  return i + 2;
}

/// CURRENT_USER and similar words are functions without parentheses.
DialectRewriter::Index DialectRewriter::on_session_name(Index i) {
  uses_catalog_ = true;
  if (!token(i + 1).is_symbol('(') && !token(i + 1).is_symbol('.')) replace(i, to_lower(token(i).text) + "()");
  return take_operand(i);
}

/// Not a function if it may be a column: SQLite allows a column of this name.
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

/// Rewrites trim(both 'x' from y)  ->  pg_trim('both', 'x' , y).
DialectRewriter::Index DialectRewriter::on_trim(Index i) {
  const auto& side = token(i + 2);
  const bool sided = side.is_word("BOTH") || side.is_word("LEADING") || side.is_word("TRAILING");
  if (!token(i + 1).is_symbol('(') || !sided) return take_operand(i);
  replace(i + 2, quote_string(to_lower(side.text)) + ",");
  next_frame_ = Frame::Kind::Substring;
  uses_catalog_ = true;
  return call_renamed(i, "pg_trim");
}

/// unnest(array) and generate_subscripts(array, 1) in the list of a SELECT, as SQLAlchemy queries keys: the array is
/// joined to the tables.
DialectRewriter::Index DialectRewriter::on_set_function(Index i) {
  if (!token(i + 1).is_symbol('(') || match_[i + 1] == kNone || !uses_catalog_) return take_operand(i);
  const auto end = match_[i + 1];
  const bool numbers = token(i).is_word("generate_subscripts");
  if (numbers && !token(end - 2).is_symbol(',')) return take_operand(i);
  auto& select = frames_.back();
  const auto array = source(i + 2, numbers ? end - 2 : end);
  if (select.key_columns.empty()) select.key_columns = array;
  if (select.key_columns != array) return take_operand(i);
  drop(i, end + 1);
  replace(i, numbers ? "pg_keys.key" : "pg_keys.value");
  operand_ = i;
  return end + 1;
}

/// Handles WHERE and other clauses that follow the tables of a SELECT.
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
      WordRule{"generate_subscripts", &Self::on_set_function},
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
      WordRule{"json_build_object", &Self::on_json_build_object},
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
      WordRule{"unnest", &Self::on_set_function},
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

}  // namespace eindb

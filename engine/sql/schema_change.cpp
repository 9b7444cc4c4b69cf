#include "engine/sql/schema_change.hpp"

#include <utility>

#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

bool is_name(const Token& token) { return token.is(Token::Kind::Word) || token.is_quoted(); }

/// The place of a name with the schema before it; nullopt if there is none.
std::optional<SourceSpan> take_qualified(Tokenizer& tokenizer) {
  const auto first = tokenizer.next();
  if (!is_name(first)) return std::nullopt;
  auto span = first.span;
  auto ahead = tokenizer;
  if (ahead.next().is_symbol('.')) {
    const auto second = ahead.next();
    if (!is_name(second)) return std::nullopt;
    span.end = second.span.end;
    tokenizer = ahead;
  }
  return span;
}

/// The text from `begin` to `end` in the middle of blanks, behind `head`.
std::string in_place(std::string head, std::string_view sql, SourceSpan span) {
  head.append(span.begin - head.size(), ' ');
  return head.append(sql.substr(span.begin, span.end - span.begin));
}

}  // namespace

std::optional<DropOfSeveral> drop_of_several(std::string_view sql) {
  Tokenizer tokenizer(sql);
  const auto verb = tokenizer.next();
  const auto kind = tokenizer.next();
  if (!verb.is_word("DROP") || !(kind.is_word("TABLE") || kind.is_word("VIEW"))) return std::nullopt;
  auto head = kind.span.end;
  auto ahead = tokenizer;
  if (ahead.next().is_word("IF")) {
    const auto exists = ahead.next();
    if (!exists.is_word("EXISTS")) return std::nullopt;
    head = exists.span.end;
    tokenizer = ahead;
  }
  DropOfSeveral out;
  Token token;
  do {
    const auto name = take_qualified(tokenizer);
    if (!name) return std::nullopt;
    out.statements.push_back(in_place(std::string(sql.substr(0, head)), sql, *name));
    token = tokenizer.next();
  } while (token.is_symbol(','));
  const bool plain = !token.is_word("CASCADE") && !token.is_word("RESTRICT");
  if (!plain) {
    out.behavior = token.is_word("CASCADE") ? ast::DropBehavior::Cascade : ast::DropBehavior::Restrict;
    token = tokenizer.next();
  }
  if (!token.is(Token::Kind::End) || (plain && out.statements.size() == 1)) return std::nullopt;
  return out;
}

std::optional<ReplacedView> replaced_view(std::string_view sql) {
  Tokenizer tokenizer(sql);
  if (!tokenizer.next().is_word("CREATE")) return std::nullopt;
  const auto begin = tokenizer.next();
  const auto end = tokenizer.next();
  if (!begin.is_word("OR") || !end.is_word("REPLACE")) return std::nullopt;
  ReplacedView out{.create = std::string(sql), .schema = "main", .name = {}, .span = {}};
  auto kind = tokenizer.next();
  if (kind.is_word("TEMP") || kind.is_word("TEMPORARY")) {
    out.schema = "temp";
    kind = tokenizer.next();
  }
  const auto before = tokenizer;
  if (!kind.is_word("VIEW") || !take_qualified(tokenizer)) return std::nullopt;
  auto name = before;
  auto token = name.next();
  auto behind = name;
  if (behind.next().is_symbol('.')) {
    out.schema = token.is_quoted() ? unquote(token) : std::string(token.text);
    token = behind.next();
  }
  out.name = token.is_quoted() ? unquote(token) : std::string(token.text);
  out.span = token.span;
  out.create.replace(begin.span.begin, end.span.end - begin.span.begin, end.span.end - begin.span.begin, ' ');
  return out;
}

std::optional<TableOfQuery> table_of_query(std::string_view sql) {
  Tokenizer tokenizer(sql);
  if (!tokenizer.next().is_word("CREATE")) return std::nullopt;
  TableOfQuery out{.create = {}, .insert = {}, .schema = "main", .name = {}};
  auto kind = tokenizer.next();
  if (kind.is_word("TEMP") || kind.is_word("TEMPORARY")) {
    out.schema = "temp";
    kind = tokenizer.next();
  }
  if (!kind.is_word("TABLE")) return std::nullopt;
  auto ahead = tokenizer;
  if (ahead.next().is_word("IF")) {
    out.if_not_exists = true;
    if (!ahead.next().is_word("NOT") || !ahead.next().is_word("EXISTS")) return std::nullopt;
    tokenizer = ahead;
  }
  const auto name = tokenizer.next();
  if (!is_name(name) || !tokenizer.next().is_symbol('(')) return std::nullopt;
  auto token = tokenizer.next();
  for (int depth = 1;; token = tokenizer.next()) {
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated)) return std::nullopt;
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    if (depth == 0) break;
  }
  const auto as = tokenizer.next();
  if (!as.is_word("AS")) return std::nullopt;
  out.name = name.is_quoted() ? unquote(name) : std::string(name.text);
  out.create = sql.substr(0, token.span.end);
  out.insert = in_place("INSERT INTO " + out.schema + "." + std::string(name.text), sql, {as.span.end, sql.size()});
  return out;
}

}  // namespace eindb

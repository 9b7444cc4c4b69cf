#include "parser/statement_outline.hpp"

#include <algorithm>
#include <initializer_list>

#include "common/letter_case.hpp"
#include "parser/query_parser.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

struct Verb {
  std::string_view word;
  StatementKind kind;
  bool writes = false;
};

constexpr std::array kVerbs = std::to_array<Verb>({
    {"EINSUM", StatementKind::Einsum},       {"GRADIENT", StatementKind::Einsum},
    {"JVP", StatementKind::Einsum},          {"SELECT", StatementKind::Select},
    {"VALUES", StatementKind::Select},       {"TABLE", StatementKind::Select},
    {"DESCRIBE", StatementKind::Select},     {"DESC", StatementKind::Select},
    {"INSERT", StatementKind::Insert, true}, {"REPLACE", StatementKind::Insert, true},
    {"UPDATE", StatementKind::Update, true}, {"DELETE", StatementKind::Delete, true},
    {"CREATE", StatementKind::Create, true}, {"ALTER", StatementKind::Alter, true},
    {"DROP", StatementKind::Drop, true},     {"COPY", StatementKind::Copy, true},
    {"COMMENT", StatementKind::Alter, true}, {"BACKUP", StatementKind::Other},
    {"GRANT", StatementKind::Alter, true},   {"REVOKE", StatementKind::Alter, true},
    {"REPEAT", StatementKind::Other, true},  {"BEGIN", StatementKind::Transaction},
    {"START", StatementKind::Transaction},   {"COMMIT", StatementKind::Transaction},
    {"END", StatementKind::Transaction},     {"ROLLBACK", StatementKind::Transaction},
    {"ABORT", StatementKind::Transaction},   {"SAVEPOINT", StatementKind::Transaction},
    {"RELEASE", StatementKind::Transaction}, {"SET", StatementKind::Setting},
    {"RESET", StatementKind::Setting},       {"SHOW", StatementKind::Setting},
    {"DISCARD", StatementKind::Setting},
});

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}

bool at_end(const Token& token) { return token.is(Token::Kind::End) || token.is_symbol(';'); }

// The next token outside of parentheses for which `is_it` holds, or the end; `depth` parentheses are already open.
template <class F>
Token find(Tokenizer& tokenizer, F is_it, int depth = 0) {
  auto token = tokenizer.next();
  for (; !at_end(token); token = tokenizer.next()) {
    if (token.is_symbol('(')) ++depth;
    else if (token.is_symbol(')')) --depth;
    else if (depth == 0 && is_it(token)) break;
  }
  return token;
}

// The verb after the definitions of a WITH. Tensors may have such names: einsum[i], update[i].
Token verb_behind_with(Tokenizer& tokenizer, bool of_query) {
  return find(tokenizer, [&](const Token& token) {
    if (!of_query) return is_one_of(token, {"SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"});
    const auto next = Tokenizer(tokenizer).next();
    if (token.is_word("UPDATE")) return next.is_word("TENSOR");
    return token.is_word("EINSUM") && !next.is_symbol('[') && !next.is_symbol('=') && !next.text.starts_with('[');
  });
}

}  // namespace

StatementOutline outline_of(std::string_view text) {
  StatementOutline outline;
  Tokenizer tokenizer(text);
  auto verb = tokenizer.next();
  while (verb.is_symbol(';')) verb = tokenizer.next();
  outline.empty = verb.is(Token::Kind::End);
  while (verb.is_symbol('(') || verb.is_symbol(';')) verb = tokenizer.next();
  outline.explains = verb.is_word("EXPLAIN");
  if (outline.explains) {
    verb = tokenizer.next();
    if (verb.is_symbol('('))
      verb = find(
          tokenizer, [](const Token&) { return true; }, 1);  // behind the options
    while (is_one_of(verb, {"QUERY", "PLAN", "ANALYZE"})) verb = tokenizer.next();
  }
  if (verb.is_word("WITH")) {
    outline.defines_tensors = starts_query(Tokenizer(text, verb.span.begin));
    verb = verb_behind_with(tokenizer, outline.defines_tensors);
  }

  const auto* const known =
      std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& each) { return verb.is_word(each.word); });
  if (verb.is(Token::Kind::Word)) outline.tag = to_upper(verb.text);
  if (known != kVerbs.end()) {
    outline.kind = known->kind;
    outline.writes = known->writes;
  }
  if (is_one_of(verb, {"CREATE", "DROP", "ALTER"})) {
    auto object = tokenizer.next();
    while (is_one_of(object, {"TEMP", "TEMPORARY", "UNLOGGED", "VIRTUAL", "UNIQUE", "OR", "REPLACE"})) {
      outline.temporary |= verb.is_word("CREATE") && is_one_of(object, {"TEMP", "TEMPORARY"});
      object = tokenizer.next();
    }
    outline.stores_text = verb.is_word("CREATE") && is_one_of(object, {"VIEW", "TRIGGER"});
    if (object.is(Token::Kind::Word)) outline.tag += " " + to_upper(object.text);
  }
  if (verb.is_word("ANALYZE") && tokenizer.next().is_word("TENSOR")) {
    outline.kind = StatementKind::Alter;
    outline.tag += " TENSOR";
    outline.writes = true;
  }
  if (verb.is_word("COPY")) {
    const auto way = find(tokenizer, [](const Token& token) { return is_one_of(token, {"FROM", "TO"}); });
    outline.writes = way.is_word("FROM");
  }
  if (outline.explains) {
    outline.kind = StatementKind::Explain;
    outline.tag = "EXPLAIN";
    outline.writes = false;
  }
  return outline;
}

}  // namespace eindb

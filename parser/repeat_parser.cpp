#include "parser/repeat_parser.hpp"

#include <array>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "parser/definition_parser.hpp"
#include "parser/expression_parser.hpp"
#include "parser/extent_parser.hpp"
#include "parser/limits.hpp"
#include "parser/statement_end.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

[[noreturn]] void fail(std::string message, SourceSpan span, std::string hint) {
  throw Error(ErrorKind::Syntax, std::move(message), span, std::move(hint));
}

void add_variable(EnclosingLoops& loops, const ast::Identifier& name) {
  if (name.quoted) fail("the variable of a loop is a plain name", name.span, "leave out the quotes");
  if (loops.variables.insert(name.text).second) return;
  fail("a loop around this one has the variable " + name.text, name.span, "call it something else");
}

/// Parses the clauses between the number of rounds and the body, in any order.
void parse_clauses(TokenStream& tokens, ast::Repeat& repeat, EnclosingLoops& loops) {
  while (!tokens.at_symbol("{")) {
    if (!repeat.variable && tokens.accept_word("AS")) {
      repeat.variable = tokens.expect_name("a name for the number of the round after AS");
      add_variable(loops, *repeat.variable);
    } else if (!repeat.until && tokens.accept_word("UNTIL")) {
      repeat.until = parse_expression(tokens);
    } else if (!repeat.commit_every && tokens.accept_word("COMMIT")) {
      tokens.expect_word("EVERY", "after COMMIT");
      repeat.commit_every = parse_extent(tokens, "the rounds in a transaction", 1);
    } else {
      auto hint = nearest_word_hint(tokens.peek().text, {"AS", "UNTIL", "COMMIT"});
      if (hint.empty() && repeat.until) hint = hint_after_expression(tokens);
      tokens.fail_expected("'{' and the statements to repeat",
                           hint.empty() ? "as in REPEAT 10 AS t UNTIL loss < 0.1 { ...; ...; }" : hint);
    }
  }
}

/// Rejects statements that end the round's transaction, or that cannot be repeated.
void check_may_repeat(const Token& word, Tokenizer after) {
  constexpr std::array<std::string_view, 5> kTransactions = {"BEGIN", "START", "COMMIT", "END", "ROLLBACK"};
  for (const auto transaction : kTransactions) {
    if (!word.is_word(transaction)) continue;
    auto next = after.next();
    if (next.is_word("TRANSACTION") || next.is_word("WORK")) next = after.next();
    if (word.is_word("ROLLBACK") && next.is_word("TO")) return;  // to a savepoint
    fail(std::string(transaction) + " inside of a loop, which has transactions of its own", word.span,
         "each round is one; COMMIT EVERY 10, before the brace, takes ten rounds together");
  }
  if (word.is_word("PREPARE"))
    fail("PREPARE inside of a loop: the second round would find its name taken", word.span,
         "prepare it before the loop; EXECUTE may stand inside");
}

/// The end of the statement that begins at `begin` in a body: a semicolon, an unmatched closing brace, or the end of
/// the text.
std::size_t end_in_body(std::string_view text, std::size_t begin) {
  Tokenizer tokenizer(text, begin);
  StatementEnd statement_end;
  std::size_t open = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (token.is_symbol('}') && open == 0) return token.span.begin;
    if (statement_end.ends_with(token)) return token.span.begin;
    if (token.is_symbol('{')) ++open;
    if (token.is_symbol('}')) --open;
  }
  return text.size();
}

/// Parses the statements and the closing brace; returns the offset after it.
std::size_t parse_body(std::string_view text, SourceSpan brace, const EnclosingLoops& loops, ParseInLoop parse,
                       std::vector<ast::Statement>& body) {
  Tokenizer tokenizer(text, brace.end);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (token.is_symbol(';')) continue;
    if (token.is_symbol('}')) {
      if (body.empty()) fail("a loop without statements", {brace.begin, token.span.end}, "REPEAT 10 { ...; ...; }");
      return token.span.end;
    }
    check_may_repeat(token, tokenizer);
    const auto begin = token.span.begin;
    const auto end = token.is_word("REPEAT") ? text.size() : end_in_body(text, begin);
    body.push_back(parse(text.substr(0, end), begin, loops));
    tokenizer.skip_to(body.back().span.end);
  }
  fail("the brace of a loop is not closed", brace, "close it with } after the last statement of the loop");
}

}  // namespace

ast::Repeat parse_repeat(TokenStream& tokens, ParseInLoop parse) {
  const auto* const around = tokens.loops();
  const auto word = tokens.take();
  tokens.allow_braces();
  EnclosingLoops loops = around == nullptr ? EnclosingLoops{} : *around;
  if (++loops.depth > kMaxNesting)
    fail("loops nest more than " + std::to_string(kMaxNesting) + " deep", word.span, "write inner loops as queries");
  ast::Repeat repeat;
  if (!at_extent(tokens))
    tokens.fail_expected("the number of rounds after REPEAT, a whole number", "as in REPEAT 10 { ...; ...; }");
  repeat.count = parse_extent(tokens, "the number of rounds", 0);
  parse_clauses(tokens, repeat, loops);
  const auto brace = tokens.take().span;
  const auto end = parse_body(tokens.text(), brace, loops, parse, repeat.body);
  tokens.skip_to(end);
  if (around == nullptr) repeat.text = tokens.text().substr(word.span.begin, end - word.span.begin);
  return repeat;
}

}  // namespace eindb

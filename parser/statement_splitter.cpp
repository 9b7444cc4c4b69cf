#include "parser/statement_splitter.hpp"

#include "parser/statement_end.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

std::vector<StatementText> split_statements(std::string_view script, const LexicalRules& rules) {
  std::vector<StatementText> statements;
  Tokenizer tokenizer(script, rules);
  StatementEnd statement_end;
  SourceSpan span;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (token.is(Token::Kind::NestedComment)) continue;
    const bool empty = statement_end.at_start();
    if (empty) span.begin = token.span.begin;
    span.end = token.span.end;
    const bool ended = statement_end.ends_with(token);
    if (ended && !empty) statements.push_back({script.substr(span.begin, span.end - span.begin), span.begin, true});
  }
  if (!statement_end.at_start())
    statements.push_back({script.substr(span.begin, span.end - span.begin), span.begin, false});
  return statements;
}

bool is_complete(std::string_view typed) {
  Tokenizer tokenizer(typed);
  StatementEnd statement_end;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (token.is(Token::Kind::Unterminated)) return false;
    statement_end.ends_with(token);
  }
  return statement_end.at_start();
}

}  // namespace eindb

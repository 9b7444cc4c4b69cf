#include "parser/statement_splitter.hpp"

#include "parser/sql_scanner.hpp"

namespace eindb {

std::vector<StatementText> split_statements(std::string_view script) {
  std::vector<StatementText> statements;
  SqlScanner scanner(script);
  StatementEnd statement_end;
  SourceSpan span;
  for (auto token = scanner.next(); token.kind != SqlToken::Kind::End; token = scanner.next()) {
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
  SqlScanner scanner(typed);
  StatementEnd statement_end;
  for (auto token = scanner.next(); token.kind != SqlToken::Kind::End; token = scanner.next()) {
    if (token.kind == SqlToken::Kind::Unterminated) return false;
    statement_end.ends_with(token);
  }
  return statement_end.at_start();
}

}  // namespace eindb

#include "parser/sql_parser.hpp"

#include "common/error.hpp"
#include "parser/query_parser.hpp"
#include "parser/statement_end.hpp"
#include "parser/token_stream.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

/// Parses the query after the '(' at `parenthesis`, up to its ')'.
ast::EmbeddedQuery parse_embedded(std::string_view statement, SourceSpan parenthesis, const EnclosingLoops* loops) {
  TokenStream tokens(statement, parenthesis.end, loops);
  ast::EmbeddedQuery embedded;
  embedded.query = parse_query_of_one(tokens);
  tokens.expect_symbol(")", "after the query");
  embedded.span = tokens.span_from(parenthesis.begin);
  return embedded;
}

[[noreturn]] void fail_unterminated(const Token& token) {
  const bool comment = token.text.starts_with("/*");
  const SourceSpan span{token.span.begin, token.span.begin + (comment ? 2 : 1)};
  const std::string close = comment ? "*/" : std::string(token.text.substr(0, 1));
  throw Error(ErrorKind::Syntax, comment ? "unterminated comment" : "unterminated quote", span,
              "close it with " + close);
}

/// Counts the tables of WITH, since SQLite compares each with all others and cannot be interrupted meanwhile.
class CommonTables {
 public:
  void see(const Token& token) {
    if (token.is_symbol('(') && (last_.is_word("AS") || last_.is_word("MATERIALIZED")) && ++count_ > kMost)
      throw Error(ErrorKind::Unsupported, "a statement defines more than " + std::to_string(kMost) + " tables in WITH",
                  token.span, "keep some of them in temporary tables");
    last_ = token;
  }

 private:
  static constexpr std::size_t kMost = 2000;

  std::size_t count_ = 0;
  Token last_;
};

}  // namespace

ast::Sql parse_sql(std::string_view statement, std::size_t begin, SqlExtent extent, const EnclosingLoops* loops) {
  ast::Sql sql;
  sql.span = {begin, begin};
  Tokenizer tokenizer(statement, begin);
  StatementEnd statement_end;
  CommonTables defined;
  std::size_t open = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (token.is(Token::Kind::Unterminated)) fail_unterminated(token);
    if (statement_end.ends_with(token)) break;
    defined.see(token);
    if (token.is_symbol('(') && starts_query(tokenizer)) {
      sql.queries.push_back(parse_embedded(statement, token.span, loops));
      sql.span.end = sql.queries.back().span.end;
      tokenizer.skip_to(sql.span.end);
      continue;
    }
    if (token.is_symbol('(')) ++open;
    if (token.is_symbol(')')) {
      if (open == 0 && extent == SqlExtent::ToParenthesis) break;
      open -= open > 0 ? 1 : 0;
    }
    sql.span.end = token.span.end;
  }
  sql.text = statement.substr(begin, sql.span.end - begin);
  return sql;
}

}  // namespace eindb

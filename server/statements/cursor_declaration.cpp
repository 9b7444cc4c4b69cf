#include "server/statements/cursor_declaration.hpp"

#include "common/error.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

/// Reads the words before the query; `token_` is the next token.
class CursorReader {
 public:
  explicit CursorReader(std::string_view text) : text_(text), tokenizer_(text, kPostgresRules) { advance(); }

  std::optional<CursorDeclaration> read() {
    CursorDeclaration declaration;
    if (!takes("DECLARE") || !token_.is_name()) return std::nullopt;
    declaration.name = token_.is(Token::Kind::Word) ? to_lower(token_.text) : unquote(token_);
    advance();
    if (!take_properties(declaration)) return std::nullopt;
    if (takes("WITH")) {
      if (!takes("HOLD")) return std::nullopt;
      declaration.holds = true;
    } else if (takes("WITHOUT") && !takes("HOLD")) {
      return std::nullopt;
    }
    const auto place = token_.span;
    if (!takes("FOR")) return std::nullopt;
    declaration.query = token_.span.begin;
    declaration.query_outline = outline_of(text_.substr(declaration.query));
    const auto& query = declaration.query_outline;
    if (query.kind != StatementKind::Select && query.kind != StatementKind::Einsum)
      throw Error(ErrorKind::Syntax, "a cursor is for a query alone", token_.is(Token::Kind::End) ? place : token_.span,
                  "SELECT, VALUES and EINSUM give rows: DECLARE c CURSOR FOR SELECT ...");
    return declaration;
  }

 private:
  void advance() {
    do token_ = tokenizer_.next();
    while (token_.is(Token::Kind::NestedComment));
  }
  bool takes(std::string_view word) {
    if (!token_.is_word(word)) return false;
    advance();
    return true;
  }
  /// The words up to CURSOR, in any order.
  bool take_properties(CursorDeclaration& declaration) {
    while (!takes("CURSOR")) {
      if (takes("BINARY")) {
        declaration.binary = true;
      } else if (takes("SCROLL")) {
        declaration.scrolls = true;
      } else if (takes("NO")) {
        if (!takes("SCROLL")) return false;
      } else if (!takes("INSENSITIVE") && !takes("ASENSITIVE")) {
        return false;
      }
    }
    return true;
  }

  std::string_view text_;
  Tokenizer tokenizer_;
  Token token_;
};

}  // namespace

std::optional<CursorDeclaration> parse_cursor_declaration(std::string_view statement) {
  return CursorReader(statement).read();
}

}  // namespace eindb

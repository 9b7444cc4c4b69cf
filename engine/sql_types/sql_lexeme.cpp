#include "engine/sql_types/sql_lexeme.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "parser/sql_scanner.hpp"

namespace eindb {
namespace {

using Kind = SqlLexeme::Kind;

constexpr std::array<std::string_view, 10> kOperators{"->>", "||", "->", "<=", ">=", "<>", "!=", "==", "<<", ">>"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Puts together what the scanner cuts too fine: 1.5e-3, 'it''s', <=.
class Lexer {
 public:
  explicit Lexer(std::string_view sql) : sql_(sql), scanner_(sql) {}

  /// nullopt for what is none.
  std::optional<SqlLexeme> next() {
    const auto token = scanner_.next();
    switch (token.kind) {
      case SqlToken::Kind::End: return SqlLexeme{};
      case SqlToken::Kind::Quoted: return quoted(token);
      case SqlToken::Kind::Word: return word(token);
      case SqlToken::Kind::Symbol: return symbol(token);
      case SqlToken::Kind::Unterminated: break;
    }
    return std::nullopt;
  }

 private:
  char at(std::size_t offset) const { return offset < sql_.size() ? sql_[offset] : '\0'; }

  SqlLexeme quoted(const SqlToken& first) {
    const char quote = first.text.front();
    std::string text(first.text.substr(1, first.text.size() - 2));
    auto end = first.span.end;
    while (quote != '[' && at(end) == quote) {  // doubled
      const auto more = scanner_.next();
      text += more.text.substr(0, more.text.size() - 1);
      end = more.span.end;
    }
    return {quote == '\'' ? Kind::String : Kind::Name, std::move(text)};
  }

  std::optional<SqlLexeme> word(const SqlToken& token) {
    if (is_digit(token.text.front())) return number(token.span.begin);
    if (token.text.front() == '$') return parameter(token.text);
    if (equal_ignoring_case(token.text, "X") && at(token.span.end) == '\'') {
      auto bytes = quoted(scanner_.next());
      bytes.kind = Kind::Blob;
      return bytes;
    }
    return SqlLexeme{Kind::Word, std::string(token.text)};
  }

  static std::optional<SqlLexeme> parameter(std::string_view text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
    return SqlLexeme{Kind::Parameter, std::string(text), number};
  }

  SqlLexeme number(std::size_t begin) {
    auto end = begin;
    const bool hexadecimal = at(begin) == '0' && (at(begin + 1) == 'x' || at(begin + 1) == 'X');
    const auto is_part = [&](char c) {
      if (is_digit(c) || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
      const char before = at(end - 1);
      return (c == '+' || c == '-') && !hexadecimal && end > begin && (before == 'e' || before == 'E');
    };
    while (is_part(at(end))) ++end;
    scanner_.skip_to(end);
    std::string text(sql_.substr(begin, end - begin));
    if (hexadecimal) return {Kind::Integer, std::move(text)};
    std::int64_t value = 0;  // beyond 63 bits SQLite takes it for a real
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && stop == text.data() + text.size();
    return {whole ? Kind::Integer : Kind::Real, std::move(text)};
  }

  std::optional<SqlLexeme> symbol(const SqlToken& token) {
    const auto begin = token.span.begin;
    if (token.is_symbol('.') && is_digit(at(begin + 1))) return number(begin);
    if (token.is_symbol('?') || token.is_symbol(':') || token.is_symbol('@')) return std::nullopt;
    for (const auto op : kOperators) {
      if (sql_.substr(begin, op.size()) != op) continue;
      scanner_.skip_to(begin + op.size());
      return SqlLexeme{Kind::Operator, std::string(op)};
    }
    return SqlLexeme{Kind::Operator, std::string(token.text)};
  }

  std::string_view sql_;
  SqlScanner scanner_;
};

}  // namespace

std::optional<std::vector<SqlLexeme>> sql_lexemes(std::string_view sql) {
  std::vector<SqlLexeme> lexemes;
  for (Lexer lexer(sql);;) {
    auto lexeme = lexer.next();
    if (!lexeme) return std::nullopt;
    const bool last = lexeme->is(Kind::End);
    lexemes.push_back(std::move(*lexeme));
    if (last) return lexemes;
  }
}

}  // namespace eindb

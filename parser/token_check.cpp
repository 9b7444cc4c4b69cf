#include "parser/token_check.hpp"

#include <string>
#include <utility>

#include "common/error.hpp"
#include "parser/tokenizer.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

[[noreturn]] void refuse(std::string message, SourceSpan span, std::string hint = {}) {
  throw Error(ErrorKind::Syntax, std::move(message), span, std::move(hint));
}

/// The hint for a character from other languages or word processors: eindb's equivalent.
std::string hint_for(char32_t c) {
  switch (c) {
    case '#': return "the exclusive or of bits is BITXOR(x, y)";
    case '!': return "write NOT, or != for not equal";
    case '{': return "labels stand in brackets: X[i,j]";
    case '}': return "labels stand in brackets: X[i,j]; no '{' of a loop is open here";
    case '`': return "names are quoted with \"";
    case ':':
      return "ranges stand in the brackets of a tensor, X[0:10,j]; an extent follows its label, i 10; parameters are "
             "$1";
    case '?': return "parameters are written $1; a condition is CASE WHEN x > 0 THEN a ELSE b END";
    case '@': return "a product of matrices is SUM(X[i,j] * Y[j,k])";
    case '\'':
    case 0x2018:
    case 0x2019: return "strings are quoted with the plain quote '";
    case 0x201C:
    case 0x201D: return "names are quoted with the plain quote \"";
    case 0x2212: return "write - for minus";
    case 0x00D7:
    case 0x22C5:
    case 0x00B7: return "write * for times";
    case 0x00F7: return "write / for a quotient";
    case 0x2264: return "write <=";
    case 0x2265: return "write >=";
    case 0x2260: return "write <>";
    case 0x00B2: return "write ^2";
    case 0x00A0: return "this is a no-break space; use a plain one";
    default: return {};
  }
}

[[noreturn]] void refuse_unterminated(const Token& token) {
  const auto begin = token.span.begin;
  if (token.text.starts_with("/*")) refuse("unterminated comment", {begin, begin + 2}, "close it with */");
  const bool string = token.text.front() == '\'';
  refuse(string ? "unterminated string" : "unterminated quoted name", {begin, begin + 1},
         std::string("close it with ") + token.text.front());
}

[[noreturn]] void refuse_number(const Token& token) {
  const auto length = exact_number_length(token.text, 0);
  const auto suffix = token.text.substr(length);
  const bool imaginary = suffix == "i" || suffix == "I";
  refuse("letters in the number " + std::string(token.text), {token.span.begin + length, token.span.end},
         imaginary ? "imaginary numbers are written " + std::string(token.text.substr(0, length)) + "j"
                   : "a name starts with a letter; quote a text: '" + std::string(token.text) + "'");
}

[[noreturn]] void refuse_malformed(const Token& token) {
  if (token.text.front() != '$') refuse_number(token);
  const auto digits = token.text.find_first_not_of("0123456789", 1);
  const auto length = digits == std::string_view::npos ? token.text.size() : digits;
  refuse("a parameter is written $1, $2, ...", {token.span.begin, token.span.begin + length});
}

[[noreturn]] void refuse_symbol(const Token& token, std::string_view text) {
  const auto begin = token.span.begin;
  const auto pair = text.substr(begin, 2);
  if (pair == ":=") refuse("unexpected ':='", {begin, begin + 2}, "write =");
  if (pair == "::") refuse("unexpected '::'", {begin, begin + 2}, "write CAST(x AS FLOAT32)");
  refuse("unexpected character '" + std::string(token.text) + "'", token.span,
         hint_for(decode_utf8(text, begin).value));
}

bool is_symbol_of_eindb(const Token& token, std::string_view extra) {
  constexpr std::string_view kSymbols = "()[],=<>+-*/%^.&|~";
  if (token.text.size() > 1) return token.is(Token::Kind::Operator);  // of the pairs in kEindbRules
  const auto c = token.text.front();
  return kSymbols.find(c) != std::string_view::npos || extra.find(c) != std::string_view::npos;
}

}  // namespace

bool is_imaginary(const Token& token) {
  if (!token.is(Token::Kind::Malformed)) return false;
  const auto suffix = token.text.substr(exact_number_length(token.text, 0));
  return suffix.size() < token.text.size() && (suffix == "j" || suffix == "J");
}

void check_token(const Token& token, std::string_view text, std::string_view extra) {
  switch (token.kind) {
    case Token::Kind::Unterminated: refuse_unterminated(token);
    case Token::Kind::Malformed:
      if (!is_imaginary(token)) refuse_malformed(token);
      return;
    case Token::Kind::QuotedName:
      if (token.text.size() == 2) refuse("an empty name", token.span);
      return;
    case Token::Kind::Operator:
    case Token::Kind::Symbol:
      if (!is_symbol_of_eindb(token, extra)) refuse_symbol(token, text);
      return;
    default: return;
  }
}

}  // namespace eindb

#include "parser/lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "common/error.hpp"
#include "common/poll_steps.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

constexpr std::size_t kStepsPerToken = 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

[[noreturn]] void fail(std::string message, SourceSpan span, std::string hint = {}) {
  throw Error(ErrorKind::Syntax, std::move(message), span, std::move(hint));
}

/// What to write instead of characters that other languages, or word processors, use.
std::string hint_for(char32_t c) {
  switch (c) {
    case '&': return "write AND";
    case '|': return "write OR";
    case '!': return "write NOT, or != for not equal";
    case '~': return "write NOT";
    case '{': return "labels stand in brackets: X[i,j]";
    case '}': return "labels stand in brackets: X[i,j]; no '{' of a loop is open here";
    case '`': return "names are quoted with \"";
    case ':': return "a whole dimension takes a label, X[i,j]; an extent follows its label, i 10; parameters are $1";
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

/// Whether a number that does not fit a double is too large, not too small: by the power of ten of its first digit
/// that is not 0. "0.001e400" has its first digit at 10^397.
bool is_beyond_double(std::string_view number) {
  const auto exponent_at = std::min(number.find_first_of("eE"), number.size());
  const auto mantissa = number.substr(0, exponent_at);
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<std::int64_t>(std::min(mantissa.find_first_not_of("0."), mantissa.size()));
  auto exponent = number.substr(std::min(exponent_at + 1, number.size()));
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), power).ec == std::errc::result_out_of_range)
    return !negative;
  power = std::min(power, std::int64_t{1} << 40U);  // beyond any text; keeps the sum from overflowing
  return point - first + (negative ? -power : power) > 0;
}

double real_value(const Token& token) {
  double value = 0;
  const auto* const end = token.text.data() + token.text.size();
  if (std::from_chars(token.text.data(), end, value).ec != std::errc::result_out_of_range) return value;
  if (is_beyond_double(token.text)) fail("a number beyond the range of FLOAT64", token.span, "INFINITY is a constant");
  return 0;
}

}  // namespace

Token Lexer::next() {
  skip_space_and_comments();
  const char c = at(offset_);
  if (offset_ == text_.size() || c == ';') return {Token::Kind::End, text_.substr(offset_, 0), {offset_, offset_}};
  if (c == '\'') return take_quoted(Token::Kind::String, c);
  if (c == '"') return take_quoted(Token::Kind::QuotedWord, c);
  if (is_digit(c) || (c == '.' && is_digit(at(offset_ + 1)))) return take_number();
  if (c == '$') return take_parameter();
  if (const auto length = word_length(offset_)) return take(Token::Kind::Word, length);
  constexpr std::array<std::string_view, 5> kPairs = {"<=", ">=", "<>", "!=", "=="};
  if (std::find(kPairs.begin(), kPairs.end(), text_.substr(offset_, 2)) != kPairs.end())
    return take(Token::Kind::Symbol, 2);
  if (std::string_view("()[],=<>+-*/%^.").find(c) != std::string_view::npos) return take(Token::Kind::Symbol, 1);
  if (braces_ && (c == '{' || c == '}')) return take(Token::Kind::Symbol, 1);
  const auto pair = text_.substr(offset_, 2);
  if (pair == ":=") fail("unexpected ':='", {offset_, offset_ + 2}, "write =");
  if (pair == "::") fail("unexpected '::'", {offset_, offset_ + 2}, "write CAST(x AS FLOAT32)");
  const auto unknown = decode_utf8(text_, offset_);
  fail("unexpected character '" + std::string(text_.substr(offset_, unknown.length)) + "'",
       {offset_, offset_ + unknown.length}, hint_for(unknown.value));
}

void Lexer::skip_space_and_comments() {
  while (offset_ < text_.size()) {
    if (is_space(text_[offset_])) {
      ++offset_;
    } else if (text_.substr(offset_, 2) == "--") {
      offset_ = std::min(text_.find('\n', offset_), text_.size());
    } else if (text_.substr(offset_, 2) == "/*") {
      const auto end = text_.find("*/", offset_ + 2);
      if (end == std::string_view::npos) fail("unterminated comment", {offset_, offset_ + 2}, "close it with */");
      offset_ = end + 2;
    } else {
      return;
    }
  }
}

Token Lexer::take(Token::Kind kind, std::size_t length) {
  poll_cancellation_after(kStepsPerToken);
  const auto begin = offset_;
  offset_ += length;
  return {kind, text_.substr(begin, length), {begin, offset_}};
}

Token Lexer::take_quoted(Token::Kind kind, char quote) {
  const bool string = kind == Token::Kind::String;
  for (auto close = text_.find(quote, offset_ + 1); close != std::string_view::npos;
       close = text_.find(quote, close + 2)) {
    if (at(close + 1) == quote) continue;
    const auto token = take(kind, close + 1 - offset_);
    if (!string && token.text.size() == 2) fail("an empty name", token.span);
    return token;
  }
  fail(string ? "unterminated string" : "unterminated quoted name", {offset_, offset_ + 1},
       std::string("close it with ") + quote);
}

Token Lexer::take_number() {
  auto end = offset_ + digits_length(offset_);
  auto kind = Token::Kind::Integer;
  if (at(end) == '.') {
    kind = Token::Kind::Real;
    end += 1 + digits_length(end + 1);
  }
  if (at(end) == 'e' || at(end) == 'E') {
    const auto sign = at(end + 1) == '+' || at(end + 1) == '-' ? std::size_t{1} : 0;
    if (const auto digits = digits_length(end + 1 + sign)) {
      kind = Token::Kind::Real;
      end += 1 + sign + digits;
    }
  }
  if (const auto letters = word_length(end)) {
    const auto text = std::string(text_.substr(offset_, end + letters - offset_));
    const auto suffix = text_.substr(end, letters);
    const bool imaginary = suffix == "j" || suffix == "i" || suffix == "J";
    fail("letters in the number " + text, {end, end + letters},
         imaginary ? "complex numbers are written COMPLEX(0, " + text.substr(0, text.size() - letters) + ")"
                   : "a name starts with a letter; quote a text: '" + text + "'");
  }
  return take(kind, end - offset_);
}

Token Lexer::take_parameter() {
  const auto digits = digits_length(offset_ + 1);
  const SourceSpan span{offset_, offset_ + 1 + digits};
  if (digits == 0 || word_length(span.end) != 0) fail("a parameter is written $1, $2, ...", span);
  return take(Token::Kind::Parameter, 1 + digits);
}

std::size_t Lexer::word_length(std::size_t offset) const {
  auto end = offset;
  while (end < text_.size()) {
    const auto c = decode_utf8(text_, end);
    if (!(end == offset ? starts_identifier(c.value) : continues_identifier(c.value))) break;
    end += c.length;
  }
  return end - offset;
}

std::size_t Lexer::digits_length(std::size_t offset) const {
  auto end = offset;
  while (is_digit(at(end))) ++end;
  return end - offset;
}

std::string unquote(const Token& token) {
  const char quote = token.text.front();
  const auto inner = token.text.substr(1, token.text.size() - 2);
  std::string out;
  out.reserve(inner.size());
  for (std::size_t i = 0; i < inner.size(); ++i) {
    out += inner[i];
    if (inner[i] == quote) ++i;  // the second of a doubled quote
  }
  return out;
}

std::variant<std::int64_t, double> number_value(const Token& token) {
  std::int64_t integer = 0;
  const auto* const end = token.text.data() + token.text.size();
  if (token.kind == Token::Kind::Integer && std::from_chars(token.text.data(), end, integer).ec == std::errc{})
    return integer;
  return real_value(token);
}

}  // namespace eindb

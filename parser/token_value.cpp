#include "parser/token_value.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "common/error.hpp"

namespace eindb {
namespace {

// ---- Strings -------------------------------------------------------------------------------------------------------

/// Appends the character as UTF-8; nothing for an invalid number, and for zero, which would end the statement.
void append_code_point(std::string& out, std::uint32_t c) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return;
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0U | (c >> 6U));
  } else {
    if (c < 0x10000) {
      byte(0xE0U | (c >> 12U));
    } else {
      byte(0xF0U | (c >> 18U));
      byte(0x80U | ((c >> 12U) & 0x3FU));
    }
    byte(0x80U | ((c >> 6U) & 0x3FU));
  }
  byte(0x80U | (c & 0x3FU));
}

/// Takes up to `most` digits of `base` from the front of `text`. If there are fewer than `least`, takes none and
/// returns nullopt.
std::optional<std::uint32_t> take_digits(std::string_view& text, int base, std::size_t least, std::size_t most) {
  std::uint32_t value = 0;
  const auto* const limit = text.data() + std::min(most, text.size());
  const auto [end, error] = std::from_chars(text.data(), limit, value, base);
  const auto count = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

/// Decodes one escape of E'..' whose backslash has been taken.
void append_escape(std::string& out, std::string_view& rest) {
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeant = "\b\f\n\r\t";
  const char c = rest.front();
  if (const auto letter = kLetters.find(c); letter != std::string_view::npos) {
    out += kMeant[letter];
    rest.remove_prefix(1);
    return;
  }
  auto digits = rest.substr(1);
  std::optional<std::uint32_t> byte;
  if (c >= '0' && c <= '7') byte = take_digits(digits = rest, 8, 1, 3);
  if (c == 'x') byte = take_digits(digits, 16, 1, 2);
  std::optional<std::uint32_t> code;
  if (c == 'u' || c == 'U') code = take_digits(digits, 16, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8);
  if (byte) out += static_cast<char>(static_cast<unsigned char>(*byte));
  else if (code) append_code_point(out, *code);
  else out += c;
  rest = byte || code ? digits : rest.substr(1);
}

std::string unescape(std::string_view rest) {
  std::string out;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\' && !rest.empty()) append_escape(out, rest);
    else out += c;
    if (c == '\'' && rest.starts_with('\'')) rest.remove_prefix(1);
  }
  return out;
}

/// Decodes \0061 and \+000061.
std::string unescape_unicode(std::string_view rest) {
  std::string out;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\'' && rest.starts_with('\'')) rest.remove_prefix(1);
    if (c != '\\') {
      out += c;
      continue;
    }
    const bool is_long = rest.starts_with('+');
    auto digits = rest.substr(is_long ? 1 : 0);
    const auto code = take_digits(digits, 16, is_long ? 6 : 4, is_long ? 6 : 4);
    if (code) append_code_point(out, *code);
    else out += c;
    if (code) rest = digits;
    else if (rest.starts_with('\\')) rest.remove_prefix(1);
  }
  return out;
}

std::string undouble(std::string_view inner, char quote) {
  std::string out;
  out.reserve(inner.size());
  for (std::size_t i = 0; i < inner.size(); ++i) {
    out += inner[i];
    if (inner[i] == quote) ++i;
  }
  return out;
}

// ---- Numbers -------------------------------------------------------------------------------------------------------

/// Whether a number that no double can represent is too large rather than too small, judged by the power of ten of its
/// first non-zero digit. "0.001e400" has its first digit at 10^397.
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
  if (is_beyond_double(token.text))
    throw Error(ErrorKind::Syntax, "a number beyond the range of FLOAT64", token.span, "INFINITY is a constant");
  return 0;
}

}  // namespace

std::string unquote(const Token& token) {
  const char quote = token.text.front();
  const auto inner = token.text.substr(1, token.text.size() - 2);
  return quote == '[' ? std::string(inner) : undouble(inner, quote);
}

std::string string_value(const Token& token) {
  const auto text = token.text;
  const auto inner = [&](std::size_t prefix) { return text.substr(prefix, text.size() - prefix - 1); };
  switch (token.kind) {
    case Token::Kind::EscapeString: return unescape(inner(2));
    case Token::Kind::UnicodeString: return unescape_unicode(inner(3));
    case Token::Kind::DollarString: {
      const auto tag = text.find('$', 1) + 1;
      return std::string(text.substr(tag, text.size() - 2 * tag));
    }
    default: return undouble(inner(text.find('\'') + 1), '\'');
  }
}

std::variant<std::int64_t, double> number_value(const Token& token) {
  std::int64_t integer = 0;
  const auto* const end = token.text.data() + token.text.size();
  if (token.kind == Token::Kind::Integer && std::from_chars(token.text.data(), end, integer).ec == std::errc{})
    return integer;
  return real_value(token);
}

std::size_t parameter_number(std::string_view text) {
  std::size_t number = 0;
  if (text.empty() || text.front() != '$') return 0;
  text.remove_prefix(1);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && end == text.data() + text.size() ? number : 0;
}

std::string quote_string(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

}  // namespace eindb

#include "server/dialect_lexer.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace eindb {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool continues_word(char c) { return starts_word(c) || is_digit(c) || c == '$'; }
bool is_operator_character(char c) {
  return c != '\0' && std::string_view("+-*/<>=~!@#%^&|?:").find(c) != std::string_view::npos;
}

/// UTF-8; nothing for what is no character, and for zero, which would end the statement.
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

/// Takes up to `most` digits of `base` from the front of `text`; nothing, and nothing is taken, if there are fewer than
/// `least`.
std::optional<std::uint32_t> take_digits(std::string_view& text, int base, std::size_t least, std::size_t most) {
  std::uint32_t value = 0;
  const auto* const limit = text.data() + std::min(most, text.size());
  const auto [end, error] = std::from_chars(text.data(), limit, value, base);
  const auto count = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

/// One escape of E'..', whose backslash is gone.
void append_escape(std::string& out, std::string_view& rest) {
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeant = "\b\f\n\r\t";
  const char c = rest.front();
  if (const auto letter = kLetters.find(c); letter != std::string_view::npos) {
    out += kMeant[letter];
    rest.remove_prefix(1);
    return;
  }
  std::optional<std::uint32_t> code;
  if (c >= '0' && c <= '7') code = take_digits(rest, 8, 1, 3);
  if (c == 'x' || c == 'u' || c == 'U') {
    auto digits = rest.substr(1);
    code = c == 'x' ? take_digits(digits, 16, 1, 2) : take_digits(digits, 16, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8);
    if (code) rest = digits;
  }
  if (code) return append_code_point(out, *code);
  out += c;
  rest.remove_prefix(1);
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

/// \0061 and \+000061.
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

std::string undouble(std::string_view rest) {
  std::string out;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    out += rest[i];
    if (rest[i] == '\'') ++i;
  }
  return out;
}

}  // namespace

DialectToken DialectLexer::next() {
  for (;;) {
    while (offset_ < text_.size() && is_space(text_[offset_])) ++offset_;
    if (text_.substr(offset_).starts_with("--")) {
      offset_ = std::min(text_.find('\n', offset_), text_.size());
    } else if (text_.substr(offset_).starts_with("/*")) {
      const auto begin = offset_;
      std::size_t deepest = 0;
      const auto end = comment_end(begin, deepest);
      if (deepest == 0) return take(Kind::Unterminated, begin, text_.size());
      offset_ = end;
      if (deepest > 1) return take(Kind::NestedComment, begin, end);
    } else {
      return token_at(offset_);
    }
  }
}

std::size_t DialectLexer::comment_end(std::size_t begin, std::size_t& deepest) const {
  std::size_t depth = 0;
  for (auto i = begin; i + 1 < text_.size(); ++i) {
    if (text_[i] == '/' && text_[i + 1] == '*') {
      deepest = std::max(deepest, ++depth);
      ++i;
    } else if (text_[i] == '*' && text_[i + 1] == '/') {
      ++i;
      if (--depth == 0) return i + 1;
    }
  }
  deepest = 0;
  return text_.size();
}

DialectToken DialectLexer::token_at(std::size_t begin) {
  const char c = at(begin);
  if (begin >= text_.size()) return take(Kind::End, begin, begin);
  if (c == '\'') return take_quoted(Kind::String, begin, begin);
  if (c == '"') return take_quoted(Kind::QuotedName, begin, begin);
  if (c == '`') return take_quoted(Kind::QuotedName, begin, begin);
  if ((c == 'e' || c == 'E') && at(begin + 1) == '\'') return take_escaped(begin);
  if ((c == 'u' || c == 'U') && at(begin + 1) == '&' && at(begin + 2) == '\'')
    return take_quoted(Kind::UnicodeString, begin, begin + 2);
  if ((c == 'x' || c == 'X' || c == 'b' || c == 'B') && at(begin + 1) == '\'')
    return take_quoted(Kind::String, begin, begin + 1);
  if (c == '$') return take_dollar(begin);
  if (is_digit(c) || (c == '.' && is_digit(at(begin + 1)))) return take_number(begin);
  if (starts_word(c)) return take_word(begin);
  if (is_operator_character(c)) return take_operator(begin);
  return take(Kind::Symbol, begin, begin + 1);
}

DialectToken DialectLexer::take(Kind kind, std::size_t begin, std::size_t end) {
  offset_ = end;
  return {.kind = kind, .text = text_.substr(begin, end - begin), .begin = begin};
}

DialectToken DialectLexer::take_quoted(Kind kind, std::size_t begin, std::size_t open) {
  const char quote = text_[open];
  for (auto i = open + 1;; i += 2) {
    i = text_.find(quote, i);
    if (i == std::string_view::npos) return take(Kind::Unterminated, begin, text_.size());
    if (at(i + 1) != quote) return take(kind, begin, i + 1);
  }
}

DialectToken DialectLexer::take_escaped(std::size_t begin) {
  for (auto i = begin + 2; i < text_.size(); ++i) {
    if (text_[i] == '\\' || (text_[i] == '\'' && at(i + 1) == '\'')) ++i;
    else if (text_[i] == '\'') return take(Kind::EscapeString, begin, i + 1);
  }
  return take(Kind::Unterminated, begin, text_.size());
}

DialectToken DialectLexer::take_dollar(std::size_t begin) {
  auto end = begin + 1;
  if (is_digit(at(end))) {
    while (is_digit(at(end))) ++end;
    return take(Kind::Parameter, begin, end);
  }
  while (end < text_.size() && text_[end] != '$' && continues_word(text_[end])) ++end;
  if (at(end) != '$') return take(Kind::Symbol, begin, begin + 1);
  const auto tag = text_.substr(begin, end + 1 - begin);
  const auto close = text_.find(tag, end + 1);
  if (close == std::string_view::npos) return take(Kind::Unterminated, begin, text_.size());
  return take(Kind::DollarString, begin, close + tag.size());
}

DialectToken DialectLexer::take_number(std::size_t begin) {
  auto end = begin;
  while (continues_word(at(end)) || at(end) == '.' ||
         ((at(end) == '+' || at(end) == '-') && (at(end - 1) == 'e' || at(end - 1) == 'E') && at(begin + 1) != 'x'))
    ++end;
  return take(Kind::Number, begin, end);
}

DialectToken DialectLexer::take_word(std::size_t begin) {
  auto end = begin + 1;
  while (continues_word(at(end))) ++end;
  return take(Kind::Word, begin, end);
}

DialectToken DialectLexer::take_operator(std::size_t begin) {
  auto end = begin + 1;
  // A comment ends an operator; a cast, or a sign before a number, is one by itself.
  const auto ends = [&] {
    const auto rest = text_.substr(end, 2);
    return rest == "--" || rest == "/*" || at(begin) == ':' || at(end) == ':';
  };
  while (is_operator_character(at(end)) && !ends()) ++end;
  if (text_.substr(begin, 2) == "::") end = begin + 2;
  // PostgreSQL lets an operator end in a sign only if it has characters that no operator of SQL has: a=-1 are two.
  const auto run = text_.substr(begin, end - begin);
  if (run.find_first_of("~!@#%^&|?") == std::string_view::npos)
    while (end - begin > 1 && (text_[end - 1] == '+' || text_[end - 1] == '-')) --end;
  return take(Kind::Operator, begin, end);
}

std::string string_value(const DialectToken& token) {
  auto text = token.text;
  const auto inner = [&](std::size_t prefix) { return text.substr(prefix, text.size() - prefix - 1); };
  switch (token.kind) {
    case DialectToken::Kind::EscapeString: return unescape(inner(2));
    case DialectToken::Kind::UnicodeString: return unescape_unicode(inner(3));
    case DialectToken::Kind::DollarString: {
      const auto tag = text.find('$', 1) + 1;
      return std::string(text.substr(tag, text.size() - 2 * tag));
    }
    default: return undouble(inner(text.find('\'') + 1));
  }
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

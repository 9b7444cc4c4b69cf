#include "parser/tokenizer.hpp"

#include <algorithm>
#include <array>

#include "common/poll_steps.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

constexpr std::array<std::string_view, 8> kEindbOperators{"<=", ">=", "<>", "!=", "==", "<<", ">>", "**"};
constexpr std::array<std::string_view, 10> kSqliteOperators{
    "->>", "||", "->", "<=", ">=", "<>", "!=", "==", "<<", ">>"};

constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_byte_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80U;
}
constexpr bool continues_byte_word(char c) { return starts_byte_word(c) || is_digit(c) || c == '$'; }
constexpr bool is_operator_character(char c) {
  return c != '\0' && std::string_view("+-*/<>=~!@#%^&|?:").find(c) != std::string_view::npos;
}

constexpr char upper_case(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::size_t digits_end(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_digit(text[begin])) ++begin;
  return begin;
}

// The longest of `operators` at the front of `text`; 1 if there is none. Longer operators come before their prefixes.
template <std::size_t N>
std::size_t operator_length(std::string_view text, const std::array<std::string_view, N>& operators) {
  const auto* const found =
      std::find_if(operators.begin(), operators.end(), [&](std::string_view each) { return text.starts_with(each); });
  return found == operators.end() ? 1 : found->size();
}

// The longest run of operator characters. A comment ends it; a cast, or a sign before a number, is an operator by
// itself.
std::size_t postgres_operator_length(std::string_view text) {
  if (text.starts_with("::")) return 2;
  if (text.front() == ':') return 1;
  std::size_t length = 1;
  const auto ends = [&] {
    const auto rest = text.substr(length, 2);
    return rest.empty() || !is_operator_character(rest.front()) || rest.front() == ':' || rest == "--" || rest == "/*";
  };
  while (!ends()) ++length;
  // In PostgreSQL an operator may end in a sign only if it has characters that SQL's operators lack: a=-1 has two
  // operators.
  if (text.substr(0, length).find_first_of("~!@#%^&|?") == std::string_view::npos)
    while (length > 1 && (text[length - 1] == '+' || text[length - 1] == '-')) --length;
  return length;
}

bool is_integer(std::string_view number) {
  const bool hexadecimal = number.size() > 2 && number[0] == '0' && upper_case(number[1]) == 'X';
  return hexadecimal || number.find_first_not_of("0123456789_") == std::string_view::npos;
}

}  // namespace

Token Tokenizer::next() {
  skip_space_and_line_comments();
  while (two_at(offset_) == "/*") {
    const auto [end, depth] = comment();
    if (depth == 0) return take(Kind::Unterminated, text_.size());
    if (depth > 1) return take(Kind::NestedComment, end);
    offset_ = end;
    skip_space_and_line_comments();
  }
  if (offset_ >= text_.size()) return {Kind::End, {}, {text_.size(), text_.size()}};
  return token_at(offset_);
}

Token Tokenizer::token_at(std::size_t begin) {
  const char c = text_[begin];
  if (c == '\'') return take_quoted(Kind::String, begin);
  if (rules_->name_quotes.find(c) != std::string_view::npos) return take_quoted(Kind::QuotedName, begin);
  if (c == '[' && rules_->bracketed_names)
    if (const auto end = bracketed_name_end(); end != begin) return take(Kind::QuotedName, end);
  if (has_prefix(upper_case(c)))
    if (const auto token = take_string_with_prefix(); !token.is(Kind::End)) return token;
  if (starts_number(begin)) return take_number();
  if (c == '$' && rules_->numbers != LexicalRules::Numbers::InWords) return take_dollar();
  if (const auto end = word_end(begin); end != begin) return take(Kind::Word, end);
  if (is_operator_character(c)) return take_operator();
  return take(Kind::Symbol, begin + (rules_->unicode_names ? decode_utf8(text_, begin).length : 1));
}

void Tokenizer::skip_space_and_line_comments() {
  while (offset_ < text_.size()) {
    if (two_at(offset_) == "--") offset_ = std::min(text_.find('\n', offset_), text_.size());
    else if (is_blank(text_[offset_])) ++offset_;
    else return;
  }
}

Tokenizer::Comment Tokenizer::comment() const {
  if (!rules_->nested_comments) {
    const auto close = text_.find("*/", offset_ + 2);
    return close == std::string_view::npos ? Comment{text_.size(), 0} : Comment{close + 2, 1};
  }
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (auto i = offset_; i + 1 < text_.size(); ++i) {
    if (two_at(i) == "/*") {
      deepest = std::max(deepest, ++depth);
      ++i;
    } else if (two_at(i) == "*/") {
      ++i;
      if (--depth == 0) return {i + 1, deepest};
    }
  }
  return {text_.size(), 0};
}

// The end of the [name] at the next token; its begin if the line ends first.
std::size_t Tokenizer::bracketed_name_end() {
  if (offset_ < searched_from_ || offset_ > line_or_bracket_end_) {
    searched_from_ = offset_;
    line_or_bracket_end_ = std::min(text_.find_first_of("]\n", offset_), text_.size());
  }
  return at(line_or_bracket_end_) == ']' ? line_or_bracket_end_ + 1 : offset_;
}

Token Tokenizer::take(Kind kind, std::size_t end) {
  poll_cancellation_after(1);
  const SourceSpan span{offset_, end};
  offset_ = end;
  return {kind, text_.substr(span.begin, span.end - span.begin), span};
}

// A doubled quote stands for one, and closes nothing.
Token Tokenizer::take_quoted(Kind kind, std::size_t open) {
  const char quote = text_[open];
  for (auto close = text_.find(quote, open + 1); close != std::string_view::npos; close = text_.find(quote, close + 2))
    if (at(close + 1) != quote) return take(kind, close + 1);
  return take(Kind::Unterminated, text_.size());
}

Token Tokenizer::take_escaped() {
  for (auto i = offset_ + 2; i < text_.size(); ++i) {
    if (text_[i] == '\\' || two_at(i) == "''") ++i;
    else if (text_[i] == '\'') return take(Kind::EscapeString, i + 1);
  }
  return take(Kind::Unterminated, text_.size());
}

// Returns End, and takes nothing, if the letter does not prefix a string.
Token Tokenizer::take_string_with_prefix() {
  const char letter = upper_case(text_[offset_]);
  if (letter == 'U') {
    const bool unicode = two_at(offset_ + 1) == "&'";
    return unicode ? take_quoted(Kind::UnicodeString, offset_ + 2) : Token{};
  }
  if (at(offset_ + 1) != '\'') return {};
  return letter == 'E' ? take_escaped() : take_quoted(Kind::Bits, offset_ + 1);
}

Token Tokenizer::take_dollar() {
  const auto digits = digits_end(text_, offset_ + 1);
  if (!rules_->dollar_strings) {
    const auto end = continued_word_end(digits);
    return take(digits == offset_ + 1 || end != digits ? Kind::Malformed : Kind::Parameter, end);
  }
  if (digits != offset_ + 1) return take(Kind::Parameter, digits);
  auto end = offset_ + 1;
  while (end < text_.size() && text_[end] != '$' && continues_byte_word(text_[end])) ++end;
  if (at(end) != '$') return take(Kind::Symbol, offset_ + 1);
  const auto tag = text_.substr(offset_, end + 1 - offset_);
  const auto close = text_.find(tag, end + 1);
  if (close == std::string_view::npos) return take(Kind::Unterminated, text_.size());
  return take(Kind::DollarString, close + tag.size());
}

bool Tokenizer::starts_number(std::size_t begin) const {
  return rules_->numbers != LexicalRules::Numbers::InWords &&
         (is_digit(at(begin)) || (at(begin) == '.' && is_digit(at(begin + 1))));
}

Token Tokenizer::take_number() {
  auto end = offset_;
  if (rules_->numbers == LexicalRules::Numbers::Exact) {
    end += exact_number_length(text_, offset_);
    if (const auto letters = word_end(end); letters != end) return take(Kind::Malformed, letters);
  } else {
    const bool hexadecimal = upper_case(at(offset_ + 1)) == 'X';
    const auto is_sign = [&](char c) {
      return (c == '+' || c == '-') && !hexadecimal && upper_case(text_[end - 1]) == 'E';
    };
    while (continues_byte_word(at(end)) || at(end) == '.' || is_sign(at(end))) ++end;
  }
  return take(is_integer(text_.substr(offset_, end - offset_)) ? Kind::Integer : Kind::Real, end);
}

Token Tokenizer::take_operator() {
  const auto rest = text_.substr(offset_);
  switch (rules_->operators) {
    case LexicalRules::Operators::Bytes: break;
    case LexicalRules::Operators::Eindb: return take(Kind::Operator, offset_ + operator_length(rest, kEindbOperators));
    case LexicalRules::Operators::Sqlite:
      return take(Kind::Operator, offset_ + operator_length(rest, kSqliteOperators));
    case LexicalRules::Operators::Postgres: return take(Kind::Operator, offset_ + postgres_operator_length(rest));
  }
  return take(Kind::Operator, offset_ + 1);
}

std::size_t Tokenizer::word_end(std::size_t begin) const {
  if (begin >= text_.size()) return begin;
  const bool in_words = rules_->numbers == LexicalRules::Numbers::InWords;
  const bool starts = rules_->unicode_names ? starts_identifier(decode_utf8(text_, begin).value)
                      : in_words            ? continues_byte_word(text_[begin])
                                            : starts_byte_word(text_[begin]);
  return starts ? continued_word_end(begin) : begin;
}

std::size_t Tokenizer::continued_word_end(std::size_t begin) const {
  auto end = begin;
  if (!rules_->unicode_names) {
    while (end < text_.size() && continues_byte_word(text_[end])) ++end;
    return end;
  }
  while (end < text_.size()) {
    const auto c = decode_utf8(text_, end);
    if (!continues_identifier(c.value)) break;
    end += c.length;
  }
  return end;
}

std::vector<Token> tokens_of(std::string_view text, const LexicalRules& rules) {
  std::vector<Token> tokens;
  Tokenizer tokenizer(text, rules);
  do {
    tokens.push_back(tokenizer.next());
  } while (!tokens.back().is(Token::Kind::End) && !tokens.back().is(Token::Kind::Unterminated));
  return tokens;
}

std::size_t exact_number_length(std::string_view text, std::size_t begin) {
  const auto at = [&](std::size_t offset) { return offset < text.size() ? text[offset] : '\0'; };
  auto end = digits_end(text, begin);
  if (at(end) == '.') end = digits_end(text, end + 1);
  if (upper_case(at(end)) != 'E') return end - begin;
  const auto digits = end + 1 + (at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0);
  const auto exponent = digits_end(text, digits);
  return (exponent == digits ? end : exponent) - begin;
}

}  // namespace eindb

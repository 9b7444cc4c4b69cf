#include "parser/token_stream.hpp"

#include <span>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "common/poll_steps.hpp"
#include "parser/token_check.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestShown = 40;
constexpr std::size_t kStepsPerToken = 20;  // for poll_cancellation_after; includes the parsers' work

/// At most kLongestShown bytes, cut at a character boundary.
std::string shortened(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const auto length = decode_utf8(text, end).length;
    if (end + length > kLongestShown) return std::string(text.substr(0, end)) + "...";
    end += length;
  }
  return std::string(text);
}

}  // namespace

const Token& TokenStream::peek() {
  if (!next_) next_ = next_token();
  return *next_;
}

Token TokenStream::next_token() {
  poll_cancellation_after(kStepsPerToken);
  const auto token = tokenizer_.next();
  if (token.is_symbol(';')) {
    tokenizer_.skip_to(token.span.begin);
    return {Token::Kind::End, {}, {token.span.begin, token.span.begin}};
  }
  try {
    check_token(token, text_, extra_symbols_);
    return token;
  } catch (const Error& error) {
    if (!concealed_) throw;
    throw Error(error.kind(), "what stands here cannot be read", error.span(),
                "a password stands in single quotes, with '' for a quote");
  }
}

Token TokenStream::take() {
  const Token token = peek();
  next_.reset();
  last_end_ = token.span.end;
  return token;
}

void TokenStream::skip_to(std::size_t offset) {
  tokenizer_.skip_to(offset);
  extra_symbols_ = {};
  next_.reset();
  last_end_ = offset;
}

bool TokenStream::at_word(std::string_view word) { return peek().is_word(word); }

bool TokenStream::accept_symbol(std::string_view symbol) {
  const bool found = at_symbol(symbol);
  if (found) take();
  return found;
}

bool TokenStream::accept_word(std::string_view word) {
  const bool found = at_word(word);
  if (found) take();
  return found;
}

void TokenStream::expect_symbol(std::string_view symbol, std::string_view where, std::string_view whose) {
  if (accept_symbol(symbol)) return;
  std::string what = "'" + std::string(symbol) + "' " + std::string(where);
  if (!whose.empty()) what += " " + std::string(whose);
  fail_expected(what);
}

void TokenStream::expect_word(std::string_view word, std::string_view where) {
  if (accept_word(word)) return;
  fail_expected(std::string(word) + (where.empty() ? "" : " ") + std::string(where),
                nearest_word_hint(peek().text, {word}));
}

std::size_t TokenStream::expect_one_of(std::initializer_list<std::string_view> words, std::string_view what) {
  std::size_t number = 0;
  for (const auto word : words) {
    if (accept_word(word)) return number;
    ++number;
  }
  fail_expected(what, nearest_word_hint(peek().text, words));
}

ast::Identifier TokenStream::expect_name(std::string_view what) {
  if (!at_name()) fail_expected(what);
  const auto token = take();
  const bool quoted = token.kind == Token::Kind::QuotedName;
  return {quoted ? unquote(token) : std::string(token.text), token.span, quoted};
}

std::string_view schema_of(std::string_view name) {
  if (equal_ignoring_case(name, "main") || equal_ignoring_case(name, "public")) return "main";
  if (equal_ignoring_case(name, "temp") || equal_ignoring_case(name, "pg_temp")) return "temp";
  return {};
}

ast::Identifier TokenStream::expect_tensor(std::string_view what) { return qualified(expect_name(what)); }

ast::Identifier TokenStream::qualified(ast::Identifier name) {
  if (!at_symbol(".")) return name;
  auto schema = std::string(schema_of(name.text));
  if (schema.empty()) {
    auto ahead = *this;
    ahead.take();
    if (!ahead.at_name()) return name;
    ahead.take();
    if (ahead.at_symbol("(")) return name;
    schema = name.text;
  }
  take();
  const auto behind = expect_name("the name of a tensor after '" + name.text + ".'");
  return {schema + "." + behind.text, {name.span.begin, behind.span.end}, true, 0, true};
}

ast::Identifier TokenStream::expect_label(std::string_view what) {
  if (at_loop_variable()) {
    throw Error(ErrorKind::Syntax, std::string(peek().text) + " is the variable of a loop, and cannot be a label here",
                peek().span,
                "use another label, or quote it; where only index " + std::string(peek().text) +
                    " changes, UPDATE TENSOR X[" + std::string(peek().text) + ",j] = ...");
  }
  return expect_name(what);
}

bool TokenStream::at_loop_variable() {
  return loops_ != nullptr && at(Token::Kind::Word) && loops_->variables.contains(std::string(peek().text));
}

std::string TokenStream::expect_string(std::string_view what, std::string_view hint) {
  if (!at(Token::Kind::String)) fail_expected(what, std::string(hint));
  return unquote(take());
}

void TokenStream::fail_expected(std::string_view what, std::string hint) {
  const auto& found = peek();
  throw Error(ErrorKind::Syntax, "expected " + std::string(what) + (concealed_ ? "" : ", found " + describe(found)),
              found.span, std::move(hint));
}

std::string nearest_word_hint(std::string_view found, std::initializer_list<std::string_view> words) {
  const auto nearest = nearest_name(found, std::span<const std::string_view>(words.begin(), words.size()));
  return nearest && !equal_ignoring_case(*nearest, found) ? "did you mean " + *nearest + "?" : "";
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::End: return "the end of the statement";
    case Token::Kind::String: return "the string " + shortened(token.text);
    case Token::Kind::QuotedName: return shortened(token.text);
    default: return "'" + shortened(token.text) + "'";
  }
}

}  // namespace eindb

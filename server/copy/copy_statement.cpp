#include "server/copy/copy_statement.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

/// Parses one statement from left to right; `token_` is the next token.
class CopyReader {
 public:
  explicit CopyReader(std::string_view text) : text_(text), tokenizer_(text, kPostgresRules) { advance(); }

  std::optional<CopyStatement> read() {
    if (!take_word("COPY")) return std::nullopt;
    const auto binary = token_.span;
    if (take_word("BINARY")) options_.push_back({"format", "binary", {}, binary});
    if (!read_source() || !read_direction()) return std::nullopt;
    const auto place = token_.span;
    if (!take_word("STDIN") && !take_word("STDOUT")) return std::nullopt;
    if (is_query() && statement_.side == CopySide::FromClient) fail("rows cannot be copied into a query");
    const auto parentheses = read_options();
    expect_end();
    check_utf8(text_);
    if (parentheses && ask_for_file(options_)) statement_.format = file(place, *parentheses);
    else statement_.format = read_copy_format(options_, statement_.side);
    return std::move(statement_);
  }

 private:
  bool is_query() const { return statement_.table.empty(); }

  void advance() {
    do token_ = tokenizer_.next();
    while (token_.is(Token::Kind::NestedComment));
  }
  bool take_word(std::string_view word) {
    if (!token_.is_word(word)) return false;
    advance();
    return true;
  }
  bool take_symbol(char symbol) {
    if (!token_.is_symbol(symbol)) return false;
    advance();
    return true;
  }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw Error(ErrorKind::Syntax, std::move(message), token_.span, std::move(hint));
  }
  [[noreturn]] void fail_at_token() const {
    if (token_.is(Token::Kind::End)) fail("COPY ends too early");
    fail("\"" + std::string(token_.text) + "\" cannot stand here in COPY");
  }

  // The source -----------------------------------------------------------------------------------------------------

  bool read_source() {
    if (token_.is_symbol('(')) return read_query();
    const auto begin = token_.span.begin;
    auto name = take_name();
    if (!name) return false;
    auto end = last_end_;
    if (take_symbol('.')) {
      statement_.schema = std::move(*name);
      name = take_name();
      if (!name) return false;
      end = last_end_;
    }
    statement_.table = std::move(*name);
    statement_.source = {begin, end};
    return !token_.is_symbol('(') || read_columns();
  }

  bool read_columns() {
    advance();
    do {
      auto name = take_name();
      if (!name) return false;
      if (std::find(statement_.columns.begin(), statement_.columns.end(), *name) != statement_.columns.end())
        fail("the column \"" + *name + "\" is there twice");
      statement_.columns.push_back(std::move(*name));
    } while (take_symbol(','));
    return take_symbol(')');
  }

  bool read_query() {
    const auto begin = token_.span.end;
    std::size_t open = 0;
    for (;; advance()) {
      if (token_.is(Token::Kind::End) || token_.is(Token::Kind::Unterminated)) return false;
      if (token_.is_symbol('(')) ++open;
      if (token_.is_symbol(')') && --open == 0) break;
    }
    statement_.source = {begin, token_.span.begin};
    advance();
    return true;
  }

  bool read_direction() {
    if (take_word("FROM")) statement_.side = CopySide::FromClient;
    else if (take_word("TO")) statement_.side = CopySide::ToClient;
    else return false;
    return true;
  }

  /// Reads a word, or a name in double quotes.
  std::optional<std::string> take_name() {
    if (at_quoted_name()) return take(unquote(token_));
    if (!token_.is(Token::Kind::Word)) return std::nullopt;
    return take(std::string(token_.text));
  }

  bool at_quoted_name() const { return token_.is(Token::Kind::QuotedName) && token_.text.front() == '"'; }

  /// Advances past the token and returns `value`, its value.
  std::string take(std::string value) {
    last_end_ = token_.span.end;
    advance();
    return value;
  }

  // Options --------------------------------------------------------------------------------------------------------

  /// Reads the options; returns the place of their parentheses, if they have any.
  std::optional<SourceSpan> read_options() {
    if (take_word("USING") && !token_.is_word("DELIMITERS")) fail_at_token();
    if (token_.is_word("DELIMITERS")) add_old_option("delimiter");
    take_word("WITH");
    if (token_.is_symbol('(')) return read_list();
    while (token_.is(Token::Kind::Word) && !token_.is_word("WHERE")) read_old_option();
    return std::nullopt;
  }

  SourceSpan read_list() {
    const auto begin = token_.span.begin;
    do {
      advance();
      read_option();
    } while (token_.is_symbol(','));
    const auto end = token_.span.end;
    if (!take_symbol(')')) fail_at_token();
    return {begin, end};
  }

  void read_option() {
    CopyOption option;
    const auto begin = token_.span.begin;
    const bool quoted = at_quoted_name();
    const auto name = take_name();
    if (!name) fail_at_token();
    option.name = quoted ? *name : to_lower(*name);
    if (take_symbol('*')) option.columns.all = true;
    else if (take_symbol('(')) option.columns.names = take_names(')');
    else option.text = take_value();
    option.span = {begin, std::max(last_end_, begin)};
    options_.push_back(std::move(option));
  }

  std::vector<std::string> take_names(std::optional<char> close) {
    std::vector<std::string> names;
    do {
      auto name = take_name();
      if (!name) fail_at_token();
      names.push_back(std::move(*name));
    } while (take_symbol(','));
    if (close && !take_symbol(*close)) fail_at_token();
    return names;
  }

  /// Reads a text, a word (in lower case, like unquoted names in PostgreSQL) or a number.
  std::optional<std::string> take_value() {
    if (auto text = take_text()) return text;
    if (token_.is_number()) return take(std::string(token_.text));
    const bool quoted = at_quoted_name();
    auto name = take_name();
    return name && !quoted ? to_lower(*name) : name;
  }

  /// Reads a string in any form except X'0A'.
  std::optional<std::string> take_text() {
    if (token_.is(Token::Kind::Unterminated) && !token_.text.starts_with("/*")) fail("a quote is not closed");
    if (!token_.is_string() || token_.is(Token::Kind::Bits)) return std::nullopt;
    auto value = string_value(token_);
    if (token_.is(Token::Kind::EscapeString) && !is_utf8(value)) fail("the escapes in this text give no UTF-8");
    return take(std::move(value));
  }

  void read_old_option() {
    const auto begin = token_.span;
    const auto word = to_lower(token_.text);
    if (word == "csv" || word == "binary") {
      options_.push_back({"format", word, {}, begin});
      advance();
    } else if (word == "header" || word == "freeze") {
      options_.push_back({word, std::nullopt, {}, begin});
      advance();
    } else if (word == "delimiter" || word == "null" || word == "quote" || word == "escape" || word == "encoding") {
      add_old_option(word);
    } else if (word == "force") {
      read_old_force();
    } else {
      fail_at_token();
    }
  }

  /// Reads name [AS] 'text'.
  void add_old_option(std::string name) {
    const auto begin = token_.span.begin;
    advance();
    take_word("AS");
    auto text = take_text();
    if (!text) fail_at_token();
    options_.push_back({std::move(name), std::move(text), {}, {begin, last_end_}});
  }

  /// Reads FORCE QUOTE columns | * , FORCE NOT NULL columns, FORCE NULL columns.
  void read_old_force() {
    CopyOption option;
    const auto begin = token_.span.begin;
    advance();
    if (take_word("QUOTE")) option.name = "force_quote";
    else if (take_word("NOT")) option.name = "force_not_null";
    else option.name = "force_null";
    if (option.name != "force_quote" && !take_word("NULL")) fail_at_token();
    last_end_ = token_.span.end;
    if (take_symbol('*')) option.columns.all = true;
    else option.columns.names = take_names(std::nullopt);
    option.span = {begin, last_end_};
    options_.push_back(std::move(option));
  }

  void expect_end() {
    if (token_.is_word("WHERE")) {
      throw Error(ErrorKind::Unsupported, "COPY takes all rows", token_.span,
                  "copy into another table, and select from it");
    }
    take_symbol(';');
    if (!token_.is(Token::Kind::End)) fail_at_token();
  }

  CopyStatement::File file(SourceSpan place, SourceSpan parentheses) const {
    if (!statement_.columns.empty())
      throw Error(ErrorKind::Value, "a file has all columns", statement_.source, "leave out the list of columns");
    return {place, parentheses};
  }

  std::string_view text_;
  Tokenizer tokenizer_;
  Token token_;
  std::size_t last_end_ = 0;  // of the name or text read last
  CopyStatement statement_;
  std::vector<CopyOption> options_;
};

}  // namespace

std::optional<CopyStatement> parse_copy_statement(std::string_view statement) { return CopyReader(statement).read(); }

std::string copy_of_file(std::string_view statement, const CopyStatement::File& file, std::string_view path) {
  CHECK(file.place.begin <= statement.size() && file.options.begin <= file.options.end &&
            file.options.end <= statement.size(),
        "the parts of a COPY are in its text");
  std::string out(statement.substr(0, file.place.begin));
  out += '\'';
  for (const char c : path) out.append(c == '\'' ? 2 : 1, c);
  out += "' ";
  out += statement.substr(file.options.begin, file.options.end - file.options.begin);
  return out;
}

}  // namespace eindb

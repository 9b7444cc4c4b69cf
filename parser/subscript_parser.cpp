#include "parser/subscript_parser.hpp"

#include <string>
#include <utility>

#include "common/error.hpp"
#include "parser/limits.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

using ast::SubscriptItem;
using ast::SubscriptNesting;
using ast::SubscriptTerm;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_label_character(char32_t c) { return c >= 0xC0 || starts_identifier(c); }

/// Parses the text between the quotes. Offsets refer to the statement. A quote is never part of a subscript, so doubled
/// quotes need no handling: the first one is an unexpected character.
class SubscriptParser {
 public:
  SubscriptParser(std::string_view statement, SourceSpan inner)
      : text_(statement.substr(0, inner.end)), offset_(inner.begin) {
    list_form_ = text_.find('[', offset_) != std::string_view::npos;
  }

  ast::Subscripts parse();

 private:
  SubscriptNesting list(std::size_t depth);
  SubscriptNesting part(std::size_t depth);
  SubscriptTerm term();
  void letters(SubscriptTerm& term);
  void bracketed(SubscriptTerm& term);
  void add_ellipsis(SubscriptTerm& term);
  SubscriptItem name();

  char peek();
  bool accept(std::string_view symbol);
  [[noreturn]] void fail_expected(std::string_view what, std::string hint = {});
  [[noreturn]] void fail(std::string message, std::string hint = {});
  std::string hint_for_next();

  std::string_view text_;  // up to the closing quote
  std::size_t offset_;
  bool list_form_ = false;
  bool grouped_ = false;  // a parenthesis has been seen
  std::vector<SubscriptTerm> inputs_;
};

ast::Subscripts SubscriptParser::parse() {
  ast::Subscripts result;
  auto nesting = list(0);
  if (accept("->")) {
    if (peek() == '(') fail("the output is one term, without parentheses");
    if (list_form_ && peek() == '\0')
      fail_expected("'[' and the labels of the output", "a scalar has none: '[a],[a]->[]'");
    result.output = term();
    if (text_.substr(offset_, 2) == "->") fail("a second '->' in the subscripts");
    if (peek() == ',') fail("the output is one term, without commas");
  }
  if (peek() == ')') fail("a ')' without its '(' in the subscripts");
  if (offset_ < text_.size()) fail_expected("',', '->' or the end of the subscripts", hint_for_next());
  result.inputs = std::move(inputs_);
  if (grouped_) result.nesting = std::move(nesting);
  return result;
}

SubscriptNesting SubscriptParser::list(std::size_t depth) {
  peek();
  SubscriptNesting node;
  node.span.begin = offset_;
  do {
    node.children.push_back(part(depth));
  } while (accept(","));
  node.span.end = offset_;
  return node;
}

SubscriptNesting SubscriptParser::part(std::size_t depth) {
  if (peek() == '(') {
    if (depth == kMaxNesting) fail("subscripts nest more than " + std::to_string(kMaxNesting) + " deep");
    grouped_ = true;
    const auto begin = offset_++;
    auto node = list(depth + 1);
    if (!accept(")")) fail_expected("',' or ')' in the subscripts", hint_for_next());
    node.span = {begin, offset_};
    return node;
  }
  if (inputs_.size() == kMaxOperands) fail("subscripts have more than " + std::to_string(kMaxOperands) + " operands");
  inputs_.push_back(term());
  SubscriptNesting leaf;
  leaf.operand = inputs_.size() - 1;
  leaf.span = inputs_.back().span;
  return leaf;
}

SubscriptTerm SubscriptParser::term() {
  peek();
  SubscriptTerm term;
  term.span = {offset_, offset_};
  if (list_form_) bracketed(term);
  else letters(term);
  return term;
}

void SubscriptParser::letters(SubscriptTerm& term) {
  for (peek(); offset_ < text_.size(); peek()) {
    if (text_[offset_] == '.') {
      add_ellipsis(term);
    } else {
      const auto c = decode_utf8(text_, offset_);
      if (!is_label_character(c.value)) return;
      term.items.push_back({std::string(text_.substr(offset_, c.length)), {offset_, offset_ + c.length}});
      offset_ += c.length;
    }
    term.span.end = offset_;
  }
}

void SubscriptParser::bracketed(SubscriptTerm& term) {
  if (!accept("["))
    fail_expected("'[' and the labels of an operand", "in the list form each term is bracketed: '[a1,b]'");
  if (!accept("]")) {
    do {
      if (peek() == '.') add_ellipsis(term);
      else term.items.push_back(name());
    } while (accept(","));
    if (!accept("]")) fail_expected("',' or ']' after a label");
  }
  term.span.end = offset_;
}

void SubscriptParser::add_ellipsis(SubscriptTerm& term) {
  const auto begin = offset_;
  if (!accept("...")) fail_expected("an ellipsis '...'");
  for (const auto& item : term.items)
    if (item.is_ellipsis()) throw Error(ErrorKind::Syntax, "a second ellipsis in one term", SourceSpan{begin, offset_});
  term.items.push_back({{}, {begin, offset_}});
}

SubscriptItem SubscriptParser::name() {
  const auto begin = offset_;
  while (offset_ < text_.size()) {
    const auto c = decode_utf8(text_, offset_);
    if (!continues_identifier(c.value)) break;
    offset_ += c.length;
  }
  if (offset_ == begin) fail_expected("a label");
  return {std::string(text_.substr(begin, offset_ - begin)), {begin, offset_}};
}

/// The next character that is not a space; 0 at the end.
char SubscriptParser::peek() {
  while (offset_ < text_.size() && is_space(text_[offset_])) ++offset_;
  return offset_ < text_.size() ? text_[offset_] : '\0';
}

bool SubscriptParser::accept(std::string_view symbol) {
  peek();
  const bool found = text_.substr(offset_, symbol.size()) == symbol;
  if (found) offset_ += symbol.size();
  return found;
}

void SubscriptParser::fail_expected(std::string_view what, std::string hint) {
  const bool at_end = peek() == '\0';
  const auto found = at_end ? "the end of the subscripts"
                            : "'" + std::string(text_.substr(offset_, decode_utf8(text_, offset_).length)) + "'";
  fail("expected " + std::string(what) + ", found " + found, std::move(hint));
}

void SubscriptParser::fail(std::string message, std::string hint) {
  const auto length = peek() == '\0' ? std::size_t{1} : decode_utf8(text_, offset_).length;
  throw Error(ErrorKind::Syntax, std::move(message), SourceSpan{offset_, offset_ + length}, std::move(hint));
}

std::string SubscriptParser::hint_for_next() {
  const char next = peek();
  if (next >= '0' && next <= '9') return "a label is one letter; longer ones are bracketed: '[i1,j],[j,k]->[i1,k]'";
  if (next == ';' || next == '*') return "operands have commas between them: 'ij,jk->ik'";
  if (next == '-' || next == '>' || next == '=') return "the output follows an arrow: 'ij,jk->ik'";
  return {};
}

}  // namespace

ast::Subscripts parse_subscripts(std::string_view statement, SourceSpan quoted) {
  auto result = SubscriptParser(statement, {quoted.begin + 1, quoted.end - 1}).parse();
  result.text_span = quoted;
  return result;
}

}  // namespace eindb

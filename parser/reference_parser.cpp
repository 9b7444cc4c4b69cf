#include "parser/reference_parser.hpp"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/error.hpp"
#include "parser/expression_words.hpp"
#include "parser/extent_parser.hpp"
#include "parser/token_value.hpp"

namespace eindb {
namespace {

class IndicesParser {
 public:
  IndicesParser(TokenStream& tokens, const std::function<ast::Expression()>& expression)
      : tokens_(tokens), expression_(expression) {}

  ast::Reference after_bracket(ast::Identifier name);

 private:
  ast::IndexTerm index_term(const ast::Identifier& name);
  ast::IndexTerm single_index(const ast::Identifier& name);
  ast::IndexTerm computed_index();
  ast::IndexRange range_after(std::optional<ast::RangeBound> begin);
  std::optional<ast::RangeBound> range_bound();
  std::optional<ast::Extent> range_step();
  ast::Padding padding_after_word();
  bool at_index_end();
  bool at_single_index() const;

  TokenStream& tokens_;
  const std::function<ast::Expression()>& expression_;
};

ast::Reference IndicesParser::after_bracket(ast::Identifier name) {
  ast::Reference node{std::move(name), {}, {}};
  const auto symbols = tokens_.allow_symbols(":");
  if (tokens_.at_symbol("]")) {
    tokens_.allow_symbols(symbols);
    tokens_.take();
    return node;
  }
  do {
    node.terms.push_back(index_term(node.name));
  } while (tokens_.accept_symbol(","));
  tokens_.allow_symbols(symbols);
  if (tokens_.accept_word("PAD")) node.padding = padding_after_word();
  if (tokens_.accept_symbol("]")) return node;
  const bool is_open = tokens_.at_symbol(")") || tokens_.at(Token::Kind::End);
  tokens_.fail_expected("']' after the labels of " + node.name.text,
                        is_open             ? "the bracket after " + node.name.text + " is open here"
                        : tokens_.at_name() ? "labels have commas between them"
                                            : "");
}

// After PAD: a number, or a word for the cell that is read instead.
ast::Padding IndicesParser::padding_after_word() {
  const auto begin = tokens_.begin();
  ast::Padding padding;
  if (tokens_.accept_word("EDGE")) padding.kind = ast::Padding::Kind::Edge;
  else if (tokens_.accept_word("REFLECT")) padding.kind = ast::Padding::Kind::Reflect;
  else if (tokens_.accept_word("WRAP")) padding.kind = ast::Padding::Kind::Wrap;
  else if (tokens_.at_symbol("]")) tokens_.fail_expected("a number, EDGE, REFLECT or WRAP after PAD");
  else padding.value.push_back(expression_());
  padding.span = tokens_.span_from(begin);
  if (tokens_.at_symbol(","))
    tokens_.fail_expected("']' after PAD", "PAD stands last, and is for all indices of the reference: X[i+1,j PAD 0]");
  return padding;
}

bool IndicesParser::at_index_end() {
  return tokens_.at_symbol(",") || tokens_.at_symbol("]") || tokens_.at_word("PAD");
}

// Whether the next term is one label, number or parameter, or has none of them.
bool IndicesParser::at_single_index() const {
  auto ahead = tokens_;
  if (ahead.at_symbol("(")) return false;
  const bool is_case = ahead.at_word("CASE");
  if (ahead.accept_symbol("-") && !ahead.at(Token::Kind::Integer)) return !ahead.at_name() && !ahead.at_symbol("(");
  if (!ahead.at_name() && !ahead.at(Token::Kind::Integer) && !ahead.at(Token::Kind::Parameter)) return true;
  ahead.take();
  if (is_case) return ahead.at_symbol(",") || ahead.at_symbol("]");
  return words::find_operator(ahead.peek()) == nullptr && !ahead.at_symbol("[") && !ahead.at_symbol("(");
}

ast::IndexTerm IndicesParser::computed_index() {
  const auto begin = tokens_.begin();
  ast::ComputedIndex computed;
  computed.index.push_back(expression_());
  return {std::move(computed), tokens_.span_from(begin)};
}

// A number of a range, the name of an index, the variable of a loop, or nothing.
std::optional<ast::RangeBound> IndicesParser::range_bound() {
  if (at_index_end() || tokens_.at_symbol(":")) return std::nullopt;
  const auto begin = tokens_.begin();
  const bool negative = tokens_.accept_symbol("-");
  if (!negative && tokens_.at_loop_variable())
    return ast::RangeBound{tokens_.expect_name("the variable of a loop"), tokens_.span_from(begin)};
  if (!negative && tokens_.at(Token::Kind::Parameter)) {
    const auto parameter = parse_parameter(tokens_);
    return ast::RangeBound{parameter, tokens_.span_from(begin)};
  }
  if (!negative && tokens_.at(Token::Kind::String)) {
    ast::Text name{string_value(tokens_.take())};
    return ast::RangeBound{std::move(name), tokens_.span_from(begin)};
  }
  if (!tokens_.at(Token::Kind::Integer))
    tokens_.fail_expected("a number or a name in a range",
                          "a computed index takes a label: X[i + 3] with the extent of i");
  const auto token = tokens_.take();
  const auto value = number_value(token);
  const auto* const integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr) throw Error(ErrorKind::Syntax, "an index beyond 64 bits", token.span);
  return ast::RangeBound{ast::Integer{negative ? -*integer : *integer}, tokens_.span_from(begin)};
}

std::optional<ast::Extent> IndicesParser::range_step() {
  auto step = range_bound();
  if (!step) return std::nullopt;
  return std::visit(
      [&](auto& value) -> ast::Extent {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, ast::Text>)
          throw Error(ErrorKind::Syntax, "the step of a range is a number of indices", step->span,
                      "as in X['a':'e':2]");
        else return {std::move(value), step->span};
      },
      step->value);
}

// After what a range begins with, before its colon.
ast::IndexRange IndicesParser::range_after(std::optional<ast::RangeBound> begin) {
  tokens_.expect_symbol(":", "in a range");
  ast::IndexRange range{std::move(begin), range_bound(), std::nullopt};
  if (tokens_.accept_symbol(":")) range.step = range_step();
  return range;
}

ast::IndexTerm IndicesParser::index_term(const ast::Identifier& name) {
  const auto begin = tokens_.begin();
  if (tokens_.at_symbol(":")) {
    auto range = range_after(std::nullopt);
    return {std::move(range), tokens_.span_from(begin)};
  }
  if (at_merged_labels(tokens_)) {
    ast::MergedIndex merged{parse_merged_labels(tokens_)};
    return {std::move(merged), tokens_.span_from(begin)};
  }
  if (!at_single_index()) return computed_index();
  auto term = single_index(name);
  if (!tokens_.at_symbol(":")) return term;
  auto first = std::visit(
      [&](auto& value) -> ast::RangeBound {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_constructible_v<decltype(ast::RangeBound::value), Value>)
          return {std::move(value), term.span};
        else throw Error(ErrorKind::Syntax, "a range begins with a number or a name", term.span);
      },
      term.value);
  if (const auto* label = std::get_if<ast::Identifier>(&first.value);
      label != nullptr && (tokens_.loops() == nullptr || !tokens_.loops()->variables.contains(label->text))) {
    throw Error(
        ErrorKind::Syntax, "a range begins with a number, not with " + label->text, term.span,
        "X[2:5,j] has the indices 2, 3 and 4; names of indices stand in quotes: X['a':'c',j]; a label takes all "
        "indices: X[" +
            label->text + ",j]");
  }
  auto range = range_after(std::move(first));
  return {std::move(range), tokens_.span_from(begin)};
}

ast::IndexTerm IndicesParser::single_index(const ast::Identifier& name) {
  const auto begin = tokens_.begin();
  if (tokens_.at_name()) {
    auto label = tokens_.expect_name("a label");
    return {std::move(label), tokens_.span_from(begin)};
  }
  if (tokens_.at(Token::Kind::Parameter)) {
    const auto parameter = parse_parameter(tokens_);
    return {parameter, tokens_.span_from(begin)};
  }
  if (tokens_.at(Token::Kind::String)) {
    ast::Text text{string_value(tokens_.take())};
    return {std::move(text), tokens_.span_from(begin)};
  }
  const bool negative = tokens_.accept_symbol("-");
  if (!tokens_.at(Token::Kind::Integer)) {
    std::string hint;
    if (tokens_.at_symbol("*")) hint = "a whole dimension takes a label: X[i,j]";
    if (tokens_.at_symbol("[")) hint = "several indices are those of a tensor of INT64: X[chosen[k],j]";
    tokens_.fail_expected("a label or an index of " + name.text, hint);
  }
  const auto token = tokens_.take();
  const auto value = number_value(token);
  const auto* const integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr) throw Error(ErrorKind::Syntax, "an index beyond 64 bits", token.span);
  return {ast::Integer{negative ? -*integer : *integer}, tokens_.span_from(begin)};
}

}  // namespace

ast::Reference parse_indices(TokenStream& tokens, ast::Identifier name,
                             const std::function<ast::Expression()>& expression) {
  return IndicesParser(tokens, expression).after_bracket(std::move(name));
}

}  // namespace eindb

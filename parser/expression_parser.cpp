#include "parser/expression_parser.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/error.hpp"
#include "common/stack_guard.hpp"
#include "parser/ast_children.hpp"
#include "parser/expression_words.hpp"
#include "parser/extent_parser.hpp"
#include "parser/foreign_words.hpp"
#include "parser/limits.hpp"
#include "parser/missing_values.hpp"
#include "parser/reference_parser.hpp"

namespace eindb {
namespace {

using ast::Expression;
using ast::InfixOp;
using words::find_aggregate;
using words::find_constant;
using words::find_operator;
using words::find_running;
using words::is_reserved;
using words::kScan;
using words::Level;
using words::next_tighter;
using words::Operator;

/// The height of the tree below `e`. Its recursion is bounded by what the parser builds: some six levels of operators
/// for each of its kMaxNesting calls.
std::size_t height_of(const Expression& e) {
  std::size_t below = 0;
  for_each_child(e, [&](const Expression& child) { below = std::max(below, height_of(child)); });
  return below + 1;
}

[[noreturn]] void fail_nesting(SourceSpan span) {
  throw Error(ErrorKind::Syntax, "an expression nests more than " + std::to_string(kMaxNesting) + " deep", span,
              "name parts of it in WITH");
}

/// Parses one expression; counts the recursion depth.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  Expression infix(Level least);
  Expression reference();
  std::vector<Expression> arguments(std::string_view whose);

 private:
  Expression prefix(Level least);
  Expression operand();
  Expression word();
  Expression parenthesised();
  Expression text();
  Expression number();
  Expression imaginary();
  bool at_condition(std::string_view word);
  Expression condition_after(Expression left);
  Expression parameter();
  Expression with_filter_after(ast::Aggregate aggregate, std::size_t begin);
  bool at_transpose();
  ast::Case case_after_word();
  ast::Cast cast_after_word();
  ast::Aggregate aggregate_after_word(const Token& word, ast::AggregateOp op, bool running = false);
  void scanned_aggregate(ast::Aggregate& node);
  std::vector<ast::Dimension> aggregate_labels(const Token& word, bool& descending);
  bool at_aggregate_labels() const;
  bool at_labels_of_user() const;
  bool at_plain_name();
  void require_same_on_bits(const ast::Infix& before, const Operator& next);
  void close(std::string_view where, std::string_view whose);

  template <class Node>
  Expression made(Node node, std::size_t begin) const {
    return {std::move(node), tokens_.span_from(begin)};
  }

  TokenStream& tokens_;
  std::size_t depth_ = 0;
};

/// Counts one level of recursion during its lifetime.
class Nested {
 public:
  Nested(std::size_t& depth, SourceSpan here) : depth_(depth) {
    if (depth_ == kMaxNesting) fail_nesting(here);
    require_stack();
    ++depth_;
  }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  std::size_t& depth_;
};

/// A list of one expression, without the copy that {e} would make.
std::vector<Expression> alone(Expression e) {
  std::vector<Expression> list;
  list.push_back(std::move(e));
  return list;
}

/// Precedence climbing. A chain of one level extends the same node in this loop, so a product of 100,000 factors needs
/// no recursion; only operators that bind tighter recurse: `a + b*c - d` parses a, then, in the loop, `+ (b*c)` and `-
/// d`, which extend the node of the first `+`.
Expression ExpressionParser::infix(Level least) {
  const Nested nested(depth_, tokens_.peek().span);
  auto left = prefix(least);
  Level chain = Level::Loosest;  // level of the node that `left` has become
  for (;;) {
    if (least <= Level::Comparison && (at_condition("BETWEEN") || at_condition("IN") || tokens_.at_word("IS"))) {
      if (chain == Level::Comparison)
        throw Error(ErrorKind::Syntax, "comparisons do not chain", tokens_.peek().span, "write a < b AND b < c");
      left = condition_after(std::move(left));
      chain = Level::Comparison;
      continue;
    }
    const auto* op = find_operator(tokens_.peek());
    if (op == nullptr || op->level < least) break;
    if (op->level == Level::Comparison && chain == Level::Comparison)
      throw Error(ErrorKind::Syntax, "comparisons do not chain", tokens_.peek().span, "write a < b AND b < c");
    if (op->level == Level::Bits && chain == Level::Bits) require_same_on_bits(std::get<ast::Infix>(left.node), *op);
    tokens_.take();
    auto right = infix(op->level == Level::Power ? Level::Power : next_tighter(op->level));
    if (chain != op->level) {
      const auto span = left.span;
      ast::Infix node;
      node.operands.push_back(std::move(left));
      left = Expression{std::move(node), span};
      chain = op->level;
    }
    auto& node = std::get<ast::Infix>(left.node);
    if (node.operands.size() == kMaxOperands) {
      throw Error(ErrorKind::Syntax, "a chain of operators has more than " + std::to_string(kMaxOperands) + " operands",
                  right.span, "compute parts in WITH definitions");
    }
    left.span.end = right.span.end;
    node.operators.push_back(op->op);
    node.operands.push_back(std::move(right));
  }
  return left;
}

// Whether BETWEEN or IN follows, perhaps behind NOT.
bool ExpressionParser::at_condition(std::string_view word) {
  if (tokens_.at_word(word)) return true;
  if (!tokens_.at_word("NOT")) return false;
  auto ahead = tokens_;
  ahead.take();
  return ahead.at_word(word);
}

// x BETWEEN a AND b is a <= x AND x <= b; x IN (a, b) is x = a OR x = b; x IS NULL is x <> x.
Expression ExpressionParser::condition_after(Expression left) {
  const auto begin = left.span.begin;
  if (tokens_.accept_word("IS")) {
    const bool is_not = tokens_.accept_word("NOT");
    tokens_.expect_word("NULL", "after IS");
    return null_test(std::move(left), is_not, tokens_.span_from(begin));
  }
  const bool negated = tokens_.accept_word("NOT");
  const auto compared = [&](InfixOp op, Expression right) {
    ast::Infix node;
    node.operators.push_back(op);
    node.operands.push_back(left);
    node.operands.push_back(std::move(right));
    return made(std::move(node), begin);
  };
  ast::Infix all;
  if (tokens_.accept_word("BETWEEN")) {
    all.operands.push_back(compared(InfixOp::GreaterEqual, infix(next_tighter(Level::Comparison))));
    tokens_.expect_word("AND", "and the upper bound of BETWEEN");
    all.operands.push_back(compared(InfixOp::LessEqual, infix(next_tighter(Level::Comparison))));
    all.operators.push_back(InfixOp::And);
  } else {
    tokens_.expect_word("IN", "");
    tokens_.expect_symbol("(", "and values after IN: x IN (1, 2)");
    for (auto& value : arguments("IN")) all.operands.push_back(compared(InfixOp::Equal, std::move(value)));
    if (all.operands.empty()) tokens_.fail_expected("a value in IN");
    all.operators.assign(all.operands.size() - 1, InfixOp::Or);
  }
  auto holds = all.operands.size() == 1 ? std::move(all.operands.front()) : made(std::move(all), begin);
  return negated ? made(ast::Prefix{ast::PrefixOp::Not, alone(std::move(holds))}, begin) : std::move(holds);
}

Expression ExpressionParser::prefix(Level least) {
  const auto begin = tokens_.begin();
  if (tokens_.accept_symbol("-")) return made(ast::Prefix{ast::PrefixOp::Negate, alone(infix(Level::Power))}, begin);
  if (tokens_.accept_symbol("~")) return made(ast::Prefix{ast::PrefixOp::BitNot, alone(infix(Level::Power))}, begin);
  if (tokens_.accept_symbol("+")) {
    auto same = infix(Level::Power);
    same.span.begin = begin;
    return same;
  }
  if (tokens_.at_word("NOT")) {
    if (least > Level::Not) tokens_.fail_expected("an operand", "NOT binds loosely: put it in parentheses");
    tokens_.take();
    return made(ast::Prefix{ast::PrefixOp::Not, alone(infix(Level::Not))}, begin);
  }
  return operand();
}

Expression ExpressionParser::operand() {
  switch (tokens_.peek().kind) {
    case Token::Kind::Integer:
    case Token::Kind::Real: return number();
    case Token::Kind::Parameter: return parameter();
    case Token::Kind::Malformed: return imaginary();
    case Token::Kind::Word:
    case Token::Kind::QuotedName: return word();
    case Token::Kind::String: return text();
    default: break;
  }
  if (tokens_.at_symbol("(")) return parenthesised();
  const auto* hint = tokens_.at_symbol("&") ? "write AND for &&" : tokens_.at_symbol("|") ? "write OR for ||" : "";
  tokens_.fail_expected("an expression", hint);
}

Expression ExpressionParser::text() {
  const auto begin = tokens_.begin();
  return made(ast::Text{string_value(tokens_.take())}, begin);
}

Expression ExpressionParser::number() {
  const auto token = tokens_.take();
  const auto value = number_value(token);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {ast::Integer{*integer}, token.span};
  return {ast::Real{std::get<double>(value)}, token.span};
}

// 2j is COMPLEX(0, 2).
Expression ExpressionParser::imaginary() {
  auto token = tokens_.take();
  token.text.remove_suffix(1);
  token.kind =
      token.text.find_first_not_of("0123456789_") == std::string_view::npos ? Token::Kind::Integer : Token::Kind::Real;
  const auto value = number_value(token);
  Expression part{ast::Integer{0}, token.span};
  if (const auto* integer = std::get_if<std::int64_t>(&value)) part.node = ast::Integer{*integer};
  else part.node = ast::Real{std::get<double>(value)};
  ast::Call call{{.text = "COMPLEX", .span = token.span}, {}};
  call.arguments.push_back({ast::Integer{0}, token.span});
  call.arguments.push_back(std::move(part));
  return {std::move(call), token.span};
}

Expression ExpressionParser::parameter() {
  const auto begin = tokens_.begin();
  return made(parse_parameter(tokens_), begin);
}

Expression ExpressionParser::parenthesised() {
  const auto begin = tokens_.take().span.begin;
  auto inner = infix(Level::Loosest);
  close("to close the parenthesis", {});
  inner.span = tokens_.span_from(begin);
  return inner;
}

Expression ExpressionParser::word() {
  if (is_reserved(tokens_.peek()))
    tokens_.fail_expected("an expression",
                          "a name that is a keyword stands in quotes: \"" + std::string(tokens_.peek().text) + "\"");
  const auto token = tokens_.peek();
  const auto begin = token.span.begin;
  auto name = at_transpose() ? tokens_.expect_name("a name") : tokens_.expect_tensor("a name");
  const bool bare = !tokens_.at_symbol("[") && !tokens_.at_symbol("(");
  if (!name.quoted) {
    if (equal_ignoring_case(token.text, "CASE")) return made(case_after_word(), begin);
    if (equal_ignoring_case(token.text, "CAST") && tokens_.at_symbol("(")) return made(cast_after_word(), begin);
    if (const auto* constant = find_constant(token); constant != nullptr && bare)
      return made(ast::Real{constant->value}, begin);
    if (const auto* aggregate = find_aggregate(token); aggregate != nullptr && !bare)
      if ((tokens_.at_symbol("(") && !may_be_macro(token.text)) || at_aggregate_labels())
        return with_filter_after(aggregate_after_word(token, aggregate->op), begin);
    const auto* running = find_running(token);
    const bool is_scan = equal_ignoring_case(token.text, kScan);
    if ((running != nullptr || is_scan) && (tokens_.at_symbol("(") || (!bare && at_aggregate_labels())))
      return with_filter_after(aggregate_after_word(token, is_scan ? ast::AggregateOp::User : running->op, true),
                               begin);
    if (find_aggregate(token) != nullptr && bare && at_plain_name())
      tokens_.fail_expected("'(' or '[' after " + std::string(token.text),
                            "labels to aggregate over stand in brackets: " + std::string(token.text) + "[j](x)");
  }
  if (tokens_.at_symbol("[") && !name.qualified && at_labels_of_user()) {
    auto aggregate = aggregate_after_word(token, ast::AggregateOp::User);
    aggregate.name = std::move(name);
    return made(std::move(aggregate), begin);
  }
  if (tokens_.accept_symbol("["))
    return made(parse_indices(tokens_, std::move(name), [this] { return infix(Level::Loosest); }), begin);
  if (!tokens_.accept_symbol("(")) return made(ast::Name{std::move(name)}, begin);
  auto list = arguments(token.text);
  return made(ast::Call{std::move(name), std::move(list)}, begin);
}

// FILTER (WHERE condition) behind an aggregate, as in SQL.
Expression ExpressionParser::with_filter_after(ast::Aggregate aggregate, std::size_t begin) {
  auto ahead = tokens_;
  if (!ahead.accept_word("FILTER") || !ahead.accept_symbol("(")) return made(std::move(aggregate), begin);
  ahead.expect_word("WHERE", "and a condition in FILTER");
  tokens_ = ahead;
  auto condition = infix(Level::Loosest);
  close("after the condition of", "FILTER");
  return with_filter(std::move(aggregate), std::move(condition), tokens_.span_from(begin));
}

// X.T, as NumPy has it; the scalar T of an attached database is other.T[].
bool ExpressionParser::at_transpose() {
  auto ahead = tokens_;
  if (!schema_of(ahead.take().text).empty()) return false;
  if (!ahead.accept_symbol(".") || !ahead.accept_word("T")) return false;
  return !ahead.at_symbol("[");
}

ast::Case ExpressionParser::case_after_word() {
  ast::Case node;
  if (!tokens_.at_word("WHEN")) node.subject.push_back(infix(Level::Loosest));
  if (!tokens_.at_word("WHEN")) tokens_.expect_word("WHEN", "after CASE");
  while (tokens_.accept_word("WHEN")) {
    auto when = infix(Level::Loosest);
    tokens_.expect_word("THEN", "after the condition of WHEN");
    auto then = infix(Level::Loosest);
    node.branches.push_back({std::move(when), std::move(then)});
  }
  if (tokens_.accept_word("ELSE")) node.otherwise.push_back(infix(Level::Loosest));
  tokens_.expect_word("END", "to close CASE");
  return node;
}

ast::Cast ExpressionParser::cast_after_word() {
  tokens_.expect_symbol("(", "after CAST");
  ast::Cast node;
  node.operand.push_back(infix(Level::Loosest));
  tokens_.expect_word("AS", "and a type in CAST, as in CAST(x AS FLOAT32)");
  node.type = tokens_.expect_name("a type after AS");
  close("after the type of", "CAST");
  return node;
}

/// Called before '[': whether ']' is followed by '(', as in SUM[j](...). SUM[j] alone refers to a tensor named "SUM".
bool ExpressionParser::at_aggregate_labels() const {
  auto ahead = tokens_;
  ahead.take();
  while (!ahead.at_symbol("]")) {
    if (ahead.at(Token::Kind::End) || ahead.at_symbol("[") || ahead.at_symbol("(")) return false;
    ahead.take();
  }
  ahead.take();
  return ahead.at_symbol("(");
}

/// The same for a name that may be a tensor's: nothing but labels, which may have extents, stands in the brackets.
bool ExpressionParser::at_labels_of_user() const {
  auto ahead = tokens_;
  ahead.allow_symbols(":{}");
  ahead.take();
  while (ahead.at_name() || ahead.at_symbol(",") || ahead.at(Token::Kind::Integer) || ahead.at(Token::Kind::Parameter))
    ahead.take();
  if (!ahead.at_symbol("]")) return false;
  ahead.take();
  return ahead.at_symbol("(");
}

/// Whether the next token is a name and no reserved word.
bool ExpressionParser::at_plain_name() {
  return tokens_.at_name() && !is_reserved(tokens_.peek()) && hint_for_operator(tokens_.peek().text).empty();
}

/// Languages disagree about the order of &, |, << and >>, and && and || are theirs for conditions.
void ExpressionParser::require_same_on_bits(const ast::Infix& before, const Operator& next) {
  if (before.operators.back() == next.op) return;
  throw Error(ErrorKind::Syntax, "operators on bits do not mix", tokens_.peek().span, "set parentheses: (a & b) | c");
}

// SUM or the name of a user's aggregate, which SCAN has before its argument.
void ExpressionParser::scanned_aggregate(ast::Aggregate& node) {
  const auto name = tokens_.peek();
  if (!tokens_.at_name()) tokens_.fail_expected("an aggregate in SCAN", "as in SCAN[j](SUM, x)");
  const auto* aggregate = find_aggregate(name);
  if (aggregate == nullptr) {
    node.name = tokens_.expect_name("an aggregate in SCAN");
  } else {
    node.op = aggregate->op;
    tokens_.take();
  }
  if (!tokens_.accept_symbol(","))
    tokens_.fail_expected("',' after the aggregate in SCAN", "SCAN[j](SUM, x) are the running sums of x along j");
}

// For what has more arguments than an aggregate takes.
std::string hint_for_more_arguments(const ast::Aggregate& node, std::string_view word) {
  const std::string name(word);
  const auto is = [&](auto... ops) { return !node.running && ((node.op == ops) || ...); };
  if (is(ast::AggregateOp::Min, ast::AggregateOp::Max)) {
    const auto* scalar = node.op == ast::AggregateOp::Min ? "LEAST" : "GREATEST";
    return std::string("of several values, take ") + scalar + "(a, b); over a label, " + name + "[j](x)";
  }
  if (is(ast::AggregateOp::TopK, ast::AggregateOp::ArgTopK))
    return "how many is the extent of the label that numbers them: Z[i,k 2] = " + name + "[j,k](x)";
  return "labels to aggregate over stand in brackets: " + name + (node.second.empty() ? "[j](x)" : "[j](x, a)");
}

ast::Aggregate ExpressionParser::aggregate_after_word(const Token& word, ast::AggregateOp op, bool running) {
  ast::Aggregate node;
  node.op = op;
  node.running = running;
  node.op_span = word.span;
  if (tokens_.accept_symbol("[")) node.labels = aggregate_labels(word, node.descending);
  tokens_.expect_symbol("(", "after", word.text);
  if (tokens_.at_symbol("*"))
    tokens_.fail_expected(
        "an expression",
        "COUNT[j](X[i,j]) counts the cells of each row, COUNT_NONZERO[j](X[i,j] > 2) those where it holds");
  if (running && op == ast::AggregateOp::User) {
    scanned_aggregate(node);
    op = node.op;
  }
  node.argument.push_back(infix(Level::Loosest));
  if (op == ast::AggregateOp::Quantile && !running) {
    tokens_.expect_symbol(",", "and a share after the argument: QUANTILE[j](x, 0.9)");
    node.second.push_back(infix(Level::Loosest));
  }
  const bool may_weight =
      running && (op == ast::AggregateOp::Sum || op == ast::AggregateOp::Min || op == ast::AggregateOp::Max ||
                  op == ast::AggregateOp::LogSumExp || op == ast::AggregateOp::User);
  if (may_weight && tokens_.accept_symbol(",")) node.second.push_back(infix(Level::Loosest));
  const bool joins = !running && (op == ast::AggregateOp::Concat || op == ast::AggregateOp::Stack);
  while (joins && tokens_.accept_symbol(",")) node.second.push_back(infix(Level::Loosest));
  if (tokens_.at_symbol(",")) {
    if (auto hint = hint_for_function(word.text); op == ast::AggregateOp::User && !hint.empty())
      throw Error(ErrorKind::UnknownName, "there is no aggregate " + std::string(word.text), word.span,
                  std::move(hint));
    tokens_.fail_expected(
        "')', as " + std::string(word.text) + (node.second.empty() ? " takes one argument" : " takes two arguments"),
        hint_for_more_arguments(node, word.text));
  }
  close("after the argument of", word.text);
  return node;
}

std::vector<ast::Dimension> ExpressionParser::aggregate_labels(const Token& word, bool& descending) {
  std::vector<ast::Dimension> labels;
  if (tokens_.accept_symbol("]")) return labels;
  do {
    const auto begin = tokens_.begin();
    ast::Dimension dimension{tokens_.expect_label("a label to aggregate over"), std::nullopt, {}};
    if (at_extent(tokens_)) dimension.extent = parse_extent(tokens_, "the extent of a label", 0);
    dimension.span = tokens_.span_from(begin);
    labels.push_back(std::move(dimension));
  } while (tokens_.accept_symbol(","));
  const auto* aggregate = find_aggregate(word);
  const bool sorts =
      aggregate != nullptr && (aggregate->op == ast::AggregateOp::Sort || aggregate->op == ast::AggregateOp::ArgSort);
  if (sorts && !tokens_.accept_word("ASC")) descending = tokens_.accept_word("DESC");
  tokens_.expect_symbol("]", "after the labels of", word.text);
  return labels;
}

Expression ExpressionParser::reference() {
  const auto begin = tokens_.begin();
  auto name = tokens_.expect_tensor("a name");
  tokens_.expect_symbol("[", "after " + name.text);
  return made(parse_indices(tokens_, std::move(name), [this] { return infix(Level::Loosest); }), begin);
}

std::vector<Expression> ExpressionParser::arguments(std::string_view whose) {
  std::vector<Expression> list;
  if (tokens_.accept_symbol(")")) return list;
  do {
    list.push_back(infix(Level::Loosest));
  } while (tokens_.accept_symbol(","));
  close("after the arguments of", whose);
  return list;
}

void ExpressionParser::close(std::string_view where, std::string_view whose) {
  if (tokens_.accept_symbol(")")) return;
  std::string what = "')' " + std::string(where);
  if (!whose.empty()) what += " " + std::string(whose);
  tokens_.fail_expected(what, hint_after_expression(tokens_));
}

}  // namespace

Expression parse_expression(TokenStream& tokens) {
  auto expression = ExpressionParser(tokens).infix(Level::Loosest);
  if (height_of(expression) > kMaxNesting) fail_nesting(expression.span);
  return expression;
}

Expression parse_reference(TokenStream& tokens) {
  auto reference = ExpressionParser(tokens).reference();
  if (height_of(reference) > kMaxNesting) fail_nesting(reference.span);
  return reference;
}

std::vector<Expression> parse_arguments(TokenStream& tokens, std::string_view whose) {
  auto list = ExpressionParser(tokens).arguments(whose);
  for (const auto& argument : list)
    if (height_of(argument) > kMaxNesting) fail_nesting(argument.span);
  return list;
}

std::string hint_after_expression(TokenStream& tokens) {
  constexpr const char* kMissingOperator = "write * for a product; labels stand in brackets: X[i,j]";
  const auto& found = tokens.peek();
  if (tokens.at_symbol("]")) return "no '[' is open here";
  if (tokens.at_symbol(")")) return "no '(' is open here";
  if (tokens.at_symbol("[")) return "only the name of a tensor takes labels: X[i,j]";
  if (auto hint = hint_for_operator(found.text); !hint.empty()) return hint;
  if (found.is_symbol() && !tokens.at_symbol("(")) return {};
  if (found.kind == Token::Kind::End || found.kind == Token::Kind::String || is_reserved(found)) return {};
  if (found.kind != Token::Kind::Word) return kMissingOperator;
  const auto nearest = nearest_word_hint(found.text, {"AND", "OR", "WHEN", "THEN", "ELSE", "END", "USING"});
  return nearest.empty() || found.text.size() < 3 ? kMissingOperator : nearest;
}

}  // namespace eindb

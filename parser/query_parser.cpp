#include "parser/query_parser.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "parser/expression_parser.hpp"
#include "parser/subscript_parser.hpp"

namespace eindb {
namespace {

/// A name and then '[' or '=': the head of a definition.
bool starts_head(SqlScanner ahead) {
  const auto name = ahead.next();
  const auto next = ahead.next();
  const bool named = name.kind == SqlToken::Kind::Word || name.kind == SqlToken::Kind::Quoted;
  return named && !next.text.empty() && (next.text.front() == '[' || next.text.front() == '=');
}

/// Where a definition's name is expected: EINSUM('ij,jk', X, Y) and EINSUM ij,jk->ik (X, Y) are habits from NumPy.
constexpr const char* kSubscriptForm = "subscripts stand in plain quotes: EINSUM 'ij,jk->ik' (X, Y)";

/// The fields of a definition before its expression.
ast::Definition parse_head(TokenStream& tokens) {
  ast::Definition definition;
  const auto begin = tokens.begin();
  if (!tokens.at_name())
    tokens.fail_expected("a name for the result, as in Z[i,k] = ...", tokens.at_symbol("(") ? kSubscriptForm : "");
  definition.name = tokens.expect_name("a name");
  if (tokens.accept_symbol("[") && !tokens.accept_symbol("]")) {
    do {
      definition.labels.push_back(parse_dimension(tokens, ExtentRule::Optional));
    } while (tokens.accept_symbol(","));
    if (!tokens.at_symbol("]"))
      tokens.fail_expected("']' after the labels of " + definition.name.text,
                           "labels have commas between them; an extent is a whole number after its label: i 10");
    tokens.take();
  }
  definition.head_span = tokens.span_from(begin);
  return definition;
}

ast::Definition parse_definition(TokenStream& tokens) {
  auto definition = parse_head(tokens);
  if (!tokens.accept_symbol("=")) {
    const auto head = tokens.text().substr(definition.head_span.begin, tokens.last_end() - definition.head_span.begin);
    const bool bare = definition.labels.empty();
    const bool subscripts = bare && (tokens.at_symbol(",") || tokens.at_symbol("-") || definition.name.quoted);
    tokens.fail_expected((bare ? "'[' or '=' after " : "'=' after ") + std::string(head.substr(0, 40)),
                         subscripts ? kSubscriptForm
                                    : "a query names its result, labels in brackets: "
                                      "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])");
  }
  definition.expression = parse_expression(tokens);
  definition.span = tokens.span_from(definition.head_span.begin);
  return definition;
}

std::vector<ast::WithItem> parse_with(TokenStream& tokens) {
  std::vector<ast::WithItem> definitions;
  do {
    if (tokens.at_word("EINSUM") && !starts_head(SqlScanner(tokens.text(), tokens.begin())))
      tokens.fail_expected("a definition after the comma", "remove the comma before EINSUM");
    definitions.push_back(parse_definition(tokens));
  } while (tokens.accept_symbol(","));
  return definitions;
}

ast::Identifier parse_operand(TokenStream& tokens) {
  auto name = tokens.expect_name("the name of a tensor");
  if (tokens.at_symbol("(") || tokens.at_symbol("[")) {
    const bool scalar = tokens.accept_symbol("[") && tokens.accept_symbol("]");
    if (!scalar) tokens.fail_expected("',' or ')' after the operand " + name.text, "the subscripts give its labels");
  }
  return name;
}

ast::Subscripts parse_subscript_body(TokenStream& tokens) {
  const auto string = tokens.take();
  auto subscripts = parse_subscripts(tokens.text(), string.span);
  if (!tokens.at_symbol("("))
    tokens.fail_expected("'(' and the operands after the subscripts", "as in EINSUM 'ij,jk->ik' (X, Y)");
  tokens.take();
  do {
    subscripts.operands.push_back(parse_operand(tokens));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the operands");
  return subscripts;
}

std::size_t parse_position(TokenStream& tokens) {
  if (!tokens.at(Token::Kind::Integer)) tokens.fail_expected("the position of an operand, from 0");
  const auto token = tokens.take();
  const auto value = number_value(token);
  const auto* const position = std::get_if<std::int64_t>(&value);
  if (position == nullptr) throw Error(ErrorKind::Syntax, "a position beyond 64 bits", token.span);
  return static_cast<std::size_t>(*position);
}

ast::PathStep parse_path_step(TokenStream& tokens) {
  ast::PathStep step;
  const auto begin = tokens.begin();
  if (!tokens.at_symbol("("))
    tokens.fail_expected("'(' and the positions that a step contracts", "a path is a list of steps: ((0,1),(0,1))");
  tokens.take();
  do {
    if (!step.positions.empty() && tokens.at_symbol(")")) break;  // (0,): as Python prints it
    step.positions.push_back(parse_position(tokens));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the positions of a step");
  step.span = tokens.span_from(begin);
  return step;
}

std::vector<ast::PathStep> parse_path_steps(TokenStream& tokens) {
  std::vector<ast::PathStep> steps;
  tokens.take();
  while (!tokens.accept_symbol(")")) {
    steps.push_back(parse_path_step(tokens));
    if (!tokens.at_symbol(")")) tokens.expect_symbol(",", "or ')' after a step of the path");
  }
  return steps;
}

ast::PathClause parse_path(TokenStream& tokens) {
  ast::PathClause path;
  const auto begin = tokens.begin();
  tokens.expect_word("USING", "");
  if (!tokens.accept_word("PATH"))
    tokens.fail_expected("PATH after USING", "as in USING PATH ((0,1),(0,1)) or USING PATH 'greedy'");
  if (tokens.at_symbol("(")) {
    path.value = parse_path_steps(tokens);
  } else {
    auto name = tokens.expect_string("a list of steps or the name of an algorithm after PATH",
                                     "as in USING PATH ((0,1),(0,1)) or USING PATH 'greedy'");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    path.value = std::move(name);
  }
  path.span = tokens.span_from(begin);
  return path;
}

}  // namespace

bool starts_query(SqlScanner ahead) {
  const auto first = ahead.next();
  if (first.is_word("WITH")) return starts_head(ahead);
  if (!first.is_word("EINSUM")) return false;
  if (starts_head(ahead)) return true;
  const auto second = ahead.next();
  return second.kind == SqlToken::Kind::Quoted && second.text.front() == '\'';
}

ast::Query parse_query(TokenStream& tokens) {
  ast::Query query;
  const auto begin = tokens.begin();
  const bool with = tokens.accept_word("WITH");
  if (with) query.with = parse_with(tokens);
  if (with && !tokens.at_word("EINSUM")) {
    auto hint = nearest_word_hint(tokens.peek().text, {"EINSUM"});
    if (tokens.at(Token::Kind::End))
      hint = "definitions and their query are one statement, without a semicolon between";
    tokens.fail_expected("',' or EINSUM after a definition", hint.empty() ? hint_after_expression(tokens) : hint);
  }
  tokens.expect_word("EINSUM", "and a query");
  if (tokens.at(Token::Kind::String)) query.body = parse_subscript_body(tokens);
  else query.body = parse_definition(tokens);
  if (tokens.at_word("USING")) query.path = parse_path(tokens);
  query.span = tokens.span_from(begin);
  return query;
}

ast::Dimension parse_dimension(TokenStream& tokens, ExtentRule rule) {
  ast::Dimension dimension;
  const auto begin = tokens.begin();
  constexpr const char* kForm = "a dimension is a label and its extent: (i 1000, j 2000)";
  if (!tokens.at_name()) tokens.fail_expected("a label", rule == ExtentRule::Required ? kForm : "");
  dimension.label = tokens.expect_name("a label");
  if (tokens.at(Token::Kind::Parameter)) {
    const auto span = tokens.peek().span;
    dimension.extent = ast::Extent{parse_parameter(tokens), span};
  } else if (tokens.at(Token::Kind::Integer) || rule == ExtentRule::Required) {
    const auto extent_begin = tokens.begin();
    if (!tokens.at(Token::Kind::Integer))
      tokens.fail_expected("the extent of the label " + dimension.label.text + ", a whole number from 0 on", kForm);
    const auto value = parse_whole(tokens, "the extent of the label " + dimension.label.text, 0);
    dimension.extent = ast::Extent{ast::Integer{value}, tokens.span_from(extent_begin)};
  }
  dimension.span = tokens.span_from(begin);
  return dimension;
}

std::int64_t parse_whole(TokenStream& tokens, std::string_view what, std::int64_t least) {
  const auto expected = std::string(what) + ", a whole number from " + std::to_string(least) + " on";
  if (!tokens.at(Token::Kind::Integer)) tokens.fail_expected(expected);
  const auto value = number_value(tokens.peek());
  const auto* const integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr) throw Error(ErrorKind::Syntax, std::string(what) + " is beyond 64 bits", tokens.peek().span);
  if (*integer < least) tokens.fail_expected(expected);
  tokens.take();
  return *integer;
}

}  // namespace eindb

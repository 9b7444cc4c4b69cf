#include "parser/definition_parser.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "parser/expression_parser.hpp"
#include "parser/extent_parser.hpp"

namespace eindb {
namespace {

/// Parses a definition up to its expression.
ast::Definition parse_head(TokenStream& tokens, DefinedName rule) {
  ast::Definition definition;
  const auto begin = tokens.begin();
  if (!tokens.at_name())
    tokens.fail_expected("a name for the result, as in Z[i,k] = ...", tokens.at_symbol("(") ? kSubscriptForm : "");
  definition.name = rule == DefinedName::OfTensor ? tokens.expect_tensor("a name") : tokens.expect_name("a name");
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

}  // namespace

bool starts_head(Tokenizer ahead) {
  const auto name = ahead.next();
  const auto next = ahead.next();
  const bool named = name.is(Token::Kind::Word) || name.is_quoted();
  return named && !next.text.empty() && (next.text.front() == '[' || next.text.front() == '=');
}

ast::Definition parse_definition(TokenStream& tokens, DefinedName rule) {
  auto definition = parse_head(tokens, rule);
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

ast::Dimension parse_dimension(TokenStream& tokens, ExtentRule rule) {
  ast::Dimension dimension;
  const auto begin = tokens.begin();
  constexpr const char* kForm = "a dimension is a label and its extent: (i 1000, j 2000)";
  constexpr const char* kHead = "a head has labels alone; for one index, CASE WHEN i = 3 THEN ... ELSE ... END";
  if (!tokens.at_name()) {
    const bool index = tokens.at(Token::Kind::Integer) || tokens.at(Token::Kind::Parameter);
    tokens.fail_expected("a label", rule == ExtentRule::Required ? kForm : index ? kHead : "");
  }
  dimension.label = tokens.expect_label("a label");
  const auto what = "the extent of the label " + dimension.label.text;
  if (at_extent(tokens)) dimension.extent = parse_extent(tokens, what, 0);
  else if (rule == ExtentRule::Required) tokens.fail_expected(what + ", a whole number from 0 on", kForm);
  dimension.span = tokens.span_from(begin);
  return dimension;
}

}  // namespace eindb

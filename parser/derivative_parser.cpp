#include "parser/derivative_parser.hpp"

#include <string>
#include <utility>

#include "parser/definition_parser.hpp"
#include "parser/expression_parser.hpp"

namespace eindb {
namespace {

constexpr const char* kGradientForm = "as in GRADIENT OF L[] = SUM(X[i]^2) WITH RESPECT TO (X AS dX)";
constexpr const char* kJvpForm = "as in JVP OF Y[i] = EXP(X[i]) WITH RESPECT TO (X ALONG V) AS dY";

/// A definition, or the name of an earlier one, also written L[].
ast::Derived parse_derived(TokenStream& tokens, std::string_view word, const char* form) {
  if (!tokens.at_name()) tokens.fail_expected("what to derive after " + std::string(word) + " OF", form);
  auto ahead = tokens;
  auto name = ahead.expect_name("a name");
  const bool scalar = !ahead.accept_symbol("[") || ahead.accept_symbol("]");
  if (!scalar || ahead.at_symbol("=")) return parse_definition(tokens);
  tokens = ahead;
  return name;
}

/// Parses WITH RESPECT TO, up to the list of variables.
void expect_respect_to(TokenStream& tokens, const ast::Derived& of, const char* form) {
  if (!tokens.at_word("WITH")) {
    auto hint = std::holds_alternative<ast::Definition>(of) ? hint_after_expression(tokens) : std::string();
    const auto misspelt = nearest_word_hint(tokens.peek().text, {"WITH"});
    if (!misspelt.empty()) hint = misspelt;
    tokens.fail_expected("WITH RESPECT TO and the variables", hint.empty() ? form : hint);
  }
  tokens.take();
  tokens.expect_word("RESPECT", "TO after WITH");
  tokens.expect_word("TO", "after WITH RESPECT");
  if (!tokens.at_symbol("(")) tokens.fail_expected("'(' and the variables after TO", form);
  tokens.take();
}

ast::GradientVariable parse_variable(TokenStream& tokens) {
  ast::GradientVariable variable;
  const auto begin = tokens.begin();
  variable.variable = tokens.expect_tensor("the name of a variable, a tensor or a definition");
  if (tokens.at_symbol("["))
    tokens.fail_expected("AS, ',' or ')' after the variable " + variable.variable.text,
                         "the derivative has all of its labels: a variable is a name alone");
  if (tokens.accept_word("AS")) variable.name = tokens.expect_name("a name for the derivative after AS");
  variable.span = tokens.span_from(begin);
  return variable;
}

ast::Direction parse_direction(TokenStream& tokens) {
  ast::Direction direction;
  const auto begin = tokens.begin();
  direction.variable = tokens.expect_tensor("the name of a variable, a tensor or a definition");
  if (!tokens.at_word("ALONG")) {
    const auto misspelt = nearest_word_hint(tokens.peek().text, {"ALONG"});
    tokens.fail_expected("ALONG and a direction after the variable " + direction.variable.text,
                         misspelt.empty() ? kJvpForm : misspelt);
  }
  tokens.take();
  direction.tangent = tokens.expect_tensor("the name of a direction, a tensor or a definition");
  direction.span = tokens.span_from(begin);
  return direction;
}

/// Parses from the first word to the closing parenthesis and returns the function. `parse_item` parses one entry of the
/// list.
template <class ParseItem>
ast::Derived parse_head(TokenStream& tokens, const std::string& word, const char* form, ParseItem parse_item) {
  tokens.take();
  tokens.expect_word("OF", "after " + word);
  auto of = parse_derived(tokens, word, form);
  expect_respect_to(tokens, of, form);
  do {
    parse_item();
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the variables of " + word);
  return of;
}

}  // namespace

bool starts_derivative(Tokenizer ahead) {
  const auto word = ahead.next();
  return (word.is_word("GRADIENT") || word.is_word("JVP")) && ahead.next().is_word("OF");
}

ast::Gradient parse_gradient(TokenStream& tokens) {
  ast::Gradient gradient;
  const auto begin = tokens.begin();
  gradient.of =
      parse_head(tokens, "GRADIENT", kGradientForm, [&] { gradient.variables.push_back(parse_variable(tokens)); });
  gradient.span = tokens.span_from(begin);
  return gradient;
}

ast::Jvp parse_jvp(TokenStream& tokens) {
  ast::Jvp jvp;
  const auto begin = tokens.begin();
  jvp.of = parse_head(tokens, "JVP", kJvpForm, [&] { jvp.directions.push_back(parse_direction(tokens)); });
  if (tokens.accept_word("AS")) jvp.name = tokens.expect_name("a name for the derivative after AS");
  jvp.span = tokens.span_from(begin);
  return jvp;
}

}  // namespace eindb

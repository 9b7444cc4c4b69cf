#include "parser/extent_parser.hpp"

#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>
#include <variant>

#include "common/error.hpp"

namespace eindb {

bool at_extent(TokenStream& tokens) {
  return tokens.at(Token::Kind::Parameter) || tokens.at(Token::Kind::Integer) || tokens.at_loop_variable();
}

ast::Extent parse_extent(TokenStream& tokens, std::string_view what, std::int64_t least) {
  ast::Extent extent;
  const auto begin = tokens.begin();
  if (tokens.at(Token::Kind::Parameter)) extent.value = parse_parameter(tokens);
  else if (tokens.at_loop_variable()) extent.value = tokens.expect_name(what);
  else extent.value = ast::Integer{parse_whole(tokens, what, least)};
  extent.span = tokens.span_from(begin);
  return extent;
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

ast::Parameter parse_parameter(TokenStream& tokens) {
  constexpr std::size_t kMost = 65535;
  const auto token = tokens.take();
  const auto digits = token.text.substr(1);
  std::size_t number = 0;
  const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec;
  if (error != std::errc{} || number == 0 || number > kMost)
    throw Error(ErrorKind::Syntax, "parameters are numbered from $1 to $65535", token.span);
  return {number};
}

bool at_merged_labels(TokenStream ahead) {
  if (!ahead.accept_symbol("(") || !ahead.at_name()) return false;
  ahead.take();
  if (at_extent(ahead)) ahead.take();
  return ahead.at_symbol(",");
}

std::vector<ast::Dimension> parse_merged_labels(TokenStream& tokens) {
  std::vector<ast::Dimension> labels;
  tokens.expect_symbol("(", "before labels");
  do {
    labels.push_back(parse_dimension(tokens, ExtentRule::Optional));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the labels of one dimension");
  return labels;
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

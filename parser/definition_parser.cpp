#include "parser/definition_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "parser/expression_parser.hpp"
#include "parser/extent_parser.hpp"

namespace eindb {
namespace {

/// The kind of name that a definition gives: that of a result, or that of a stored tensor, which may begin with a
/// schema.
enum class DefinedName : std::uint8_t { OfResult, OfTensor };

/// Parses a definition up to its expression.
ast::Definition parse_head(TokenStream& tokens, DefinedName rule) {
  ast::Definition definition;
  const auto begin = tokens.begin();
  if (!tokens.at_name())
    tokens.fail_expected("a name for the result, as in Z[i,k] = ...", tokens.at_symbol("(") ? kSubscriptForm : "");
  definition.name = rule == DefinedName::OfTensor ? tokens.expect_tensor("a name") : tokens.expect_name("a name");
  if (tokens.accept_symbol("[") && !tokens.accept_symbol("]")) {
    do {
      if (at_merged_labels(tokens)) {
        auto merged = parse_merged_labels(tokens);
        definition.merged.push_back({definition.labels.size(), merged.size()});
        definition.labels.insert(definition.labels.end(), merged.begin(), merged.end());
      } else {
        definition.labels.push_back(parse_dimension(tokens, ExtentRule::Optional));
      }
    } while (tokens.accept_symbol(","));
    if (!tokens.at_symbol("]"))
      tokens.fail_expected("']' after the labels of " + definition.name.text,
                           "labels have commas between them; an extent is a whole number after its label: i 10");
    tokens.take();
  }
  definition.head_span = tokens.span_from(begin);
  return definition;
}

/// Whether some index of the tensor named next is a number, a range or computed: X[3,j]. An extent behind a label, as
/// in X[i 3], is none.
bool starts_region(TokenStream ahead) {
  ahead.expect_tensor("a name");
  if (!ahead.accept_symbol("[")) return false;
  ahead.allow_symbols(":");
  std::vector<std::string> labels;
  while (!ahead.at_symbol("]") && !ahead.at(Token::Kind::End)) {
    if (!ahead.at_name() || ahead.at_loop_variable()) return true;
    const std::string label(ahead.take().text);
    // X[i,i] is the diagonal.
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) return true;
    labels.push_back(label);
    if (at_extent(ahead)) ahead.take();
    if (!ahead.accept_symbol(",") && !ahead.at_symbol("]")) return !ahead.at(Token::Kind::End) && !ahead.at_name();
  }
  return false;
}

/// X[0:10,j] as the head of an update.
std::pair<ast::Definition, ast::Region> parse_region(TokenStream& tokens) {
  auto cells = parse_reference(tokens);
  const auto& reference = std::get<ast::Reference>(cells.node);
  for (const auto& term : reference.terms) {
    if (std::holds_alternative<ast::MergedIndex>(term.value))
      throw Error(ErrorKind::Syntax, "an update sets cells at one index for each dimension", term.span,
                  "compute it: UPDATE TENSOR X[3 * i + j, k] = ... for X[(i, j 3), k]");
  }
  if (reference.padding)
    throw Error(ErrorKind::Syntax, "what lies outside of " + reference.name.text + " gets no value",
                reference.padding->span, "PAD is for references that are read");
  ast::Definition definition{
      .name = reference.name, .labels = {}, .expression = {}, .head_span = cells.span, .span = cells.span};
  ast::Region region;
  region.cells.push_back(std::move(cells));
  return {std::move(definition), std::move(region)};
}

/// The operator of +=, -=, *= or /=.
std::optional<ast::InfixOp> accept_compound(TokenStream& tokens) {
  constexpr std::array<std::pair<std::string_view, ast::InfixOp>, 4> kOperators{{{"+", ast::InfixOp::Add},
                                                                                 {"-", ast::InfixOp::Subtract},
                                                                                 {"*", ast::InfixOp::Multiply},
                                                                                 {"/", ast::InfixOp::Divide}}};
  for (const auto& [symbol, op] : kOperators) {
    auto ahead = tokens;
    if (!ahead.accept_symbol(symbol) || !ahead.at_symbol("=")) continue;
    tokens.take();
    return op;
  }
  return std::nullopt;
}

/// The cells before the update, as an expression.
ast::Expression cells_of(const ast::Definition& definition, const ast::Region& region) {
  if (!region.cells.empty()) return region.cells.front();
  ast::Reference reference{definition.name, {}, {}};
  for (const auto& dimension : definition.labels) reference.terms.push_back({dimension.label, dimension.span});
  return {std::move(reference), definition.head_span};
}

bool has_computed_index(const ast::Region& region) {
  if (region.cells.empty()) return false;
  const auto& terms = std::get<ast::Reference>(region.cells.front().node).terms;
  return std::any_of(terms.begin(), terms.end(),
                     [](const auto& term) { return std::holds_alternative<ast::ComputedIndex>(term.value); });
}

/// X[i] += e is X[i] = X[i] + (e). Cells at computed indices may get several values, which are added one by one.
void apply_compound(ast::InfixOp op, SourceSpan place, ast::Definition& definition, ast::Region& region) {
  auto value = std::move(definition.expression);
  const auto span = value.span;
  if (!has_computed_index(region)) {
    definition.expression = {ast::Infix{{op}, {cells_of(definition, region), std::move(value)}}, span};
    return;
  }
  if (op != ast::InfixOp::Add && op != ast::InfixOp::Subtract)
    throw Error(ErrorKind::Syntax, "cells at computed indices take =, += and -=", place);
  region.adds = true;
  if (op == ast::InfixOp::Subtract) value = {ast::Prefix{ast::PrefixOp::Negate, {std::move(value)}}, span};
  definition.expression = std::move(value);
}

[[noreturn]] void fail_without_equals(TokenStream& tokens, const ast::Definition& definition) {
  const auto head = tokens.text().substr(definition.head_span.begin, tokens.last_end() - definition.head_span.begin);
  const bool bare = head.find('[') == std::string_view::npos;
  const bool subscripts = bare && (tokens.at_symbol(",") || tokens.at_symbol("-") || definition.name.quoted);
  tokens.fail_expected((bare ? "'[' or '=' after " : "'=' after ") + std::string(head.substr(0, 40)),
                       subscripts
                           ? kSubscriptForm
                           : "a query names its result, labels in brackets: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])");
}

}  // namespace

bool starts_head(Tokenizer ahead) {
  const auto name = ahead.next();
  const auto next = ahead.next();
  const bool named = name.is(Token::Kind::Word) || name.is_quoted();
  return named && !next.text.empty() && (next.text.front() == '[' || next.text.front() == '=');
}

ast::Definition parse_definition(TokenStream& tokens) {
  auto definition = parse_head(tokens, DefinedName::OfResult);
  if (!tokens.accept_symbol("=")) fail_without_equals(tokens, definition);
  definition.expression = parse_expression(tokens);
  definition.span = tokens.span_from(definition.head_span.begin);
  return definition;
}

std::pair<ast::Definition, ast::Region> parse_update(TokenStream& tokens) {
  const bool is_region = tokens.at_name() && starts_region(tokens);
  auto [definition, region] =
      is_region ? parse_region(tokens) : std::pair(parse_head(tokens, DefinedName::OfTensor), ast::Region{});
  const auto place = tokens.begin();
  const auto compound = accept_compound(tokens);
  if (!tokens.accept_symbol("=")) fail_without_equals(tokens, definition);
  const auto compound_span = tokens.span_from(place);
  definition.expression = parse_expression(tokens);
  definition.span = tokens.span_from(definition.head_span.begin);
  if (compound) apply_compound(*compound, compound_span, definition, region);
  return {std::move(definition), std::move(region)};
}

}  // namespace eindb

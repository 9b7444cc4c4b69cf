#include "parser/query_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/error.hpp"
#include "parser/definition_parser.hpp"
#include "parser/derivative_parser.hpp"
#include "parser/distinct_names.hpp"
#include "parser/expression_parser.hpp"
#include "parser/query_results.hpp"
#include "parser/subscript_parser.hpp"

namespace eindb {
namespace {

/// Whether GRADIENT OF is followed by "L[", "L =" or "L WITH". In SQL, gradient could be a table with the alias of.
bool names_derived(Tokenizer ahead) {
  ahead.next();
  ahead.next();
  if (starts_head(ahead)) return true;
  ahead.next();
  return ahead.next().is_word("WITH");
}

/// Whether the next word starts the body after WITH's items, and is not the name of a definition.
bool at_body(TokenStream& tokens, std::string_view word) {
  return tokens.at_word(word) && !starts_head(Tokenizer(tokens.text(), tokens.begin()));
}

/// Whether "(Q, R) =" follows.
bool starts_results(Tokenizer ahead) {
  if (!ahead.next().is_symbol('(')) return false;
  for (;;) {
    const auto name = ahead.next();
    if (!name.is(Token::Kind::Word) && !name.is_quoted()) return false;
    const auto next = ahead.next();
    if (next.is_symbol(')')) break;
    if (!next.is_symbol(',')) return false;
  }
  const auto equals = ahead.next();
  return !equals.text.empty() && equals.text.front() == '=';
}

/// (Q, R) = QR(A[i,j]).
ast::MatrixResults parse_matrix_results(TokenStream& tokens) {
  ast::MatrixResults results;
  const auto begin = tokens.begin();
  tokens.take();
  DistinctNames distinct("result");
  do {
    results.names.push_back(distinct.add(tokens.expect_name("the name of a result")));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the names of results");
  tokens.expect_symbol("=", "after the names of results");
  results.call = parse_expression(tokens);
  results.span = tokens.span_from(begin);
  return results;
}

ast::WithItem parse_with_item(TokenStream& tokens) {
  if (starts_results(Tokenizer(tokens.text(), tokens.begin()))) return parse_matrix_results(tokens);
  for (const auto* word : {"EINSUM", "UPDATE"})
    if (at_body(tokens, word))
      tokens.fail_expected("a definition after the comma", "remove the comma before " + std::string(word));
  if (!starts_derivative(Tokenizer(tokens.text(), tokens.begin()))) return parse_definition(tokens);
  if (tokens.at_word("JVP")) return parse_jvp(tokens);
  return parse_gradient(tokens);
}

std::vector<ast::WithItem> parse_with(TokenStream& tokens) {
  std::vector<ast::WithItem> items;
  do {
    items.push_back(parse_with_item(tokens));
  } while (tokens.accept_symbol(","));
  return items;
}

/// Labels of operands with ranges, which nobody can name: a scope for each of them, above those of macros.
constexpr std::uint32_t kFirstOperandScope = 1U << 31U;

/// X[0:10,:] as a definition of that name, with a label for each range.
ast::Definition definition_of_part(ast::Expression part, std::string text, std::uint32_t scope) {
  ast::Definition definition{.name = {.text = std::move(text), .span = part.span, .quoted = true},
                             .labels = {},
                             .expression = {},
                             .head_span = part.span,
                             .span = part.span};
  const auto* reference = std::get_if<ast::Reference>(&part.node);
  if (reference == nullptr)
    throw Error(ErrorKind::Syntax, "an operand is a tensor or a part of one", part.span, "define it in WITH");
  for (const auto& term : reference->terms) {
    if (std::holds_alternative<ast::Identifier>(term.value) || std::holds_alternative<ast::ComputedIndex>(term.value) ||
        std::holds_alternative<ast::MergedIndex>(term.value))
      throw Error(ErrorKind::Syntax, "the subscripts give the labels of " + reference->name.text, term.span,
                  "in its brackets stand ranges and numbers alone: X[0:10,:]");
    if (!std::holds_alternative<ast::IndexRange>(term.value)) continue;
    const auto number = std::to_string(definition.labels.size() + 1);
    definition.labels.push_back(
        {{.text = ":" + number, .span = term.span, .quoted = true, .scope = scope}, {}, term.span});
  }
  definition.expression = std::move(part);
  return definition;
}

/// The name of a tensor, or of a definition that is added for a part of one.
ast::Identifier parse_operand(TokenStream& tokens, std::vector<ast::WithItem>& with) {
  const auto before = tokens;
  const auto begin = tokens.begin();
  auto name = tokens.expect_tensor("the name of a tensor");
  if (!tokens.at_symbol("(") && !tokens.at_symbol("[")) return name;
  if (tokens.accept_symbol("[")) {
    if (tokens.accept_symbol("]")) return name;
    if (!tokens.at_name()) {
      tokens = before;
      auto part = parse_expression(tokens);
      std::string text(tokens.text().substr(begin, tokens.last_end() - begin));
      const auto is_same = [&](const ast::WithItem& item) {
        const auto* definition = std::get_if<ast::Definition>(&item);
        return definition != nullptr && definition->name.text == text;
      };
      if (std::none_of(with.begin(), with.end(), is_same))
        with.emplace_back(definition_of_part(std::move(part), text, kFirstOperandScope + with.size()));
      return {.text = std::move(text), .span = tokens.span_from(begin), .quoted = true};
    }
  }
  tokens.fail_expected("',' or ')' after the operand " + name.text, "the subscripts give its labels");
}

/// The query of a call in NumPy's form, einsum('ij,jk->ik', X, Y); `after` stands behind the subscripts.
std::string hint_for_call(std::string_view subscripts, TokenStream after) {
  std::string operands;
  while (after.accept_symbol(",") && after.at_name())
    operands += (operands.empty() ? "" : ", ") + std::string(after.take().text);
  if (operands.empty()) return "as in EINSUM 'ij,jk->ik' (X, Y)";
  return "write EINSUM " + std::string(subscripts) + " (" + operands + ")";
}

ast::Subscripts parse_subscript_body(TokenStream& tokens, std::vector<ast::WithItem>& with) {
  const auto string = tokens.take();
  auto subscripts = parse_subscripts(tokens.text(), string.span);
  if (!tokens.at_symbol("("))
    tokens.fail_expected("'(' and the operands after the subscripts", hint_for_call(string.text, tokens));
  tokens.take();
  do {
    subscripts.operands.push_back(parse_operand(tokens, with));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the operands");
  return subscripts;
}

/// Whether subscripts follow, in plain quotes or, as in Python, in double ones.
bool at_subscripts(TokenStream& tokens) {
  if (tokens.at(Token::Kind::String)) return true;
  return tokens.at(Token::Kind::QuotedName) && tokens.peek().text.find_first_of(",>") != std::string_view::npos;
}

/// EINSUM (Q, R), starting at the parenthesis.
ast::ResultNames parse_result_names(TokenStream& tokens) {
  ast::ResultNames results;
  const auto begin = tokens.begin();
  tokens.take();
  if (auto after = tokens; at_subscripts(tokens)) {
    const auto subscripts = after.take().text;
    tokens.fail_expected("the name of a result",
                         hint_for_call("'" + std::string(subscripts.substr(1, subscripts.size() - 2)) + "'", after));
  }
  DistinctNames distinct("result");
  do {
    results.names.push_back(distinct.add(tokens.expect_name("the name of a result")));
  } while (tokens.accept_symbol(","));
  if (!tokens.at_symbol(")"))
    tokens.fail_expected("',' or ')' after the results",
                         tokens.at_symbol("[") ? "results are names alone, of definitions in WITH" : kSubscriptForm);
  tokens.take();
  results.span = tokens.span_from(begin);
  return results;
}

/// Rejects UPDATE TENSOR X SET val = 3, which is SQL's form.
void refuse_set(TokenStream ahead) {
  const auto name = ahead.expect_tensor("the name of a tensor");
  if (ahead.at_word("SET"))
    ahead.fail_expected("'[' or '=' after " + name.text,
                        "every cell gets the value of an expression: UPDATE TENSOR " + name.text + "[i,j] = 3");
}

/// Starts at the word UPDATE.
ast::Updates parse_updates(TokenStream& tokens) {
  ast::Updates updates;
  const auto begin = tokens.begin();
  tokens.take();
  tokens.expect_word("TENSOR", "after UPDATE");
  if (!tokens.at_name())
    tokens.fail_expected("the name of the tensor", "as in UPDATE TENSOR W[i,j] = W[i,j] - 0.1 * dW[i,j]");
  DistinctNames distinct("tensor");
  do {
    refuse_set(tokens);
    auto [definition, region] = parse_update(tokens);
    updates.definitions.push_back(std::move(definition));
    updates.regions.push_back(std::move(region));
    distinct.add(updates.definitions.back().name);
  } while (tokens.accept_symbol(","));
  updates.span = tokens.span_from(begin);
  return updates;
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
    if (!step.positions.empty() && tokens.at_symbol(")")) break;  // (0,): Python's form
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

double parse_weight(TokenStream& tokens) {
  if (!tokens.peek().is_number())
    tokens.fail_expected("the price of an element in flops after WEIGHT", "as in USING PATH 'auto' WITH WEIGHT 100");
  return std::visit([](auto value) { return static_cast<double>(value); }, number_value(tokens.take()));
}

/// Parses the steps or the name behind USING PATH; the clause begins at `begin`.
ast::PathClause parse_path(TokenStream& tokens, std::size_t begin) {
  ast::PathClause path;
  if (tokens.at_symbol("(")) {
    path.value = parse_path_steps(tokens);
  } else {
    auto name = tokens.expect_string("a list of steps or the name of an algorithm after PATH",
                                     "as in USING PATH ((0,1),(0,1)) or USING PATH 'greedy'");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    path.value = std::move(name);
  }
  if (tokens.accept_word("WITH")) {
    tokens.expect_word("WEIGHT", "after the path and WITH");
    path.weight = parse_weight(tokens);
  }
  path.span = tokens.span_from(begin);
  return path;
}

constexpr const char* kPartitionForm = "as in USING PARTITION (i 4, j 2)";

std::int64_t parse_parts(TokenStream& tokens, const ast::Identifier& label) {
  if (!tokens.at(Token::Kind::Integer))
    tokens.fail_expected("the number of parts of label " + label.text, kPartitionForm);
  const auto token = tokens.take();
  const auto value = number_value(token);
  const auto* const parts = std::get_if<std::int64_t>(&value);
  if (parts == nullptr || *parts < 1)
    throw Error(ErrorKind::Value, "a label is cut into at least one part, and no more than it has indices", token.span);
  return *parts;
}

/// Parses the labels and parts behind USING PARTITION.
ast::CutsClause parse_cuts(TokenStream& tokens) {
  ast::CutsClause partition;
  if (!tokens.at_symbol("(")) tokens.fail_expected("'(' and labels with their numbers of parts", kPartitionForm);
  tokens.take();
  do {
    auto label = tokens.expect_name("a label");
    for (const auto& [known, parts] : partition.cuts)
      if (known.text == label.text)
        throw Error(ErrorKind::DuplicateName, "label " + label.text + " is cut twice", label.span);
    const auto parts = parse_parts(tokens, label);
    partition.cuts.push_back({std::move(label), parts});
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the parts of a label");
  return partition;
}

/// USING PATH or USING PARTITION, each once.
void parse_using(TokenStream& tokens, ast::Query& query) {
  const auto begin = tokens.begin();
  tokens.take();
  const bool of_path = tokens.at_word("PATH");
  if (!of_path && !tokens.at_word("PARTITION"))
    tokens.fail_expected("PATH or PARTITION after USING",
                         "as in USING PATH ((0,1),(0,1)), USING PATH 'greedy' or USING PARTITION (i 4, j 2)");
  if (of_path ? query.path.has_value() : query.partition.has_value())
    tokens.fail_expected("the end of the query", of_path ? "one path is enough" : "one partition is enough");
  tokens.take();
  if (of_path) query.path = parse_path(tokens, begin);
  else query.partition = parse_cuts(tokens);
}

decltype(ast::Query::body) parse_einsum(TokenStream& tokens, std::vector<ast::WithItem>& with) {
  tokens.take();
  if (tokens.at(Token::Kind::String)) return parse_subscript_body(tokens, with);
  if (tokens.at_symbol("(")) return parse_result_names(tokens);
  return parse_definition(tokens);
}

[[noreturn]] void fail_without_body(TokenStream& tokens, const std::vector<ast::WithItem>& with) {
  const bool definition = with.empty() || std::holds_alternative<ast::Definition>(with.back());
  auto hint = nearest_word_hint(tokens.peek().text, {"EINSUM", "GRADIENT"});
  if (tokens.at(Token::Kind::End)) {
    hint = definition ? "definitions and their query are one statement, without a semicolon between"
                      : "a derivative that is the query itself has no comma, or no WITH, before it";
  }
  if (tokens.at_word("UPDATE")) hint = "UPDATE TENSOR is a statement of its own, and no part of another";
  tokens.fail_expected("',' or EINSUM after a definition", hint.empty() ? hint_after_expression(tokens) : hint);
}

/// A part of a tensor as an operand becomes another definition of `with`.
decltype(ast::Query::body) parse_body(TokenStream& tokens, std::vector<ast::WithItem>& with) {
  if (tokens.at_word("EINSUM")) return parse_einsum(tokens, with);
  if (tokens.at_word("GRADIENT")) return parse_gradient(tokens);
  if (tokens.at_word("JVP")) return parse_jvp(tokens);
  if (with.empty()) tokens.expect_word("EINSUM", "and a query");
  fail_without_body(tokens, with);
}

enum class Bodies : std::uint8_t { OfQueries, OfUpdatesToo };

ast::Query parse_query(TokenStream& tokens, Bodies bodies) {
  ast::Query query;
  const auto begin = tokens.begin();
  if (tokens.accept_word("WITH")) query.with = parse_with(tokens);
  if (bodies == Bodies::OfUpdatesToo && tokens.at_word("UPDATE")) query.body = parse_updates(tokens);
  else query.body = parse_body(tokens, query.with);
  while (tokens.at_word("USING")) parse_using(tokens, query);
  query.span = tokens.span_from(begin);
  return query;
}

}  // namespace

bool starts_query(Tokenizer ahead) {
  auto second = ahead;
  const auto first = second.next();
  if (first.is_word("WITH")) return starts_head(second) || starts_derivative(second) || starts_results(second);
  if (starts_derivative(ahead)) return names_derived(ahead);
  if (!first.is_word("EINSUM")) return false;
  if (starts_head(second)) return true;
  const auto next = second.next();
  return next.is_symbol('(') || next.is(Token::Kind::String);
}

bool starts_tensor_update(Tokenizer after_update) {
  if (!after_update.next().is_word("TENSOR")) return false;
  constexpr std::array<std::string_view, 4> kAfterTable = {"SET", "AS", "INDEXED", "NOT"};
  const auto name = after_update.next();
  const bool end = name.is(Token::Kind::End) || name.is_symbol(';');
  const bool named = name.is(Token::Kind::Word) || name.is_quoted();
  return end ||
         (named && std::none_of(kAfterTable.begin(), kAfterTable.end(), [&](auto word) { return name.is_word(word); }));
}

ast::Query parse_query(TokenStream& tokens) { return parse_query(tokens, Bodies::OfQueries); }

ast::Query parse_query_or_update(TokenStream& tokens) { return parse_query(tokens, Bodies::OfUpdatesToo); }

ast::Query parse_query_of_one(TokenStream& tokens) {
  auto query = parse_query(tokens);
  const auto names = result_names(query);
  if (names.size() == 1) return query;
  constexpr std::size_t kShown = 5;
  std::string listed = names.front();
  for (std::size_t n = 1; n < std::min(names.size(), kShown); ++n) listed += ", " + names[n];
  if (names.size() > kShown) listed += ", ...";
  throw Error(ErrorKind::Syntax, "the query has the results " + listed + ", and one is wanted here", query.span,
              "CREATE TENSOR (" + names[0] + ", " + names[1] + ") AS stores them all; WITH ... EINSUM (" + names[0] +
                  ") takes one");
}

}  // namespace eindb

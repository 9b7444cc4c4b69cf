#include "optimizer/rewrites/expression_split.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "common/check.hpp"

namespace eindb {
namespace {

using Operands = std::vector<std::size_t>;  // ascending

Operands united(const Operands& a, const Operands& b) {
  Operands out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

ScalarPtr make_part(VertexSplitter& splitter, const ScalarPtr& expression) {
  return splitter.add_part(expression, splitter.labels_of(*expression), {}, Aggregate::None);
}

// CASE WHEN a THEN b ELSE c as a sum of two, one of which is zero in each cell.
ScalarPtr split_choice(const ScalarPtr& a, const ScalarPtr& b, const ScalarPtr& c, DType type) {
  const auto zero = ScalarExpression::with_type(
      type == DType::Int64 ? ScalarExpression::integer(0) : ScalarExpression::real(-0.0), type);
  return ScalarExpression::call(ScalarOp::Add, {ScalarExpression::call(ScalarOp::Case, {a, b, zero}),
                                                ScalarExpression::call(ScalarOp::Case, {a, zero, c})});
}

// One step on a CASE with more than two operands, none of whose arguments has more than one. The last branches, as many
// as have at most two operands together, become a part, which is the ELSE of the branches before.
ScalarPtr split_case(VertexSplitter& splitter, const ScalarPtr& e, const std::vector<Operands>& of_argument) {
  auto arguments = e->arguments();
  auto begin = arguments.size() - 1;
  auto inside = of_argument.back();
  while (begin >= 2) {
    auto more = united(inside, united(of_argument[begin - 2], of_argument[begin - 1]));
    if (more.size() > 2) break;
    inside = std::move(more);
    begin -= 2;
  }
  const auto place = arguments.begin() + static_cast<std::ptrdiff_t>(begin);
  ScalarPtr rest = begin + 1 == arguments.size() ? arguments.back()
                                                 : ScalarExpression::call(ScalarOp::Case, {place, arguments.end()});
  if (inside.size() == 2) {
    rest = make_part(splitter, rest);
  } else {
    CHECK(begin >= 2, "branches that stay outside come before those inside");
    rest = split_choice(arguments[begin - 2], arguments[begin - 1], rest, splitter.type_of(*e));
    begin -= 2;
  }
  arguments.resize(begin);
  arguments.push_back(std::move(rest));
  return arguments.size() == 1 ? arguments.front() : ScalarExpression::call(ScalarOp::Case, std::move(arguments));
}

double cells_of(const VertexSplitter& splitter, const Operands& operands) {
  Labels labels;
  for (const auto operand : operands) append_distinct(labels, splitter.labels_of(operand));
  double cells = 1;
  for (const auto label : labels) cells *= static_cast<double>(splitter.labels().extent(label));
  return cells;
}

// The two operands of neighbouring arguments (ignoring arguments without operands) whose join has the fewest cells.
Operands cheapest_neighbours(const VertexSplitter& splitter, const std::vector<Operands>& of_argument) {
  Operands best;
  double fewest = std::numeric_limits<double>::infinity();
  const Operands* previous = nullptr;
  for (const auto& operands : of_argument) {
    if (operands.empty()) continue;
    if (previous != nullptr) {
      const auto pair = united(*previous, operands);
      const double cells = pair.size() == 2 ? cells_of(splitter, pair) : std::numeric_limits<double>::infinity();
      if (pair.size() == 2 && (best.empty() || cells < fewest)) {
        best = pair;
        fewest = cells;
      }
    }
    previous = &operands;
  }
  return best;
}

// One step on an operation with many arguments, each of which has at most one operand.
ScalarPtr split_arguments(VertexSplitter& splitter, const ScalarPtr& e, const std::vector<Operands>& of_argument) {
  const auto chosen = cheapest_neighbours(splitter, of_argument);
  CHECK(chosen.size() == 2, "of more than two operands some neighbours differ");
  std::vector<ScalarPtr> inside;
  std::vector<ScalarPtr> outside;
  std::size_t place = 0;
  for (std::size_t a = 0; a < of_argument.size(); ++a) {
    const bool in = !of_argument[a].empty() && std::binary_search(chosen.begin(), chosen.end(), of_argument[a].front());
    if (in && inside.empty()) place = outside.size();
    (in ? inside : outside).push_back(e->arguments()[a]);
  }
  const auto part = make_part(splitter, ScalarExpression::call(e->op(), std::move(inside)));
  outside.insert(outside.begin() + static_cast<std::ptrdiff_t>(place), part);
  return ScalarExpression::call(e->op(), std::move(outside));
}

// One step towards fewer operands, on an expression with more than two.
ScalarPtr split_once(VertexSplitter& splitter, const ScalarPtr& e) {
  std::vector<Operands> of_argument;
  std::optional<std::size_t> smallest;
  for (const auto& argument : e->arguments()) {
    of_argument.push_back(operands_of(*argument));
    const auto a = of_argument.size() - 1;
    if (of_argument[a].size() >= 2 && (!smallest || of_argument[a].size() < of_argument[*smallest].size()))
      smallest = a;
  }
  CHECK(!of_argument.empty(), "what reads several operands is an operation");
  if (smallest) {
    auto arguments = e->arguments();
    auto& argument = arguments[*smallest];
    argument = of_argument[*smallest].size() == 2 ? make_part(splitter, argument) : split_once(splitter, argument);
    return ScalarExpression::call(e->op(), std::move(arguments));
  }
  if (e->op() == ScalarOp::Case) return split_case(splitter, e, of_argument);
  return split_arguments(splitter, e, of_argument);
}

}  // namespace

ScalarPtr split_to_two_operands(VertexSplitter& splitter, ScalarPtr expression) {
  while (operands_of(*expression).size() > 2) expression = split_once(splitter, expression);
  return expression;
}

}  // namespace eindb

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
  return splitter.add_part(expression, splitter.labels_of(*expression), {});
}

// One step on a Case none of whose arguments has more than one operand; the whole has more than two.
ScalarPtr split_case(const ScalarPtr& e, DType compute) {
  const auto& arguments = e->arguments();
  if (arguments.size() > 3) {
    const std::vector<ScalarPtr> rest(arguments.begin() + 2, arguments.end());
    return ScalarExpression::call(ScalarOp::Case,
                                  {arguments[0], arguments[1], ScalarExpression::call(ScalarOp::Case, rest)});
  }
  const auto zero = compute == DType::Int64 ? ScalarExpression::integer(0) : ScalarExpression::real(-0.0);
  return ScalarExpression::call(ScalarOp::Add,
                                {ScalarExpression::call(ScalarOp::Case, {arguments[0], arguments[1], zero}),
                                 ScalarExpression::call(ScalarOp::Case, {arguments[0], zero, arguments[2]})});
}

double cells_of(const VertexSplitter& splitter, const Operands& operands) {
  Labels labels;
  for (const auto operand : operands) append_distinct(labels, splitter.labels_of(operand));
  double cells = 1;
  for (const auto label : labels) cells *= static_cast<double>(splitter.labels().extent(label));
  return cells;
}

// The two operands of neighbouring arguments (those without operands aside) whose join has the fewest cells.
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

// One step on an operation with many arguments, none of which has more than one operand.
ScalarPtr split_arguments(VertexSplitter& splitter, const ScalarPtr& e, const std::vector<Operands>& of_argument) {
  const auto chosen = cheapest_neighbours(splitter, of_argument);
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

// One step towards fewer operands on an expression with more than two.
ScalarPtr split_once(VertexSplitter& splitter, const ScalarPtr& e) {
  std::vector<Operands> of_argument;
  std::optional<std::size_t> smallest;
  for (const auto& argument : e->arguments()) {
    of_argument.push_back(operands_of(*argument));
    const auto a = of_argument.size() - 1;
    if (of_argument[a].size() >= 2 && (!smallest || of_argument[a].size() < of_argument[*smallest].size()))
      smallest = a;
  }
  if (smallest) {
    auto arguments = e->arguments();
    auto& argument = arguments[*smallest];
    argument = of_argument[*smallest].size() == 2 ? make_part(splitter, argument) : split_once(splitter, argument);
    return ScalarExpression::call(e->op(), std::move(arguments));
  }
  if (e->op() == ScalarOp::Case) return split_case(e, splitter.vertex().compute_dtype);
  return split_arguments(splitter, e, of_argument);
}

}  // namespace

ScalarPtr split_to_two_operands(VertexSplitter& splitter, ScalarPtr expression) {
  while (operands_of(*expression).size() > 2) expression = split_once(splitter, expression);
  return expression;
}

}  // namespace eindb

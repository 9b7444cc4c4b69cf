#include "optimizer/paths/path_objective.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "optimizer/paths/contraction_network.hpp"

namespace eindb {
namespace {

constexpr std::array<std::pair<PathObjective, std::string_view>, 3> kObjectives{
    {{PathObjective::Flops, "flops"}, {PathObjective::Size, "size"}, {PathObjective::Mix, "mix"}}};

}  // namespace

std::string name_of(const PathObjective& objective) {
  const auto row =
      std::find_if(kObjectives.begin(), kObjectives.end(), [&](const auto& r) { return r.first == objective; });
  if (row != kObjectives.end()) return std::string(row->second);
  CHECK(!objective.by_size, "an objective by size has no weight");
  char text[32];
  std::snprintf(text, sizeof text, "weight %.6g", objective.weight);
  return text;
}

PathObjective parse_path_objective(std::string_view name) {
  std::string known;
  for (const auto& [objective, own] : kObjectives) {
    if (equal_ignoring_case(own, name)) return objective;
    known += (known.empty() ? "'" : ", '") + std::string(own) + "'";
  }
  throw Error(ErrorKind::Value, "there is no path objective '" + std::string(name) + "'", std::nullopt,
              "use one of " + known);
}

PathValue value_of(const ContractionPath& path, const PathObjective& objective) {
  return {objective.by_size ? path.largest_intermediate : 0, path.flops + objective.weight * path.elements_moved};
}

double priced_cost(const ContractionProblem& problem, const ResultPairs& pairs, const IntermediatePrice& price) {
  CHECK(pairs.size() + 1 == std::max<std::size_t>(1, problem.operands.size()), "a path that is priced is a whole one");
  ContractionNetwork network(problem);
  double cost = 0;
  for (const auto& [a, b] : pairs) {
    cost += network.flops(a, b);
    const auto result = network.contract(a, b);
    if (&pairs.back() != &pairs[result - problem.operands.size()]) cost += price(network.size(result));
  }
  return cost;
}

}  // namespace eindb

#include "engine/plans/query_plan.hpp"

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "parser/binder/parameter_scope.hpp"
#include "plan/held_bytes.hpp"

namespace eindb {
namespace {

Substitution substitution_of(const std::vector<ParameterValue>& values) {
  const auto value_of = [&values](std::size_t number) -> const ParameterValue& {
    CHECK(number < values.size(), "a plan runs with a value for each parameter");
    return values[number];
  };
  return {[value_of](std::size_t number) { return constant_of(value_of(number)); },
          [value_of](std::size_t number) { return std::get<std::int64_t>(value_of(number)); }};
}

}  // namespace

bool serves_indices(const QueryPlan& plan, const std::vector<ParameterValue>& values) {
  const auto serves = [&](const Vertex& vertex) {
    if (!vertex.stored || !vertex.stored->selection) return true;
    const auto& selection = *vertex.stored->selection;
    return std::all_of(selection.parameters.begin(), selection.parameters.end(), [&](const auto& held) {
      CHECK(held.second < values.size(), "a plan is looked for with a value for each parameter");
      const auto index = std::get<std::int64_t>(values[held.second]);
      return index_within(index, selection.stored.shape()[held.first]).has_value();
    });
  };
  const auto serves_place = [&](const RegionPlace& place) {
    if (!place.parameter) return true;
    const auto index = std::get<std::int64_t>(values.at(*place.parameter));
    return index_within(index, place.extent).has_value();
  };
  return std::all_of(plan.query.graph.vertices().begin(), plan.query.graph.vertices().end(), serves) &&
         std::all_of(plan.query.regions.begin(), plan.query.regions.end(), [&](const BoundRegion& region) {
           return std::all_of(region.places.begin(), region.places.end(), serves_place);
         });
}

PhysicalPlan with_values(PhysicalPlan plan, const std::vector<ParameterValue>& values) {
  const auto given = substitution_of(values);
  for (auto& step : plan.steps) {
    if (auto* compute = std::get_if<ComputeStep>(&step.op)) compute->join.substitute(given);
    if (auto* whole = std::get_if<FragmentStep>(&step.op))
      for (auto& node : whole->fragment.nodes) node.substitute(given);
  }
  return plan;
}

}  // namespace eindb

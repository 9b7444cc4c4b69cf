#include "optimizer/partitions/strategy_comparison.hpp"

#include <algorithm>
#include <limits>

#include "common/error.hpp"
#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/worker_choice.hpp"

namespace eindb {
namespace {

StrategyCosts costs_of(const Strategy& strategy, const Labelling& labelling) {
  StrategyCosts out{.strategy = strategy, .not_applicable = "", .received = std::nullopt, .bytes = std::nullopt};
  out.fewest_calls = std::numeric_limits<double>::infinity();
  for (const auto& vertex : labelling.vertices) {
    out.cost_join += vertex.cost_join;
    out.cost_agg += vertex.cost_agg;
    out.cost_repart += vertex.cost_repart;
    if (vertex.partition.labels.empty()) continue;
    const double calls = kernel_calls(vertex.partition.parts);
    out.fewest_calls = std::min(out.fewest_calls, calls);
    out.most_calls = std::max(out.most_calls, calls);
  }
  if (out.most_calls == 0) out.fewest_calls = out.most_calls = 1;
  out.cost_repart += labelling.cost_output;
  out.total_cost = labelling.total_cost;
  return out;
}

// `costs` gives those of a strategy.
template <class F>
std::vector<StrategyCosts> costs_of_all(const Strategy& chosen, F&& costs) {
  std::vector<StrategyCosts> out;
  for (auto strategy : all_strategies()) {
    if (strategy.kind == chosen.kind) strategy = chosen;
    try {
      out.push_back(costs(strategy));
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Label) throw;
      out.push_back(
          {.strategy = strategy, .not_applicable = e.message(), .received = std::nullopt, .bytes = std::nullopt});
    }
  }
  return out;
}

}  // namespace

std::vector<StrategyCosts> compare_strategies(const EinGraph& graph, const Strategy& chosen,
                                              const DecompositionOptions& options, std::int64_t workers) {
  if (workers > 0) return compare_strategies(graph, chosen, options, InputPlaces(graph, workers));
  return costs_of_all(chosen,
                      [&](const Strategy& strategy) { return costs_of(strategy, label(graph, strategy, options)); });
}

std::vector<StrategyCosts> compare_strategies(const EinGraph& graph, const Strategy& chosen,
                                              const DecompositionOptions& options, const InputPlaces& inputs,
                                              const CountedBytes& count) {
  return costs_of_all(chosen, [&](const Strategy& strategy) {
    const auto labelling = label_for_workers(graph, strategy, options, inputs, {.count = count});
    auto out = costs_of(strategy, labelling);
    out.received = place(graph, labelling, inputs).received;
    if (count) out.bytes = count(labelling);
    return out;
  });
}

}  // namespace eindb

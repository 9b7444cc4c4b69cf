#include "optimizer/strategy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <string>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "optimizer/eindecomp.hpp"

namespace eindb {
namespace {

// One row per strategy: everything that a name stands for.
struct StrategyRow {
  Strategy strategy;
  std::string_view name;
  Labelling (*label)(const EinGraph&, const DecompositionOptions&);
};

std::int64_t floor_power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value))));
}

Labelling label_sqrt(const EinGraph& graph, const DecompositionOptions& options) {
  const int halvings = std::bit_width(static_cast<std::uint64_t>(options.parallelism)) - 1;
  const auto root = std::int64_t{1} << (halvings / 2);
  std::vector<LabelPartition> partitions;
  for (const auto& vertex : graph.vertices()) {
    auto& partition = partitions.emplace_back();
    if (vertex.is_input()) continue;
    partition.labels = vertex.einsum.labels();
    for (const auto label : partition.labels)
      partition.parts.push_back(std::min(root, floor_power_of_two(graph.labels().extent(label))));
  }
  return evaluate(graph, std::move(partitions), options);
}

constexpr std::array kStrategies = std::to_array<StrategyRow>({
    {Strategy::EinDecomp, "eindecomp", decompose},
    {Strategy::Sqrt, "sqrt", label_sqrt},
});

const StrategyRow& row_of(Strategy strategy) {
  return *std::find_if(kStrategies.begin(), kStrategies.end(),
                       [&](const auto& row) { return row.strategy == strategy; });
}

}  // namespace

std::string_view name_of(Strategy strategy) { return row_of(strategy).name; }

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const auto& row : kStrategies) names.push_back(row.name);
  return names;
}

Strategy parse_strategy(std::string_view name) {
  std::string known;
  for (const auto& row : kStrategies) {
    if (equal_ignoring_case(row.name, name)) return row.strategy;
    known += (known.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  throw Error(ErrorKind::Value, "there is no strategy '" + std::string(name) + "'", std::nullopt,
              "use one of " + known);
}

Labelling label(const EinGraph& graph, Strategy strategy, const DecompositionOptions& options) {
  if (!is_power_of_two(options.parallelism)) {
    throw Error(ErrorKind::Value, "parallelism is " + std::to_string(options.parallelism) + ", not a power of two",
                std::nullopt, "use 1, 2, 4, 8, ...");
  }
  return row_of(strategy).label(graph, options);
}

}  // namespace eindb

#include "optimizer/redistribution/redistribution_planner.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "common/check.hpp"
#include "common/error.hpp"
#include "optimizer/redistribution/lowering.hpp"
#include "optimizer/redistribution/weak_path_search.hpp"

namespace eindb {
namespace {

// Limits on the paths examined, and on the most promising ones that are lowered.
constexpr std::size_t kMostPaths = 64;
constexpr std::size_t kMostLowered = 16;

std::int64_t holders(const BlockPlacement& placement) {
  return std::count_if(placement.at.begin(), placement.at.end(), [](const auto& key) { return key.has_value(); });
}

bool is_cheaper(const RedistributionPlan& a, const std::optional<RedistributionPlan>& b) {
  return !b || a.cost() < b->cost();
}

// A path with neighbouring operations merged, and a lower bound of its cost with a permutation.
struct Candidate {
  WeakPath path;
  double cost = 0;
};

// Paths by their lower bounds. A longer path may turn out cheaper because it needs no permutation, or permutes smaller
// blocks.
std::vector<Candidate> candidates(const WeakProblem& problem, const BlockPlacement& source,
                                  const BlockPlacement& target) {
  std::vector<Candidate> out;
  std::set<WeakPath> seen;
  WeakPathSearch search(problem);
  for (std::size_t n = 0; n < kMostPaths; ++n) {
    const auto path = search.next();
    if (!path) break;
    auto short_path = merged(problem.shape, path->types, problem.costs);
    CHECK(!short_path.empty() && short_path.front() == source.parts && short_path.back() == target.parts,
          "a path that was merged has the ends that it had");
    if (!seen.insert(short_path).second) continue;
    const auto cost = least_cost(problem.shape, source, target, short_path, problem.costs);
    out.push_back({std::move(short_path), cost});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
  return out;
}

std::optional<RedistributionPlan> cheapest_path(const Shape& shape, const BlockPlacement& source,
                                                const BlockPlacement& target, std::int64_t memory,
                                                const CollectiveCosts& costs) {
  const auto permutation = static_cast<double>(local_size(shape, target.parts)) + costs.latency(2);
  const WeakProblem problem{shape, holders(source), source.parts, target.parts, memory, permutation, costs};
  std::optional<RedistributionPlan> best;
  std::size_t lowered = 0;
  for (const auto& [path, least] : candidates(problem, source, target)) {
    if (lowered++ == kMostLowered || (best && best->cost() <= least)) break;
    auto plan = lower(shape, source, target, path, costs);
    if (is_cheaper(plan, best)) best = std::move(plan);
  }
  return best;
}

// The cheapest plan made of collectives; nullopt if none leads there.
std::optional<RedistributionPlan> plan_collectives(const Shape& shape, const BlockPlacement& source,
                                                   const BlockPlacement& target, const RedistributionOptions& options) {
  if (!is_collective(source, target)) return std::nullopt;
  const auto memory = std::max({largest_block(shape, source), largest_block(shape, target), options.memory});
  auto best = cheapest_path(shape, source, target, memory, options.costs);
  if (shape.element_count() <= memory) {
    auto fallback = gather_then_slice(shape, source, target, options.costs);
    if (is_cheaper(*fallback, best)) best = std::move(fallback);
  }
  return best;
}

}  // namespace

std::optional<RedistributionPlan> plan_redistribution(const Shape& shape, const BlockPlacement& source,
                                                      const BlockPlacement& target,
                                                      const RedistributionOptions& options) {
  if (source == target) return RedistributionPlan{shape, source, {}};
  return plan_collectives(shape, source, target, options);
}

std::optional<RedistributionPlan> plan_redistribution(const DistributedType& source, const DistributedType& target,
                                                      const RedistributionOptions& options) {
  const auto shape = source.global_shape();
  if (!(shape == target.global_shape())) {
    throw Error(ErrorKind::Shape, "no redistribution leads from " + source.to_string() + " to " + target.to_string() +
                                      ": these are tensors of different shapes");
  }
  if (!(source.mesh() == target.mesh())) {
    throw Error(ErrorKind::Value, "a redistribution stays on its mesh: " + source.mesh().to_string() + " is not " +
                                      target.mesh().to_string());
  }
  return plan_redistribution(shape, source.placement(), target.placement(), options);
}

std::optional<RedistributionPlan> gather_then_slice(const Shape& shape, const BlockPlacement& source,
                                                    const BlockPlacement& target, const CollectiveCosts& costs) {
  if (!is_collective(source, target)) return std::nullopt;
  const Partition whole(shape.rank(), 1);
  WeakPath path{source.parts};
  if (path.back() != whole) path.push_back(whole);
  if (path.back() != target.parts) path.push_back(target.parts);
  return lower(shape, source, target, path, costs);
}

}  // namespace eindb

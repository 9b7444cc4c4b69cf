#include "optimizer/partitions/worker_count.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/divisors.hpp"
#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/viable.hpp"

namespace eindb {
namespace {

// Points of label spaces, by the extents that can be cut, in ascending order.
using Work = std::map<std::vector<std::int64_t>, double>;

Work work_of(const EinGraph& graph) {
  Work work;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    double points = 1;
    for (const auto label : vertex.einsum.labels()) points *= static_cast<double>(graph.labels().extent(label));
    auto extents = cuttable_extents(vertex, graph.labels());
    std::erase_if(extents, [](auto extent) { return extent < 2; });
    std::sort(extents.begin(), extents.end());
    work[std::move(extents)] += points;
  }
  return work;
}

bool all_are_cut(const Work& work, std::int64_t workers) {
  return std::all_of(work.begin(), work.end(),
                     [&](const auto& part) { return viable_calls(part.first, workers) == workers; });
}

// The points of the worker that computes most.
double most_points(const Work& work, std::int64_t workers) {
  double points = 0;
  for (const auto& [extents, of_vertices] : work)
    points += of_vertices / static_cast<double>(viable_calls(extents, workers));
  return points;
}

// Numbers with larger prime factors than this cut small extents no better than their neighbours do.
bool has_small_factors(std::int64_t number) {
  constexpr std::int64_t kLargestFactor = 7;
  const auto factors = prime_factors(number);
  return factors.empty() || factors.back() <= kLargestFactor;
}

std::int64_t workers_by_extents(const EinGraph& graph, std::int64_t up) {
  if (is_power_of_two(up)) return up;
  const auto work = work_of(graph);
  if (all_are_cut(work, up)) return up;
  constexpr double kWorthIdling = 1 - 1e-9;
  auto best = up;
  auto least = most_points(work, up);
  const auto half = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(up)));
  for (auto workers = up - 1; workers >= half; --workers) {
    if (!has_small_factors(workers)) continue;
    const auto points = most_points(work, workers);
    if (points >= kWorthIdling * least) continue;
    best = workers;
    least = points;
  }
  return best;
}

}  // namespace

WorkerCount count_workers(const EinGraph& graph, std::int64_t up, std::optional<std::int64_t> wanted) {
  CHECK(up > 0 && wanted.value_or(1) > 0, "some workers make some calls");
  if (wanted && *wanted < up) return {up - up % *wanted, *wanted};
  const auto workers = workers_by_extents(graph, up);
  return {workers, wanted ? workers * ceil_divide(*wanted, workers) : workers};
}

}  // namespace eindb

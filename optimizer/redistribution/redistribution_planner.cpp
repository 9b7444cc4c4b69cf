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

// Chooses, among the holders of a block that others want, the one that has sent the least.
class SenderChoice {
 public:
  SenderChoice(const Shape& shape, const BlockPlacement& source) : shape_(shape), source_(source) {
    sent_.assign(source.at.size(), 0);
    const TileGrid grid(shape, source.parts);
    holders_.resize(static_cast<std::size_t>(grid.tile_count()));
    for (std::size_t rank = 0; rank < source.at.size(); ++rank)
      if (source.at[rank]) holders_[id(grid, *source.at[rank])].push_back(static_cast<Rank>(rank));
  }

  // The ranks from which `rank` takes the parts that it lacks of its block of `target`.
  RankGroup senders_to(std::size_t rank, const BlockPlacement& target) {
    RankGroup out;
    if (!target.at[rank]) return out;
    const TileGrid grid(shape_, source_.parts);
    const auto wanted = block_box(shape_, target, rank);
    TileKey first;
    std::vector<std::int64_t> counts;
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      if (wanted[d].size == 0) return out;
      first.push_back(part_of(shape_[d], source_.parts[d], wanted[d].begin));
      counts.push_back(part_of(shape_[d], source_.parts[d], wanted[d].end() - 1) - first.back() + 1);
    }
    std::vector<std::int64_t> step(counts.size(), 0);
    do {
      auto key = first;
      for (std::size_t d = 0; d < key.size(); ++d) key[d] += step[d];
      if (source_.at[rank] != key) out.push_back(take(holders_[id(grid, key)], grid.tile_shape(key).element_count()));
    } while (next_index(step, counts));
    return out;
  }

 private:
  static std::size_t id(const TileGrid& grid, const TileKey& key) { return static_cast<std::size_t>(grid.id_of(key)); }

  Rank take(const std::vector<Rank>& holders, std::int64_t elements) {
    CHECK(!holders.empty(), "every block that is wanted has a holder");
    const auto least =
        *std::min_element(holders.begin(), holders.end(), [&](Rank a, Rank b) { return sent_[a] < sent_[b]; });
    DCHECK(elements >= 0 && sent_[least] >= 0, "elements that a rank sends are counted up");
    sent_[least] += elements;
    return least;
  }

  const Shape& shape_;
  const BlockPlacement& source_;
  std::vector<std::int64_t> sent_;
  std::vector<std::vector<Rank>> holders_;  // for each block
};

// The cost of the busiest rank of a direct exchange: elements received, and packed ones (kept, or not contiguous).
double busiest_cost(const Shape& shape, const BlockPlacement& before, const BlockPlacement& after,
                    const std::vector<RankGroup>& senders, double per_packed_element) {
  std::vector<double> costs(senders.size(), 0);
  const auto pack = [&](std::size_t rank, const IndexBox& piece) {
    costs[rank] += per_packed_element * static_cast<double>(element_count(piece));
  };
  for (std::size_t rank = 0; rank < senders.size(); ++rank) {
    if (!after.at[rank]) continue;
    const auto wanted = block_box(shape, after, rank);
    if (before.at[rank]) pack(rank, common_box(wanted, block_box(shape, before, rank)));
    for (const auto sender : senders[rank]) {
      const auto held = block_box(shape, before, sender);
      const auto piece = common_box(wanted, held);
      costs[rank] += static_cast<double>(element_count(piece));
      if (!is_contiguous(wanted, piece)) pack(rank, piece);
      if (!is_contiguous(held, piece)) pack(sender, piece);
    }
  }
  CHECK(!costs.empty(), "a placement has ranks");
  return *std::max_element(costs.begin(), costs.end());
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

RedistributionPlan plan_redistribution(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                                       const RedistributionOptions& options) {
  if (source == target) return {shape, source, {}};
  auto best = plan_collectives(shape, source, target, options);
  if (best && !options.allow_direct) return std::move(*best);
  auto direct = exchange_directly(shape, source, target, options.costs);
  return is_cheaper(direct, best) ? std::move(direct) : std::move(*best);
}

RedistributionPlan plan_redistribution(const DistributedType& source, const DistributedType& target,
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

RedistributionPlan exchange_directly(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                                     const CollectiveCosts& costs) {
  SenderChoice choice(shape, source);
  CHECK(source.at.size() == target.at.size(), "a tensor is sent among the ranks of one mesh");
  DirectExchange exchange;
  std::size_t most_senders = 0;
  for (std::size_t rank = 0; rank < target.at.size(); ++rank) {
    exchange.senders.push_back(choice.senders_to(rank, target));
    most_senders = std::max(most_senders, exchange.senders.back().size());
  }
  auto cost = busiest_cost(shape, source, target, exchange.senders, costs.per_packed_element);
  if (most_senders > 0) cost += costs.per_direct_exchange + costs.latency(static_cast<std::int64_t>(most_senders) + 1);
  return {shape, source, {{std::move(exchange), target, cost}}};
}

}  // namespace eindb

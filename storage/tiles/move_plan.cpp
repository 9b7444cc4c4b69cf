#include "storage/tiles/move_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

using Standing = TilePlace::Standing;

bool contains(const std::vector<WorkerNumber>& workers, WorkerNumber worker) {
  return std::find(workers.begin(), workers.end(), worker) != workers.end();
}

/// Plans moves one after the other, and knows what each worker will have then.
class Planner {
 public:
  Planner(const TilePlaces& places, const MoveRules& rules) : places_(places), rules_(rules) {
    for (const auto& [number, place] : places)
      if (place.takes) loads_[number] = 0;
  }

  void count(const ShardedTile& tile) {
    for (const auto worker : tile.reference.workers)
      if (const auto load = loads_.find(worker); load != loads_.end()) load->second += bytes_of(tile);
  }

  /// Brings the tile to its number of copies at workers that stay, as far as that is possible.
  void keep_copies(const ShardedTile& tile);
  /// Gives workers with little the share of these tiles, which are those of a tensor, that all others have.
  void share(const ShardedTile* first, const ShardedTile* end);
  bool find_light_workers() {
    light_ = light_workers();
    return !light_.empty();
  }

  MovePlan take() && {
    std::stable_sort(plan_.moves.begin(), plan_.moves.end(),
                     [&](const TileMove& a, const TileMove& b) { return urgency(a) < urgency(b); });
    return std::move(plan_);
  }
  bool is_idle() const { return plan_.moves.empty(); }

 private:
  static std::int64_t bytes_of(const ShardedTile& tile) { return static_cast<std::int64_t>(tile.reference.bytes); }

  const TilePlace& place(WorkerNumber worker) const {
    const auto found = places_.find(worker);
    CHECK(found != places_.end(), "every worker that a tile refers to has a place");
    return found->second;
  }

  // The fewer copies are left of a tile, the sooner it is copied.
  std::ptrdiff_t urgency(const TileMove& move) const {
    if (move.added.empty()) return 0;
    return std::count_if(move.tile.reference.workers.begin(), move.tile.reference.workers.end(),
                         [&](WorkerNumber worker) { return place(worker).standing != Standing::Missed; });
  }

  std::vector<WorkerNumber> sources_of(const ShardedTile& tile) const {
    std::vector<WorkerNumber> sources;
    for (const auto worker : tile.reference.workers)
      if (place(worker).is_there) sources.push_back(worker);
    return sources;
  }

  bool takes(WorkerNumber worker, const ShardedTile& tile, const std::vector<WorkerNumber>& besides) const {
    return !contains(tile.reference.workers, worker) && !contains(besides, worker) &&
           place(worker).bytes_free - arriving_of(worker) > bytes_of(tile) &&
           !(rules_.is_refused && rules_.is_refused(worker, tile.reference.content));
  }
  std::int64_t arriving_of(WorkerNumber worker) const {
    const auto found = arriving_.find(worker);
    return found == arriving_.end() ? 0 : found->second;
  }

  std::optional<WorkerNumber> target_for(const ShardedTile& tile, const std::vector<WorkerNumber>& besides) const {
    std::optional<WorkerNumber> best;
    for (const auto& [worker, load] : loads_)
      if (takes(worker, tile, besides) && (!best || load < loads_.at(*best))) best = worker;
    return best;
  }

  void add(TileMove move) {
    for (const auto worker : move.added) {
      loads_[worker] += bytes_of(move.tile);
      arriving_[worker] += bytes_of(move.tile);
    }
    for (const auto worker : move.removed)
      if (const auto load = loads_.find(worker); load != loads_.end()) load->second -= bytes_of(move.tile);
    plan_.moves.push_back(std::move(move));
  }

  void count_leaving(const ShardedTile& tile, bool is_stuck) {
    for (const auto worker : tile.reference.workers) {
      if (place(worker).standing == Standing::Stays) continue;
      auto& leaving = plan_.leaving[worker];
      ++leaving.tiles;
      leaving.bytes += bytes_of(tile);
      leaving.stuck += is_stuck ? 1 : 0;
    }
  }

  std::int64_t mean_load() const {
    std::int64_t sum = 0;
    for (const auto& [worker, load] : loads_) sum += load;
    return loads_.empty() ? 0 : sum / static_cast<std::int64_t>(loads_.size());
  }
  std::vector<WorkerNumber> light_workers() const {
    const auto mean = mean_load();
    std::vector<WorkerNumber> light;
    for (const auto& [worker, load] : loads_)
      if (load < mean / 2 && mean - load > rules_.least_imbalance) light.push_back(worker);
    return light;
  }

  const TilePlaces& places_;
  const MoveRules& rules_;
  std::map<WorkerNumber, std::int64_t> loads_;     // bytes of workers that take copies, after the moves
  std::map<WorkerNumber, std::int64_t> arriving_;  // bytes that moves bring
  std::vector<WorkerNumber> light_;                // that get more, as of before the first of these moves
  MovePlan plan_;
};

void Planner::keep_copies(const ShardedTile& tile) {
  const auto& holders = tile.reference.workers;
  const auto wanted = static_cast<std::size_t>(std::max(tile.tensor->replicas, 1));
  std::size_t staying = 0;
  for (const auto worker : holders) staying += place(worker).standing == Standing::Stays ? 1 : 0;
  if (staying == holders.size() && staying >= wanted) return;
  TileMove move{.tile = tile, .sources = sources_of(tile), .added = {}, .removed = {}};
  if (!move.sources.empty())
    while (staying + move.added.size() < wanted) {
      const auto target = target_for(tile, move.added);
      if (!target) break;
      move.added.push_back(*target);
    }
  const auto reached = staying + move.added.size();
  // Copies at workers that do not stay are kept as far as there are none in their place, first those that can be read.
  auto spare = wanted > reached ? wanted - reached : 0;
  for (const auto kept : {Standing::Leaving, Standing::Missed})
    for (const auto worker : holders) {
      if (place(worker).standing != kept) continue;
      if (spare > 0) --spare;
      else move.removed.push_back(worker);
    }
  const bool is_stuck = reached < wanted;
  count_leaving(tile, is_stuck);
  if (staying < wanted) {
    ++plan_.lacking.tiles;
    plan_.lacking.bytes += bytes_of(tile) * static_cast<std::int64_t>(wanted - staying);
    plan_.lacking.stuck += is_stuck ? 1 : 0;
  }
  if (!move.added.empty() || !move.removed.empty()) add(std::move(move));
}

void Planner::share(const ShardedTile* first, const ShardedTile* end) {
  std::map<WorkerNumber, std::int64_t> parts;  // of this tensor
  std::int64_t all = 0;
  for (const auto& [worker, load] : loads_) parts[worker] = 0;
  for (const auto* tile = first; tile != end; ++tile)
    for (const auto worker : tile->reference.workers)
      if (const auto part = parts.find(worker); part != parts.end()) {
        part->second += bytes_of(*tile);
        all += bytes_of(*tile);
      }
  const auto share = all / static_cast<std::int64_t>(parts.size());
  // From the back, so that workers keep runs of tiles.
  for (const auto* tile = end; tile != first;) {
    --tile;
    for (const auto worker : light_) {
      if (parts[worker] + bytes_of(*tile) > share || !takes(worker, *tile, {})) continue;
      std::optional<WorkerNumber> giver;
      for (const auto holder : tile->reference.workers)
        if (parts.contains(holder) && !contains(light_, holder) && parts[holder] - bytes_of(*tile) >= share &&
            (!giver || parts[holder] > parts[*giver]))
          giver = holder;
      if (!giver) break;
      parts[worker] += bytes_of(*tile);
      parts[*giver] -= bytes_of(*tile);
      ++plan_.balancing;
      add({.tile = *tile, .sources = sources_of(*tile), .added = {worker}, .removed = {*giver}});
      break;
    }
  }
}

}  // namespace

std::vector<WorkerNumber> TileMove::workers() const {
  std::vector<WorkerNumber> out;
  for (const auto worker : tile.reference.workers)
    if (!contains(removed, worker)) out.push_back(worker);
  out.insert(out.end(), added.begin(), added.end());
  return out;
}

MovePlan plan_moves(const std::vector<ShardedTile>& tiles, const TilePlaces& places, const MoveRules& rules) {
  Planner planner(places, rules);
  for (const auto& tile : tiles) planner.count(tile);
  for (const auto& tile : tiles) planner.keep_copies(tile);
  if (planner.is_idle() && planner.find_light_workers()) {
    const auto* const end = tiles.data() + tiles.size();
    for (const auto* first = tiles.data(); first != end;) {
      const auto* next =
          std::find_if(first, end, [&](const ShardedTile& tile) { return tile.tensor != first->tensor; });
      planner.share(first, next);
      first = next;
    }
  }
  return std::move(planner).take();
}

}  // namespace eindb

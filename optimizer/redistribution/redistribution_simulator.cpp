#include "optimizer/redistribution/redistribution_simulator.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

// A range of cells along one dimension, and a box of such ranges.
struct CellRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
using CellBox = std::vector<CellRange>;

CellBox common(const CellBox& a, const CellBox& b) {
  CellBox out;
  for (std::size_t d = 0; d < a.size(); ++d)
    out.push_back({std::max(a[d].begin, b[d].begin), std::max({a[d].begin, b[d].begin, std::min(a[d].end, b[d].end)})});
  return out;
}

// The cells of a tensor: each dimension is cut wherever a grid of the plan cuts it.
class Cells {
 public:
  explicit Cells(const RedistributionPlan& plan) {
    std::vector<std::set<std::int64_t>> cuts(plan.shape.rank());
    for (std::size_t d = 0; d < cuts.size(); ++d) cuts[d] = {0, plan.shape[d]};
    add(cuts, plan.shape, plan.source.parts);
    for (const auto& step : plan.steps) add(cuts, plan.shape, step.result.parts);
    for (const auto& list : cuts) cuts_.emplace_back(list.begin(), list.end());
  }

  CellBox box(const IndexBox& block) const {
    CellBox out;
    for (std::size_t d = 0; d < block.size(); ++d) out.push_back({place(d, block[d].begin), place(d, block[d].end())});
    return out;
  }

  std::int64_t elements(const CellBox& box) const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < box.size(); ++d)
      count *= cuts_[d][static_cast<std::size_t>(box[d].end)] - cuts_[d][static_cast<std::size_t>(box[d].begin)];
    return count;
  }

  // The row-major number of a cell.
  std::int64_t number(const std::vector<std::int64_t>& cell) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < cell.size(); ++d)
      number = number * static_cast<std::int64_t>(cuts_[d].size()) + cell[d];
    return number;
  }

 private:
  static void add(std::vector<std::set<std::int64_t>>& cuts, const Shape& shape, const Partition& parts) {
    for (std::size_t d = 0; d < cuts.size(); ++d)
      for (std::int64_t q = 1; q < parts[d]; ++q) cuts[d].insert(part_range(shape[d], parts[d], q).begin);
  }

  std::int64_t place(std::size_t d, std::int64_t index) const {
    return std::lower_bound(cuts_[d].begin(), cuts_[d].end(), index) - cuts_[d].begin();
  }

  std::vector<std::vector<std::int64_t>> cuts_;
};

// Calls f with each cell of a box, row-major.
template <class F>
void for_each_cell(const CellBox& box, const F& f) {
  std::vector<std::int64_t> counts;
  for (const auto& range : box) counts.push_back(range.end - range.begin);
  if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return;
  std::vector<std::int64_t> step(box.size(), 0);
  std::vector<std::int64_t> cell(box.size(), 0);
  do {
    for (std::size_t d = 0; d < box.size(); ++d) cell[d] = box[d].begin + step[d];
    f(cell);
  } while (next_index(step, counts));
}

// The tile of one rank: the values of a box of cells, row-major. A cell's value is its number, or kMissing.
class VirtualTile {
 public:
  static constexpr std::int64_t kMissing = -1;

  VirtualTile() = default;
  explicit VirtualTile(CellBox box) : box_(std::move(box)) {
    std::int64_t count = 1;
    for (const auto& range : box_) count *= range.end - range.begin;
    values_.assign(static_cast<std::size_t>(count), kMissing);
  }

  const CellBox& box() const { return box_; }
  std::int64_t& at(const std::vector<std::int64_t>& cell) { return values_[place(cell)]; }
  std::int64_t at(const std::vector<std::int64_t>& cell) const { return values_[place(cell)]; }

  // Copies the cells that `other` has of this tile's box.
  void take(const VirtualTile& other) {
    for_each_cell(common(box_, other.box_), [&](const auto& cell) { at(cell) = other.at(cell); });
  }

 private:
  std::size_t place(const std::vector<std::int64_t>& cell) const {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < cell.size(); ++d)
      place = place * (box_[d].end - box_[d].begin) + cell[d] - box_[d].begin;
    return static_cast<std::size_t>(place);
  }

  CellBox box_;
  std::vector<std::int64_t> values_;
};

class Simulation {
 public:
  explicit Simulation(const RedistributionPlan& plan) : plan_(plan), cells_(plan), tiles_(plan.source.at.size()) {
    for (std::size_t rank = 0; rank < tiles_.size(); ++rank) {
      if (!plan.source.at[rank]) continue;
      tiles_[rank].emplace(block(plan.source, rank));
      for_each_cell(tiles_[rank]->box(), [&](const auto& cell) { tiles_[rank]->at(cell) = cells_.number(cell); });
    }
  }

  SimulatedRedistribution run() {
    note_peak();
    for (const auto& step : plan_.steps) {
      CHECK(step.result.at.size() == tiles_.size(), "a step places blocks at all ranks");
      received_.assign(tiles_.size(), 0);
      next_.assign(tiles_.size(), std::nullopt);
      std::visit([&](const auto& collective) { run(collective, step.result); }, step.collective);
      tiles_ = std::move(next_);
      verify(step.result);
      note_traffic();
      note_peak();
    }
    return out_;
  }

 private:
  CellBox block(const BlockPlacement& placement, std::size_t rank) const {
    return cells_.box(block_box(plan_.shape, placement, rank));
  }

  void run(const DynSlice&, const BlockPlacement& after) {
    for (std::size_t rank = 0; rank < tiles_.size(); ++rank)
      if (tiles_[rank]) receive(rank, {}, after);
  }

  void run(const AllGather& collective, const BlockPlacement& after) { run_groups(collective.groups, after); }
  void run(const AllToAll& collective, const BlockPlacement& after) { run_groups(collective.groups, after); }

  // Ranks without a group end up without a tile, which verify() reports.
  void run_groups(const std::vector<RankGroup>& groups, const BlockPlacement& after) {
    for (const auto& group : groups)
      for (const auto rank : group) receive(rank, group, after);
  }

  // A permutation sends each block to one rank, and each rank receives one.
  void run(const AllPermute& collective, const BlockPlacement& after) {
    std::vector<bool> sent(tiles_.size(), false);
    for (std::size_t rank = 0; rank < tiles_.size(); ++rank) {
      const auto from = collective.from[rank];
      CHECK(from < sent.size(), "a permutation is among the ranks of its plan");
      CHECK(!sent[from], "a permutation takes each rank's block once");
      sent[from] = true;
      if (after.at[rank]) receive(rank, {from}, after);
    }
  }

  // Builds a rank's next tile from its own cells and those of `senders`.
  void receive(std::size_t rank, const RankGroup& senders, const BlockPlacement& after) {
    CHECK(!next_[rank], "a rank takes part in a step once");
    auto& tile = next_[rank].emplace(block(after, rank));
    if (tiles_[rank]) tile.take(*tiles_[rank]);
    for (const auto sender : senders) {
      if (sender == rank) continue;
      CHECK(tiles_[sender].has_value(), "who sends holds a block");
      received_[rank] += cells_.elements(common(tile.box(), tiles_[sender]->box()));
      tile.take(*tiles_[sender]);
    }
  }

  void verify(const BlockPlacement& placement) const {
    for (std::size_t rank = 0; rank < tiles_.size(); ++rank) {
      CHECK(tiles_[rank].has_value() == placement.at[rank].has_value(), "ranks hold blocks where the plan says so");
      if (!tiles_[rank]) continue;
      for_each_cell(block(placement, rank), [&](const auto& cell) {
        CHECK(tiles_[rank]->at(cell) == cells_.number(cell), "every cell of a block is there, and in its place");
      });
    }
  }

  void note_traffic() {
    out_.received += std::accumulate(received_.begin(), received_.end(), std::int64_t{0});
    out_.most_received += *std::max_element(received_.begin(), received_.end());
  }

  void note_peak() {
    for (const auto& tile : tiles_)
      if (tile) out_.peak = std::max(out_.peak, cells_.elements(tile->box()));
  }

  const RedistributionPlan& plan_;
  const Cells cells_;
  std::vector<std::optional<VirtualTile>> tiles_;
  std::vector<std::optional<VirtualTile>> next_;
  std::vector<std::int64_t> received_;
  SimulatedRedistribution out_;
};

}  // namespace

SimulatedRedistribution simulate(const RedistributionPlan& plan) { return Simulation(plan).run(); }

}  // namespace eindb

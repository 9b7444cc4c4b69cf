#include "storage/cells/cell_walk.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {
namespace {

[[maybe_unused]] bool has_each_dimension_once(const WalkOrder& order) {
  std::vector<bool> seen(order.steps.size(), false);
  for (const auto& step : order.steps) {
    if (step.dimension >= seen.size() || seen[step.dimension]) return false;
    seen[step.dimension] = true;
  }
  return true;
}

[[maybe_unused]] bool is_within(std::span<const IndexRange> box, const Shape& shape) {
  for (std::size_t d = 0; d < box.size(); ++d)
    if (box[d].begin < 0 || box[d].end > shape[d]) return false;
  return true;
}

}  // namespace

WalkOrder WalkOrder::natural(std::size_t rank) {
  WalkOrder order;
  for (std::size_t d = 0; d < rank; ++d) order.steps.push_back({.dimension = d});
  return order;
}

std::vector<WalkLoop> loops_of(const WalkOrder& order) {
  std::vector<WalkLoop> loops;
  for (std::size_t s = 0; s < order.steps.size(); ++s) {
    loops.push_back({.step = s, .over_parts = true});
    if (!order.by_tile) loops.push_back({.step = s, .over_parts = false});
  }
  for (std::size_t s = 0; order.by_tile && s < order.steps.size(); ++s)
    loops.push_back({.step = s, .over_parts = false});
  return loops;
}

bool is_sorted(const WalkOrder& order, std::size_t count, const TileGrid& grid, const std::vector<bool>& fixed) {
  // Loops with a single iteration do not matter. The rest must start with the loops of the first step, then those of
  // the second, and so on.
  DCHECK(fixed.size() == grid.rank() && count <= order.steps.size(), "an order is judged by its own steps");
  auto loops = loops_of(order);
  std::erase_if(loops, [&](const WalkLoop& loop) {
    const auto d = order.steps[loop.step].dimension;
    return fixed[d] || (loop.over_parts ? grid.partition()[d] == 1 : grid.largest(d) <= 1);
  });
  const auto relevant = [&](const WalkLoop& loop) { return loop.step < count; };
  const auto end = std::find_if_not(loops.begin(), loops.end(), relevant);
  const auto by_step = [](const WalkLoop& a, const WalkLoop& b) { return a.step < b.step; };
  return std::none_of(end, loops.end(), relevant) && std::is_sorted(loops.begin(), end, by_step);
}

bool is_in_order_of_tiles(const WalkOrder& order, const TileGrid& grid, const std::vector<bool>& fixed) {
  // The loops over the parts, outermost first, before every loop over indices that revisits them.
  std::optional<std::size_t> last;
  bool over_indices = false;
  for (const auto& loop : loops_of(order)) {
    const auto& step = order.steps[loop.step];
    if (fixed[step.dimension]) continue;
    if (!loop.over_parts) {
      over_indices = over_indices || grid.largest(step.dimension) > 1;
      continue;
    }
    if (grid.partition()[step.dimension] == 1) continue;
    if (over_indices || step.descending || (last && *last > step.dimension)) return false;
    last = step.dimension;
  }
  return true;
}

CellWalk::CellWalk(const TileGrid& grid)
    : grid_(grid),
      tile_id_strides_(grid.rank(), 1),
      axes_(grid.rank()),
      index_(std::max<std::size_t>(1, grid.rank()), 0),
      tile_strides_(grid.rank(), 1) {
  for (std::size_t d = grid.rank(); d-- > 1;) tile_id_strides_[d - 1] = tile_id_strides_[d] * grid.partition()[d];
}

void CellWalk::start(const WalkOrder& order, std::span<const IndexRange> box) {
  DCHECK(order.steps.size() == grid_.rank() && box.size() == grid_.rank(), "a walk covers each dimension");
  started_ = false;
  tile_entered_ = false;
  empty_ = std::any_of(box.begin(), box.end(), [](const IndexRange& range) { return range.empty(); });
  if (empty_) return;
  DCHECK(has_each_dimension_once(order), "a walk has a step for each dimension");
  DCHECK(is_within(box, grid_.shape()), "a walk stays within its tensor");
  for (const auto& step : order.steps) set_axis(step.dimension, step.descending, box[step.dimension]);
  std::vector<bool> fixed;
  for (const auto& axis : axes_)
    fixed.push_back(axis.first_part == axis.last_part && axis.box.end - axis.box.begin == 1);
  in_order_of_tiles_ = eindb::is_in_order_of_tiles(order, grid_, fixed);

  loops_.clear();
  along_run_ = false;
  for (const auto& [step, over_parts] : loops_of(order)) {
    const auto d = order.steps[step].dimension;
    const auto& axis = axes_[d];
    if (over_parts ? axis.first_part != axis.last_part : axis.box.end - axis.box.begin > 1)
      loops_.push_back({.dimension = d, .over_parts = over_parts});
  }
  // The innermost loop, if there is one, is over indices: a part holds several, or the loop over parts follows its own
  // indices.
  if (!loops_.empty() && !loops_.back().over_parts) {
    along_run_ = true;
    run_.dimension = loops_.back().dimension;
    run_.step = axes_[run_.dimension].descending ? -1 : 1;
    loops_.pop_back();
  }
}

void CellWalk::set_axis(std::size_t dimension, bool descending, IndexRange box) {
  auto& axis = axes_[dimension];
  axis.descending = descending;
  axis.box = box;
  axis.first_part = grid_.part_at(dimension, box.begin);
  axis.last_part = box.end - box.begin == 1 ? axis.first_part : grid_.part_at(dimension, box.end - 1);
  if (descending) std::swap(axis.first_part, axis.last_part);
  enter_part(dimension, axis.first_part);
}

void CellWalk::enter_part(std::size_t dimension, std::int64_t part) {
  auto& axis = axes_[dimension];
  axis.part = part;
  axis.tile = grid_.range(dimension, part);
  axis.visible = {std::max(axis.box.begin, axis.tile.begin), std::min(axis.box.end, axis.tile.end())};
  DCHECK(!axis.visible.empty(), "a walk goes through parts that its box meets");
  index_[dimension] = axis.first();
  tile_entered_ = false;
}

bool CellWalk::step(const Loop& loop) {
  const auto& axis = axes_[loop.dimension];
  const std::int64_t next = axis.descending ? -1 : 1;
  if (loop.over_parts) {
    const bool last = axis.part == axis.last_part;
    enter_part(loop.dimension, last ? axis.first_part : axis.part + next);
    return !last;
  }
  auto& index = index_[loop.dimension];
  const bool last = index == axis.last();
  index = last ? axis.first() : index + next;
  return !last;
}

bool CellWalk::advance() {
  // Advances like an odometer: the innermost loop first, and each loop restarts when the next outer one moves.
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop)
    if (step(*loop)) return true;
  return false;
}

bool CellWalk::next_run() {
  if (empty_) return false;
  if (std::exchange(started_, true)) {
    if (along_run_) index_[run_.dimension] = axes_[run_.dimension].first();
    if (!advance()) return false;
  }
  if (!tile_entered_) enter_tile();
  describe_run();
  return true;
}

// The loops within the part loops are as in their last round.
void CellWalk::leave_tile() {
  for (auto loop = loops_.rbegin(); loop != loops_.rend() && !loop->over_parts; ++loop)
    index_[loop->dimension] = axes_[loop->dimension].last();
}

void CellWalk::go_on_from(std::int64_t tile_id) {
  DCHECK(in_order_of_tiles_ && tile_id >= run_.tile_id, "a walk by tiles goes forward");
  if (tile_id >= grid_.tile_count()) return end();
  TileWindow visited;
  for (const auto& axis : axes_) {
    // A dimension whose parts come in descending order has one part.
    visited.begin.push_back(axis.first_part);
    visited.size.push_back(axis.last_part + 1 - axis.first_part);
  }
  const auto key = visited.next(grid_.key_of(tile_id));
  if (!key) return end();
  for (std::size_t d = 0; d < key->size(); ++d) enter_part(d, (*key)[d]);
  started_ = false;
}

void CellWalk::enter_tile() {
  tile_entered_ = true;
  run_.tile_id = 0;
  std::int64_t stride = 1;
  for (std::size_t d = axes_.size(); d-- > 0;) {
    run_.tile_id += axes_[d].part * tile_id_strides_[d];
    tile_strides_[d] = stride;
    stride *= axes_[d].tile.size;
  }
  DCHECK(run_.tile_id >= 0 && run_.tile_id < grid_.tile_count(), "a walk goes through tiles of its grid");
}

void CellWalk::describe_run() {
  run_.offset = 0;
  for (std::size_t d = 0; d < axes_.size(); ++d) run_.offset += (index_[d] - axes_[d].tile.begin) * tile_strides_[d];
  if (!along_run_) {
    run_.length = 1;
    return;
  }
  const auto& axis = axes_[run_.dimension];
  run_.length = axis.visible.end - axis.visible.begin;
  run_.stride = run_.step * tile_strides_[run_.dimension];
}

}  // namespace eindb

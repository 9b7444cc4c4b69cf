#include "executor/stage.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {

namespace {

// The parts of an extent that overlap a range, which may lie outside of it.
AxisRange parts_overlapping(std::int64_t extent, std::int64_t parts, std::int64_t begin, std::int64_t end) {
  begin = std::max<std::int64_t>(begin, 0);
  end = std::min(end, extent);
  if (begin >= end) return {};
  const auto first = part_of(extent, parts, begin);
  return {first, part_of(extent, parts, end - 1) - first + 1};
}

}  // namespace

AxisRange AxisCut::tiles_of(std::int64_t task) const {
  DCHECK(task >= 0 && task < tasks, "a task is one of its axis");
  if (reach) {
    const auto range = reach->range(extent, tasks, task);
    return parts_overlapping(extent, tiles, range.begin, range.end());
  }
  if (length < 0 && tasks == tiles) return {task, 1};
  const auto range = part_range(extent, tasks, task);
  return parts_overlapping(length < 0 ? extent : length, tiles, range.begin - begin, range.end() - begin);
}

AxisRange AxisCut::tasks_of(std::int64_t tile) const {
  DCHECK(tile >= 0 && tile < tiles, "a tile is one of its axis");
  if (reach) {
    const auto found = reach->parts_over(extent, tasks, part_range(extent, tiles, tile));
    return {found.begin, found.size};
  }
  if (length < 0 && tasks == tiles) return {tile, 1};
  const auto range = part_range(length < 0 ? extent : length, tiles, tile);
  return parts_overlapping(extent, tasks, range.begin + begin, range.end() + begin);
}

void Stage::find_task(std::int64_t task, std::vector<std::int64_t>& at) const {
  at.resize(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    at[a] = task % axes[a].tasks;
    task /= axes[a].tasks;
  }
  DCHECK(task == 0, "a task is one of its stage");
}

// Tiles of the result are counted in the whole grid, chunks within the slice.
AxisRange Stage::tiles_along(const Link::Cut& cut, std::int64_t coordinate, std::int64_t begin) const {
  if (!axes[cut.axis].aggregated) return cut.cut.tiles_of(coordinate + begin);
  const auto range = cut.cut.tiles_of(coordinate);
  return {range.begin + begin, range.size};
}

std::int64_t Stage::tiles_read(const Link& link, std::span<const std::int64_t> task,
                               std::span<const std::int64_t> begin) const {
  DCHECK(task.size() == axes.size() && begin.size() == axes.size(), "a task has a coordinate per axis");
  std::int64_t count = 1;
  for (const auto& cut : link.cuts) count *= tiles_along(cut, task[cut.axis], begin[cut.axis]).size;
  return count;
}

// A tile of several slices is counted for all of them: along an axis of the result by its overlap with the whole grid;
// along an aggregated axis it lies in one chunk of one slice, unless it is read in parts.
std::int64_t Stage::reads(const Link& link, const TileKey& key) const {
  auto count = link.repeats * task_count;
  for (std::size_t n = 0; n < link.cuts.size(); ++n) {
    const auto& [axis, cut] = link.cuts[n];
    count /= axes[axis].tasks;
    const auto d = static_cast<std::size_t>(std::find(link.dims.begin(), link.dims.end(), n) - link.dims.begin());
    DCHECK(d < link.dims.size(), "a cut is of a dimension of the source");
    if (!axes[axis].aggregated || link.in_parts) count *= cut.tasks_of(key[d]).size;
  }
  return count;
}

// Finds the box of the tasks that read c.key: the overlapping tasks along axes that the tile has, all tasks along the
// others.
bool Stage::find_readers(const Link& link, std::span<const std::int64_t> begin, Coordinates& c) const {
  DCHECK(c.key.size() == link.dims.size(), "a tile that is read has a coordinate per dimension");
  c.box.clear();
  for (const auto& axis : axes) c.box.push_back({0, axis.tasks});
  c.at.assign(link.cuts.size(), -1);
  for (std::size_t d = 0; d < link.dims.size(); ++d) {
    auto& at = c.at[link.dims[d]];
    if (at >= 0 && at != c.key[d]) return false;  // not on the diagonal
    at = c.key[d];
  }
  for (std::size_t n = 0; n < link.cuts.size(); ++n) {
    const auto& [axis, cut] = link.cuts[n];
    auto& range = c.box[axis];
    const auto first = begin[axis];
    if (axes[axis].aggregated) {
      range = cut.tasks_of(c.at[n] - first);
      continue;
    }
    const auto readers = cut.tasks_of(c.at[n]);
    const auto from = std::max<std::int64_t>(0, readers.begin - first);
    range = {from, std::min(axes[axis].tasks, readers.begin + readers.size - first) - from};
    if (range.size <= 0) return false;
  }
  return true;
}

}  // namespace eindb

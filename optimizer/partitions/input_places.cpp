#include "optimizer/partitions/input_places.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "tensor/tile_placement.hpp"

namespace eindb {
namespace {

// A box of tiles: for each dimension the first and the number.
using TileBox = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Joins boxes that are neighbours along dimension d and agree in all others.
std::vector<TileBox> joined_along(std::size_t d, std::vector<TileBox> boxes) {
  const auto place_apart_from_d = [d](const TileBox& box) {
    auto key = box;
    key.erase(key.begin() + static_cast<std::ptrdiff_t>(d));
    key.push_back(box[d]);
    return key;
  };
  std::sort(boxes.begin(), boxes.end(),
            [&](const auto& a, const auto& b) { return place_apart_from_d(a) < place_apart_from_d(b); });
  std::vector<TileBox> joined;
  for (auto& box : boxes) {
    if (!joined.empty()) {
      auto next = joined.back();
      next[d].first += next[d].second;
      next[d].second = box[d].second;
      if (next == box) {
        joined.back()[d].second += box[d].second;
        continue;
      }
    }
    joined.push_back(std::move(box));
  }
  return joined;
}

// Adds the boxes of the tiles from number `first` to before `end`, row-major: at most two for each dimension but one.
// Example: of 3 x 4 tiles those from 2 to before 9 are [0, 2..3], [1, 0..3] and [2, 0].
void add_run(const TileGrid& grid, std::int64_t first, std::int64_t end, std::vector<TileBox>& boxes) {
  const auto& parts = grid.partition();
  while (first < end) {
    // The longest stretch from `first` on that is whole along the last dimensions.
    std::int64_t length = 1;
    auto d = parts.size();
    while (d > 0 && first % (length * parts[d - 1]) == 0 && length * parts[d - 1] <= end - first) length *= parts[--d];
    const auto key = grid.key_of(first);
    auto& box = boxes.emplace_back();
    for (std::size_t n = 0; n < parts.size(); ++n) {
      if (n >= d) box.emplace_back(0, parts[n]);
      else box.emplace_back(key[n], 1);
    }
    // As many of them as there are side by side.
    const auto count = d == 0 ? 1 : std::min(parts[d - 1] - key[d - 1], (end - first) / length);
    if (d > 0) box[d - 1].second = count;
    first += count * length;
  }
}

// The cells of the tiles as few boxes.
std::vector<IndexBox> boxes_of(const TileGrid& grid, std::vector<TileBox> boxes) {
  for (std::size_t d = grid.rank(); d-- > 0;) boxes = joined_along(d, std::move(boxes));
  std::vector<IndexBox> out;
  for (const auto& box : boxes) {
    auto& cells = out.emplace_back();
    for (std::size_t d = 0; d < box.size(); ++d) {
      const auto begin = grid.range(d, box[d].first).begin;
      cells.push_back({begin, grid.range(d, box[d].first + box[d].second - 1).end() - begin});
    }
  }
  return out;
}

// Equal numbers: equal holders.
std::vector<std::int64_t> runs_of(const TileHolders& holders) {
  std::vector<std::int64_t> out;
  for (std::size_t n = 0; n < holders.run_count(); ++n) {
    const auto run = holders.run(n);
    out.push_back(run.end);
    out.push_back(static_cast<std::int64_t>(run.ranks.size()));
    out.insert(out.end(), run.ranks.begin(), run.ranks.end());
  }
  return out;
}

double size_of_box(const IndexBox& box) {
  double elements = 1;
  for (const auto& range : box) elements *= static_cast<double>(range.size);
  return elements;
}

double elements_in_common(const IndexBox& a, const IndexBox& b) {
  DCHECK(a.size() == b.size(), "boxes of one tensor have its dimensions");
  double elements = 1;
  for (std::size_t d = 0; d < a.size(); ++d)
    elements *= static_cast<double>(
        std::max<std::int64_t>(0, std::min(a[d].end(), b[d].end()) - std::max(a[d].begin, b[d].begin)));
  return elements;
}

}  // namespace

HeldParts::HeldParts(const TileGrid& grid, const TileHolders& holders, std::size_t workers) : held_(workers) {
  CHECK(holders.tile_count() == grid.tile_count(), "the holders of every tile are known");
  std::vector<std::vector<TileBox>> tiles(workers);
  std::vector<TileBox> absent;
  std::vector<TileBox> present;
  for (std::size_t n = 0; n < holders.run_count(); ++n) {
    const auto run = holders.run(n);
    add_run(grid, run.first, run.end, run.ranks.empty() ? absent : present);
    for (const auto rank : run.ranks)
      if (rank < workers) add_run(grid, run.first, run.end, tiles[rank]);
  }
  lists_absent_ = absent.size() <= present.size();
  listed_ = boxes_of(grid, lists_absent_ ? std::move(absent) : std::move(present));
  for (std::size_t worker = 0; worker < workers; ++worker) {
    held_[worker] = boxes_of(grid, std::move(tiles[worker]));
    box_count_ += held_[worker].size() + listed_.size();
  }
}

double HeldParts::missing(const IndexBox& box, std::size_t worker) const {
  CHECK(worker < held_.size(), "a worker is one of those whose tiles are known");
  double elements = lists_absent_ ? size_of_box(box) : 0;
  for (const auto& held : held_[worker]) elements -= elements_in_common(box, held);
  for (const auto& listed : listed_) elements += (lists_absent_ ? -1 : 1) * elements_in_common(box, listed);
  return elements;
}

TileHolders holders_of_input(const InputTensor& input, const TileHolders& stored) {
  if (!input.selection) return stored;
  TileHolders out;
  for (std::int64_t tile = 0; tile < input.grid.tile_count(); ++tile) {
    const auto ranks = stored.of(input.selection->stored_tile(input.grid.key_of(tile)));
    out.add(ranks);
  }
  return out;
}

InputHolders newly_written(const EinGraph& graph, std::int64_t workers) {
  CHECK(workers > 0, "tensors are written to some workers");
  InputHolders out(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& stored = graph.vertex(VertexId(v)).stored;
    if (!stored) continue;
    out[v] =
        holders_of_input(*stored, TilePlacement(stored->stored_grid(), static_cast<std::size_t>(workers), 1).all());
  }
  return out;
}

InputPlaces::InputPlaces(const EinGraph& graph, const InputHolders& holders, std::int64_t workers)
    : workers_(workers), numbers_(graph.size(), 0) {
  CHECK(holders.size() == graph.size(), "it is known of every input who holds its tiles");
  using Key = std::tuple<std::vector<std::int64_t>, Partition, std::vector<std::int64_t>, std::vector<std::int64_t>>;
  std::map<Key, std::size_t> known;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& stored = graph.vertex(VertexId(v)).stored;
    if (!stored) continue;
    const auto& grid = stored->grid;
    auto of_tiles = holders[v];
    if (of_tiles.tile_count() == 0) of_tiles.add({}, grid.tile_count());
    std::vector<std::int64_t> edges;
    for (std::size_t d = 0; d < grid.rank(); ++d) edges.push_back(grid.edge(d));
    const auto [number, is_new] = known.try_emplace(
        Key{grid.shape().extents(), grid.partition(), std::move(edges), runs_of(of_tiles)}, parts_.size());
    if (is_new) parts_.emplace_back(grid, of_tiles, static_cast<std::size_t>(workers));
    numbers_[v] = number->second;
  }
  for (const auto& vertex : graph.vertices())
    for (const auto input : vertex.inputs)
      if (graph.vertex(input).is_input()) boxes_read_ += static_cast<double>(parts_of(input).box_count());
}

InputPlaces::InputPlaces(const EinGraph& graph, std::int64_t workers)
    : InputPlaces(graph, newly_written(graph, workers), workers) {}

}  // namespace eindb

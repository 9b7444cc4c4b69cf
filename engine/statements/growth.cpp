#include "engine/statements/growth.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/nearest_name.hpp"
#include "engine/statements/moved_tiles.hpp"

namespace eindb {
namespace {

std::int64_t parts_of(std::int64_t extent, std::int64_t edge) {
  return std::max<std::int64_t>(1, ceil_divide(extent, edge));
}

// Indices of dimension d for which a tile takes the bytes that tiles are made of; at least those of the largest tile.
std::int64_t widest_edge(const TileGrid& grid, std::size_t d, DType dtype, std::int64_t tile_bytes) {
  auto bytes = static_cast<double>(size_of(dtype));
  for (std::size_t other = 0; other < grid.rank(); ++other)
    if (other != d) bytes *= static_cast<double>(std::max<std::int64_t>(1, grid.largest(other)));
  return std::max<std::int64_t>(
      {1, grid.largest(d), static_cast<std::int64_t>(static_cast<double>(tile_bytes) / bytes)});
}

// The size of the parts of a dimension that grows. A single part grows with it, at least twofold, up to the size of
// tiles: many small appends write a tile anew a few times.
std::int64_t edge_for(const TensorInfo& tensor, std::size_t d, std::int64_t extent, std::int64_t tile_bytes) {
  const auto& grid = tensor.grid;
  const auto before = grid.shape()[d];
  const auto parts = grid.partition()[d];
  const auto edge = grid.edge(d);
  if (parts > 1) return edge != 0 ? edge : ceil_divide(before, parts);
  if (extent <= edge) return edge;
  const auto widest = widest_edge(grid, d, tensor.dtype, tile_bytes);
  const auto wanted = std::max(extent, 2 * std::min(before, widest));
  return std::max(std::min(wanted, widest), std::max<std::int64_t>(edge, 1));
}

// Even cuts of a longer shape into parts of about the same size.
TileGrid even_grid_for(const TileGrid& grid, const std::vector<std::int64_t>& extents) {
  Partition parts = grid.partition();
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] > grid.shape()[d])
      parts[d] = std::max(parts[d], extents[d] / std::max<std::int64_t>(1, grid.largest(d)));
  return {Shape(extents), parts};
}

}  // namespace

std::size_t dimension_named(const TensorInfo& tensor, const ast::Identifier& label) {
  const auto found = std::find(tensor.labels.begin(), tensor.labels.end(), label.text);
  if (found != tensor.labels.end()) return static_cast<std::size_t>(found - tensor.labels.begin());
  const auto nearest = nearest_name(label.text, std::span<const std::string>(tensor.labels));
  std::string all;
  for (const auto& name : tensor.labels) all += (all.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::Label, "tensor " + tensor.name + " has no dimension " + label.text, label.span,
              nearest       ? "did you mean " + *nearest + "?"
              : all.empty() ? "it is a single number"
                            : "its dimensions are " + all);
}

IndexNames::Ptr grown_names(const TensorInfo& tensor, std::size_t d, std::int64_t extent) {
  auto names = tensor.names.at(d);
  if (names == nullptr || extent == tensor.shape()[d]) return names;
  if (names->is_calendar()) return IndexNames::calendar(names->first(), names->step(), extent);
  const auto& label = tensor.labels[d];
  throw Error(ErrorKind::Value,
              "the indices of dimension " + label + " of " + tensor.name + " have names, and further ones need some",
              std::nullopt,
              "ALTER TENSOR " + tensor.name + " EXTEND (" + label + " IN ('...')) adds names; then set the cells");
}

TensorInfo extend_tensor(const TensorInfo& tensor, const std::vector<std::int64_t>& extents, SessionState& session) {
  DimensionNames names;
  for (std::size_t d = 0; d < extents.size(); ++d) names.set(d, grown_names(tensor, d, extents[d]));
  return extend_tensor(tensor, extents, names, session);
}

TensorInfo extend_tensor(const TensorInfo& tensor, const std::vector<std::int64_t>& extents,
                         const DimensionNames& names, SessionState& session) {
  const auto& grid = tensor.grid;
  CHECK(extents.size() == grid.rank(), "each dimension has an extent");
  if (extents == grid.shape().extents()) return tensor;
  check_storable(Shape(extents), tensor.dtype);
  if (tensor.is_sharded())
    return move_tiles(tensor, tensor.type(), even_grid_for(grid, extents), tensor.replicas, names, session);
  std::vector<std::int64_t> edges(grid.rank(), 0);
  Partition before = grid.partition();
  Partition after = grid.partition();
  for (std::size_t d = 0; d < grid.rank(); ++d) {
    CHECK(extents[d] >= grid.shape()[d], "no dimension gets shorter");
    edges[d] = grid.edge(d);
    if (extents[d] == grid.shape()[d]) continue;
    edges[d] = edge_for(tensor, d, extents[d], session.user.settings.tile_bytes());
    before[d] = parts_of(grid.shape()[d], edges[d]);
    after[d] = parts_of(extents[d], edges[d]);
  }
  const TileGrid cut(grid.shape(), before, edges);
  const TileGrid extended(Shape(extents), after, edges);
  const auto there =
      cut == grid ? tensor : move_tiles(tensor, tensor.type(), cut, tensor.replicas, tensor.names, session);
  return session.database.catalog.extend(there, extended, names);
}

}  // namespace eindb

#include "plan/task_memory.hpp"

#include <algorithm>

namespace eindb {
namespace {

// The tile that is read to produce a tile of a selection from a stored tensor.
double bytes_behind(const FragmentNode& node) {
  const auto* stored = node.stored();
  if (stored == nullptr || !stored->selection || stored->attached) return 0;
  return tile_bytes(stored->selection->stored, node.dtype);
}

}  // namespace

double tile_bytes(const TileGrid& grid, DType type) {
  auto bytes = static_cast<double>(size_of(type));
  for (std::size_t d = 0; d < grid.rank(); ++d) bytes *= static_cast<double>(grid.largest(d));
  return bytes;
}

double tile_bytes(const FragmentNode& node) { return tile_bytes(node.grid, node.dtype) * node.stored_share(); }

double task_bytes(const Fragment& plan, NodeId id) {
  const auto& node = plan.node(plan.worker_of(id));
  auto bytes = tile_bytes(node);
  double behind = 0;
  for (const auto input : inputs_of(node)) {
    const auto& read = plan.node(input);
    bytes += tile_bytes(read);
    behind = std::max(behind, bytes_behind(read));
  }
  const auto working = node.working_type();
  return bytes + behind + (working != node.dtype ? tile_bytes(node.grid, working) : 0);
}

}  // namespace eindb

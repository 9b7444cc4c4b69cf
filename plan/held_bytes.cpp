#include "plan/held_bytes.hpp"

namespace eindb {

std::size_t held_bytes(const ScalarExpression& e) {
  std::size_t bytes = kHeapBlock + sizeof e + held_bytes(e.cell()) + held_bytes(e.arguments());
  for (const auto& argument : e.arguments()) bytes += held_bytes(*argument);
  return bytes;
}

std::size_t held_bytes(const EinSum& einsum) {
  auto bytes = held_bytes(einsum.inputs) + held_bytes(einsum.output) + held_bytes(einsum.aggregated);
  for (const auto& labels : einsum.inputs) bytes += held_bytes(labels);
  return bytes + (einsum.expression ? held_bytes(*einsum.expression) : 0);
}

std::size_t held_bytes(const TileGrid& grid) { return 2 * held_bytes(grid.partition()) + held_bytes(grid.reaches()); }

std::size_t held_bytes(const LabelPartition& partition) {
  return held_bytes(partition.labels) + held_bytes(partition.parts);
}

std::size_t held_bytes(const LabelTable& labels) {
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) bytes += 2 * kHeapBlock + labels.name(Label(n)).size();
  return bytes;
}

std::size_t held_bytes(const EinGraph& graph) {
  auto bytes = held_bytes(graph.labels());
  for (const auto& vertex : graph.vertices())
    bytes += kHeapBlock + sizeof vertex + held_bytes(vertex.inputs) + held_bytes(vertex.einsum) +
             held_bytes(vertex.bound.extents());
  return bytes;
}

}  // namespace eindb

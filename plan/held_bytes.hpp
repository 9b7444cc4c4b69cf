#pragma once

#include <cstddef>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// The allocator's overhead for a heap block.
inline constexpr std::size_t kHeapBlock = 32;

/// The approximate heap bytes of a value, without data shared with others.
template <class T>
std::size_t held_bytes(const std::vector<T>& values) {
  return values.empty() ? 0 : kHeapBlock + values.size() * sizeof(T);
}
std::size_t held_bytes(const ScalarExpression& expression);
std::size_t held_bytes(const EinSum& einsum);
std::size_t held_bytes(const TileGrid& grid);
std::size_t held_bytes(const LabelPartition& partition);
std::size_t held_bytes(const LabelTable& labels);
std::size_t held_bytes(const EinGraph& graph);

}  // namespace eindb

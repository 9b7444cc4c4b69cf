#include "optimizer/partitions/vertex_shapes.hpp"

#include "common/check.hpp"
#include "optimizer/partitions/chain_shape.hpp"

namespace eindb {

const VertexShape& VertexShapes::of(VertexId id) {
  CHECK(id.index() < shapes_.size(), "the graph is the one that the shapes are of");
  auto& shape = shapes_[id.index()];
  if (!shape) shape = shape_of(graph_, graph_.vertex(id));
  return *shape;
}

const VertexShape& VertexShapes::in_chain(VertexId id, const FusedChain& chain) {
  const auto key = std::pair(&chain, id);
  const auto known = in_chains_.find(key);
  if (known != in_chains_.end()) return known->second;
  return in_chains_.emplace(key, shape_in_chain(graph_, id, chain)).first->second;
}

}  // namespace eindb

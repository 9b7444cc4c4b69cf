#pragma once

#include "optimizer/partitions/cost_model.hpp"

namespace eindb {

/// Elements that workers receive from each other if each makes one kernel call per vertex and mesh axes are assigned
/// optimally. The model `transfers` counts all elements brought to a call; this one counts only those that are not
/// there yet. With p workers, n_c elements in a consumer's tile, and n_int of them in its producer's tile at the same
/// worker:
///
///     repartition  p (n_c - n_int)
///     aggregation  (p / n_agg) (n_agg - 1) n_Z, a reduce-scatter
///
/// Parts that do not nest, such as halves and thirds, are taken to be cut by different axes of the mesh: a worker's two
/// parts then have what one of the parts of both cuts together has, on average over the workers.
///
/// A join costs next to nothing: the elements that it reads, divided by the speed of memory relative to a network. Of
/// vectors that move the same, the one that reads less wins.
/// Example: 8 x 8 from [4,1] to [1,4] on 4 workers costs 4 (16 - 4) = 48, to [8,1] or [4,2] nothing.
class WireModel final : public CostModel {
 public:
  explicit WireModel(std::int64_t workers) : workers_(static_cast<double>(workers)) {}

  std::string_view name() const override { return "wire"; }
  double join(const VertexShape& shape, const Partition& d) const override;
  double aggregation(const VertexShape& shape, const Partition& d) const override;
  double repartition(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents,
                     std::size_t element_bytes) const override;

 private:
  double workers_;
};

}  // namespace eindb

#include "plan/plan_operator.hpp"

namespace eindb {

double RelationView::bytes() const {
  auto bytes = static_cast<double>(size_of(dtype)) * stored_share;
  for (const auto extent : grid.shape().extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace eindb

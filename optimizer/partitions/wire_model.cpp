#include "optimizer/partitions/wire_model.hpp"

#include <numeric>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr double kMemoryIsFaster = 64;

}  // namespace

double WireModel::join(const VertexShape& shape, const Partition& d) const {
  return cost_join(shape, d) / kMemoryIsFaster;
}

double WireModel::aggregation(const VertexShape& shape, const Partition& d) const { return cost_agg(shape, d); }

double WireModel::repartition(const Partition& producer, const Partition& consumer,
                              const std::vector<std::int64_t>& extents, std::size_t /*element_bytes*/) const {
  CHECK(producer.size() == extents.size() && consumer.size() == extents.size(),
        "a tensor is cut along each of its dimensions");
  double wanted = 1;
  double there = 1;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    wanted *= static_cast<double>(largest_part(extents[n], consumer[n]));
    there *= static_cast<double>(largest_part(extents[n], std::lcm(producer[n], consumer[n])));
  }
  DCHECK(there <= wanted, "what lies at a worker is part of what is wanted");
  return workers_ * (wanted - there);
}

}  // namespace eindb

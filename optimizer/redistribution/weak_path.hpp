#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/redistribution/collective_costs.hpp"
#include "tensor/partition.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// A weak type (array redistribution, section 5) is a type up to a permutation of ranks: the number of parts of each
/// dimension. Their product divides the number of ranks; the quotient is the number of holders of each block.
///
/// Dimensions are cut, gathered and exchanged by any group of prime factors:
///   dynslice(i)       parts[i] times n, n dividing the quotient; costs nothing
///   allgather(i)      parts[i] by n; costs the local size after
///   alltoall(i -> j)  parts[i] by n, parts[j] times n; costs the local size
enum class WeakOperation : std::uint8_t { DynSlice, AllGather, AllToAll };

using WeakPath = std::vector<Partition>;

struct WeakProblem {
  Shape shape;
  std::int64_t ranks = 1;
  Partition source;
  Partition target;
  std::int64_t memory = 0;  ///< elements: only types with at most this local size are visited
  double slack = 0;         ///< how much more than the shortest path others may cost
  CollectiveCosts costs;
};

/// Elements of the largest block of a weak type.
std::int64_t local_size(const Shape& shape, const Partition& parts);
/// The operation that leads from one type to another; it may combine several of the paper's. Dimensions lose factors
/// (allgather), gain factors (dynslice), or lose and gain the same product (alltoall). nullopt if no operation does.
std::optional<WeakOperation> operation_between(const Partition& before, const Partition& after);
/// The number of members of a group: the product of the factors that dimensions lose.
std::int64_t group_size(const Partition& before, const Partition& after);
/// Cost of such an operation.
double operation_cost(const Shape& shape, const Partition& before, const Partition& after,
                      const CollectiveCosts& costs);

/// Merges neighbouring steps of one kind if that costs less: several allgathers into one, and alltoalls that do not
/// pass factors on likewise (section 8, on problem P4).
WeakPath merged(const Shape& shape, const WeakPath& path, const CollectiveCosts& costs);

}  // namespace eindb

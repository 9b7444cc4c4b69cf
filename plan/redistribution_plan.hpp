#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "plan/distributed_type.hpp"
#include "plan/index_box.hpp"
#include "tensor/shape.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The ranks that take part in one collective, in the order of their pieces.
using RankGroup = std::vector<Rank>;

/// Every rank cuts its new block out of its old one; nothing is sent.
struct DynSlice {
  friend bool operator==(const DynSlice&, const DynSlice&) = default;
};

/// The members of a group combine their blocks, and each then holds the whole. Members are in the row-major order of
/// their blocks.
struct AllGather {
  std::vector<RankGroup> groups;

  friend bool operator==(const AllGather&, const AllGather&) = default;
};

/// The members of a group together hold the same region as before, cut along other dimensions: each sends a piece to
/// each. Members are in the row-major order of their new blocks.
struct AllToAll {
  std::vector<RankGroup> groups;

  friend bool operator==(const AllToAll&, const AllToAll&) = default;
};

/// Whole blocks are exchanged: rank r takes the block of from[r], possibly its own. Ranks without a block refer to
/// themselves.
struct AllPermute {
  std::vector<Rank> from;

  friend bool operator==(const AllPermute&, const AllPermute&) = default;
};

/// A step and the placement after it.
struct RedistributionStep {
  std::variant<DynSlice, AllGather, AllToAll, AllPermute> collective;
  BlockPlacement result;
  double cost = 0;  ///< elements per rank, plus latency if the planner knows it

  friend bool operator==(const RedistributionStep&, const RedistributionStep&) = default;
};

/// Moves a dense tensor from one block placement to another over the same ranks, by collectives that all ranks run in
/// the same order. The contract between optimizer/redistribution, which makes it, and executor/redistribution_run.
/// Ranks that hold no block at the beginning hold none at the end, and take no part.
struct RedistributionPlan {
  Shape shape;
  BlockPlacement source;
  std::vector<RedistributionStep> steps;

  const BlockPlacement& target() const { return steps.empty() ? source : steps.back().result; }
  /// The placement before step n.
  const BlockPlacement& before(std::size_t n) const { return n == 0 ? source : steps[n - 1].result; }
  /// The sum of the steps' costs.
  double cost() const;
  /// Elements of the largest block that any rank holds at any time.
  std::int64_t peak() const;

  friend bool operator==(const RedistributionPlan&, const RedistributionPlan&) = default;
};

/// "dynslice", "allgather", "alltoall" or "allpermute".
std::string collective_name(const RedistributionStep& step);

/// Elements that ranks receive between two placements if none receives what it holds. This equals the sum over the
/// collectives of a plan, except for padding of uneven blocks.
struct MovedElements {
  std::int64_t received = 0;       ///< by all ranks
  std::int64_t most_received = 0;  ///< by one rank
};
MovedElements moved_elements(const Shape& shape, const BlockPlacement& before, const BlockPlacement& after);
/// Summed over the steps.
MovedElements moved_elements(const RedistributionPlan& plan);

/// The elements of the largest piece that members of a group send each other in going from one grid to another. All
/// pieces of an allgather or an alltoall are padded to that size.
std::int64_t padded_piece(const Shape& shape, const Partition& before, const Partition& after);
/// The elements that `rank` receives from others in a valid plan, padding included.
std::int64_t received_elements(const RedistributionPlan& plan, Rank rank);
/// The most elements that `rank` has in memory at once while it runs a valid plan: the two blocks of a step, and the
/// packed pieces that it sends and receives. Error{Shape} if the number overflows.
std::int64_t working_elements(const RedistributionPlan& plan, Rank rank);
/// The largest such number of all ranks.
std::int64_t working_elements(const RedistributionPlan& plan);

/// One line per step for EXPLAIN: the move, the type after it over mesh.factored(), and the cost. If no type over the
/// mesh describes the placement, the local sizes are shown with the numbers of parts: [3{/4}12, 12].
///
///     alltoall(0 -> 1) {a.0,a.1,a.2}   [8, 1{a.0,a.1,a.2}8]   8
std::vector<std::string> describe(const RedistributionPlan& plan, const Mesh& mesh);

}  // namespace eindb

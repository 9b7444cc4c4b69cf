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

/// Ranks that take part in one collective, in the order of their pieces.
using RankGroup = std::vector<Rank>;

/// Every rank cuts its new block out of the old one; nothing is sent.
struct DynSlice {
  friend bool operator==(const DynSlice&, const DynSlice&) = default;
};

/// The members of a group put their blocks together, and each holds the whole; members stand in the row-major order of
/// their blocks.
struct AllGather {
  std::vector<RankGroup> groups;

  friend bool operator==(const AllGather&, const AllGather&) = default;
};

/// The members of a group hold together what they held before, cut along other dimensions: each has a piece for each.
/// Members stand in the row-major order of their new blocks.
struct AllToAll {
  std::vector<RankGroup> groups;

  friend bool operator==(const AllToAll&, const AllToAll&) = default;
};

/// Whole blocks change places: rank r takes the block of from[r], maybe its own. Ranks without a block stand for
/// themselves.
struct AllPermute {
  std::vector<Rank> from;

  friend bool operator==(const AllPermute&, const AllPermute&) = default;
};

/// Each rank takes what it lacks of its new block from the ranks that senders[r] names: each sends what its old block
/// and the new one have in common. Nothing comes twice, and nothing that rank r holds already.
struct DirectExchange {
  std::vector<RankGroup> senders;

  friend bool operator==(const DirectExchange&, const DirectExchange&) = default;
};

/// A step and where blocks lie after it.
struct RedistributionStep {
  std::variant<DynSlice, AllGather, AllToAll, AllPermute, DirectExchange> collective;
  BlockPlacement result;
  double cost = 0;  ///< elements per rank, and latency where the planner was told of it

  friend bool operator==(const RedistributionStep&, const RedistributionStep&) = default;
};

/// Moves a dense tensor from one placement in blocks to another of the same ranks, by collectives that all ranks run in
/// the same order. The contract between optimizer/redistribution, which makes it, and executor/redistribution_run.
/// Ranks that hold no block at the beginning and at the end take no part; only a DirectExchange may begin or end a
/// part.
struct RedistributionPlan {
  Shape shape;
  BlockPlacement source;
  std::vector<RedistributionStep> steps;

  const BlockPlacement& target() const { return steps.empty() ? source : steps.back().result; }
  /// Where blocks lie before step n.
  const BlockPlacement& before(std::size_t n) const { return n == 0 ? source : steps[n - 1].result; }
  /// The sum of the steps' costs.
  double cost() const;
  /// Elements of the largest block that any rank holds at any time.
  std::int64_t peak() const;

  friend bool operator==(const RedistributionPlan&, const RedistributionPlan&) = default;
};

/// "dynslice", "allgather", "alltoall", "allpermute" or "direct exchange".
std::string collective_name(const RedistributionStep& step);

/// Elements that ranks receive in going from one placement to another, if none takes what it holds: so do all
/// collectives of a plan, but for padding of uneven blocks.
struct MovedElements {
  std::int64_t received = 0;       ///< by all ranks
  std::int64_t most_received = 0;  ///< by one rank
};
MovedElements moved_elements(const Shape& shape, const BlockPlacement& before, const BlockPlacement& after);
/// Summed over the steps.
MovedElements moved_elements(const RedistributionPlan& plan);

/// One line per step for EXPLAIN: what moves, the type after it over mesh.factored(), the cost. Where no type over the
/// mesh says how blocks lie, the local sizes stand with the number of parts: [3{/4}12, 12].
///
///     alltoall(0 -> 1) {a.0,a.1,a.2}   [8, 1{a.0,a.1,a.2}8]   8
std::vector<std::string> describe(const RedistributionPlan& plan, const Mesh& mesh);

}  // namespace eindb

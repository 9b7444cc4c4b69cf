#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/redistribution/exchange_choice.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// The ranks that take part in a distributed statement, and the granularity of their work.
struct ClusterShape {
  std::size_t ranks = 1;
  Rank coordinator = 0;
  std::int64_t computing = 1;                               ///< ranks 0 to computing - 1 compute
  std::int64_t calls_per_rank = 8;                          ///< kernel calls wanted per rank, shared by its threads
  ExchangeWay redistribution = ExchangeWay::Auto;           ///< the way in which relations move between blocks
  TransportCosts transport = TransportCosts::of_tcp();      ///< the costs of moving them
  double memory = std::numeric_limits<double>::infinity();  ///< bytes of tiles that every computing rank has at least
  // Tiles are cut, as far as extents allow, until:
  double most_tile_bytes = 32 << 20;                                 ///< no tile is larger
  double most_call_bytes = std::numeric_limits<double>::infinity();  ///< no kernel call's tiles together are larger

  friend bool operator==(const ClusterShape&, const ClusterShape&) = default;
};

/// How a result is wanted: cut by this grid, either at the coordinator or stored at the ranks that the statement's
/// TileHolders name.
struct DistributedResult {
  TileGrid grid;
  bool stored = false;
};

/// A stored tensor, or a selection from one, that a plan for ranks scans.
struct ScannedInput {
  VertexId vertex;
  std::size_t list = 0;  ///< the number of its holder list
};

/// The scans of every plan of the graph, in their order: of the inputs that a result needs.
std::vector<ScannedInput> scanned_inputs(const EinGraph& graph);

/// Lays a labelled graph out over ranks as a list of steps. Every vertex, or chain that is computed as one, is computed
/// where `placement` says, after its operands were moved there in the tiles that its kernel calls read; partial results
/// are reduced. What moves from blocks to blocks does so in pieces or by a sequence of collectives
/// (optimizer/redistribution/exchange_choice). The labelling gives each rank one block per vertex. A rank refines its
/// block into more kernel calls: first along the existing cuts of its operands, then to keep its threads busy. Tiles
/// that are already in place are not moved. `results` has an entry for every output of the graph.
///
/// Steps that scan the same stored tensor share one holder list of the plan, that of the tensor's first ScanStep. The
/// lists of stored results follow, in the order of the results.
///
/// The graph must not be sliced: tiles that do not fit a rank's memory go to its scratch file. The function is pure,
/// and its plan is valid (plan/validator).
///
/// Example: the chain (A B) C on 4 ranks with vectors [4,1,1] and [2,2,1]: scan A, scan B, redistribute B (everything
/// to all), compute, redistribute AB, scan C, redistribute C, compute, reduce, redistribute to the coordinator.
PhysicalPlan plan_for_ranks(const EinGraph& graph, const Labelling& labelling, const Placement& placement,
                            const ClusterShape& cluster, const std::vector<DistributedResult>& results);

}  // namespace eindb

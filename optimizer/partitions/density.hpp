#pragma once

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Fills in the density of every vertex: of inputs what is known of them, of others an estimate that takes tiles to be
/// absent independently of each other. Absent tiles save kernel calls where tensor/annihilation says so, and a tile of
/// a result is absent if all of its calls are saved. A call is made with probability f, the product over the operands
/// whose absence saves it of the share of their tiles that are there; a sum over K calls is there with
///
///     1 - (1 - f)^K
///
/// Example: X, a tenth of whose 16 x 16 tiles is there, times a dense Y: f = 0.1, and SUM over 16 calls gives a result
/// with 1 - 0.9^16 = 0.81 of its tiles.
void estimate_densities(EinGraph& graph);

/// What a shape needs to know of its vertex's operands; empty if all are dense or none saves a call.
SparseWork sparse_work_of(const EinGraph& graph, const Vertex& vertex);

/// The share of tiles of the partition `parts` that hold one of the tensor's tiles: coarser ones are rarely absent.
double present_in(const TileDensity& density, const Partition& parts);

/// The share of the kernel calls of a partition vector that are made. 1 for dense operands.
double share_of_calls(const VertexShape& shape, const Partition& d);

/// The share of the groups of a partition vector with a call that is made.
double share_of_groups(const VertexShape& shape, const Partition& d);

}  // namespace eindb

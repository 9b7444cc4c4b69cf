#pragma once

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Fills in the density of every vertex: the known one for inputs, and for others an estimate that assumes tiles to be
/// absent independently of each other. Absent tiles save kernel calls as tensor/annihilation says, and a tile of a
/// result is absent if all of its calls are saved. A call is made with probability f, the product of the shares of
/// present tiles over the operands whose absence saves the call. A tile that sums K calls is present with probability
///
///     1 - (1 - f)^K
///
/// Example: X, a tenth of whose 16 x 16 tiles is there, times a dense Y: f = 0.1, and SUM over 16 calls gives a result
/// with 1 - 0.9^16 = 0.81 of its tiles.
void estimate_densities(EinGraph& graph);

/// The densities of the vertex's operands; empty if all are dense or none saves a call.
SparseWork sparse_work_of(const EinGraph& graph, const Vertex& vertex);

/// The share of tiles of the partition `parts` that contain a present tile of the tensor. It grows as tiles get
/// coarser.
double present_in(const TileDensity& density, const Partition& parts);

/// The share of the kernel calls of a partition vector that are made. 1 for dense operands.
double share_of_calls(const VertexShape& shape, const Partition& d);

/// The share of the groups of a partition vector in which at least one call is made.
double share_of_groups(const VertexShape& shape, const Partition& d);

}  // namespace eindb

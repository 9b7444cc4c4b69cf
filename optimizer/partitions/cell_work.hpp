#pragma once

#include <optional>

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/cell_estimate.hpp"

namespace eindb {

/// For each input of a vertex, its cells if it is read as cells; nullopt for dense ones.
OperandCells cells_of_inputs(const EinGraph& graph, const Vertex& vertex);

/// How a vertex is computed from the cells of these inputs; nullopt if it is not. Values are taken for finite ones.
std::optional<CellPattern> pattern_of(const EinGraph& graph, const Vertex& vertex, const OperandCells& cells);

/// Fills in what a vertex takes that is computed from the cells of some inputs: its seconds, in how many parts its
/// labels may be cut, and what the inputs' tiles take. Changes nothing if all inputs are dense.
void add_cell_work(const EinGraph& graph, const Vertex& vertex, VertexShape& shape);

}  // namespace eindb

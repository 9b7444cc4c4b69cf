#pragma once

#include <limits>

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Whether some stored tensor of the graph may be read as cells.
bool may_hold_cells(const EinGraph& graph);

/// Decides which stored tensors are read as cells (InputTensor::as_cells): those with few cells whose readers all can
/// be computed from cells (tensor/cell_form), where the model predicts that to be faster than with dense tiles. A
/// tensor may be worth it only together with the others of its reader: X + Y visits the cells of both. What was decided
/// before does not count.
/// `always`: wherever it is possible, for tests. `memory`: the bytes that cells may take while they are read or made.
EinGraph choose_cells(EinGraph graph, const CalibratedModel& model, bool always = false,
                      double memory = std::numeric_limits<double>::infinity());

}  // namespace eindb

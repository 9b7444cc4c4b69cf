#pragma once

#include <limits>
#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/observed_cells.hpp"

namespace eindb {

/// Whether some stored tensor of the graph may be read as cells.
bool may_hold_cells(const EinGraph& graph);

/// The limits of the choice between cells and dense tiles.
struct CellLimits {
  bool always = false;                                      ///< cells wherever they are possible, for tests
  double memory = std::numeric_limits<double>::infinity();  ///< bytes that cells may take while they are read or made
  const ObservedCells* observed = nullptr;                  ///< what runs of the statement have found; null: nothing
  std::vector<bool> dense_results = {};  ///< by number, the results of the graph that must be dense; empty: none
};

/// Decides which stored tensors are read as cells (InputTensor::as_cells): those with few cells whose readers all can
/// be computed from cells (tensor/cell_form), where the model predicts that to be faster than with dense tiles. A
/// tensor may be worth it only together with the others of its reader: X + Y visits the cells of both. What was decided
/// before does not count.
EinGraph choose_cells(EinGraph graph, const CalibratedModel& model, const CellLimits& limits = {});

}  // namespace eindb

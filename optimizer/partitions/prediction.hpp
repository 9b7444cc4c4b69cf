#pragma once

#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// The predicted cost of one operator.
struct NodePrediction {
  /// By `calibrated`; reading stored tiles counts at the first operator that needs them, as in measurements.
  double seconds = 0;
  double elements = 0;  ///< elements moved, by `transfers`
};

struct Prediction {
  std::vector<NodePrediction> nodes;  ///< in the order of the plan
  double seconds = 0;                 ///< sum over all operators, plus the start
  double elements = 0;
};

/// The predictions of both models for a plan, whichever model chose it. A repartition with several readers counts once.
Prediction predict(const EinGraph& graph, const Fragment& plan, const CalibratedModel& model);

/// The predicted seconds until a plan has run, by the same model. The steps of a plan for several ranks follow each
/// other, and each takes as long as a rank needs for its block on a machine like this one. Exchanges count nothing.
double predicted_seconds(const EinGraph& graph, const PhysicalPlan& plan, const CalibratedModel& model);

/// The predicted seconds of a ComputeStep for one rank, for its block.
double seconds_of_block(const EinGraph& graph, const PhysicalPlan& plan, StepId compute, const CalibratedModel& model);

/// For every operator the vertex that it serves: a join or group-by serves its own vertex, a scan or repartition that
/// of its first reader.
std::vector<VertexId> vertices_served(const Fragment& plan);

}  // namespace eindb

#pragma once

#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/distributed_plan.hpp"

namespace eindb {

/// The predicted cost of one operator.
struct NodePrediction {
  double seconds = 0;   ///< by `calibrated`; reading stored tiles counts where they are first needed, as it is measured
  double elements = 0;  ///< moved, by `transfers`
};

struct Prediction {
  std::vector<NodePrediction> nodes;  ///< in the order of the plan
  double seconds = 0;                 ///< of all, and of starting
  double elements = 0;
};

/// What both models say of a plan, whichever it was made by. A repartition that several vertices share counts once.
Prediction predict(const EinGraph& graph, const PhysicalPlan& plan, const CalibratedModel& model);

/// Until a plan has run, by the same model: a fragment's seconds; of steps, which follow each other, those that a rank
/// takes for its block of each, on machines like this one. Exchanges count nothing.
double predicted_seconds(const EinGraph& graph, const DistributedPlan& plan, const CalibratedModel& model);

/// For every operator the vertex for which it works: for a join or group-by its own; for a scan or a repartition that
/// of its first reader, which would not need it otherwise.
std::vector<VertexId> vertices_served(const PhysicalPlan& plan);

}  // namespace eindb

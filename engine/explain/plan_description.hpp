#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/explain/cluster_description.hpp"
#include "engine/plans/plan_source.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/session/session_user.hpp"
#include "executor/execution_profile.hpp"
#include "optimizer/partitions/prediction.hpp"

namespace eindb {

struct ClusterProfile;  // engine/query/distributed_query.hpp

/// What is known of a query's execution; all may be null.
struct Measured {
  const ExecutionProfile* here = nullptr;   ///< it ran in this process
  const ClusterProfile* cluster = nullptr;  ///< it ran on the session's workers, or would
};

/// Where a vertex lies on the workers, and what they receive for it.
struct VertexPlace {
  std::string type;  ///< optimizer/partitions/placement, as text
  double elements_received = 0;
};

/// A vertex of the graph that is computed. What is measured is of its join, its aggregation and the repartitions made
/// for it, each counted at its first reader.
struct VertexDescription {
  std::string name;
  std::string einsum;
  std::vector<std::int64_t> bound;
  DType type = DType::Float64;
  std::vector<std::pair<std::string, std::int64_t>> partition;  ///< labels, by distinct names, and their parts
  std::int64_t kernel_calls = 0;
  double cost_join = 0;  ///< this and the next two in elements moved, by the model `transfers`
  double cost_agg = 0;
  double cost_repart = 0;
  NodePrediction predicted;
  std::optional<NodeProfile> actual = std::nullopt;
  std::optional<VertexPlace> place = std::nullopt;
};

/// A stored tensor that the query reads.
struct InputDescription {
  /// Of X[3,j]: an index per dimension, a parameter ("$1") that is one, or nothing for the whole dimension.
  struct Selected {
    std::vector<std::variant<std::monostate, std::int64_t, std::string>> indices;
    std::int64_t tiles = 0;  ///< read
    std::int64_t stored_tiles = 0;
  };

  std::string tensor;
  std::vector<std::int64_t> bound;
  DType type = DType::Float64;
  Partition partition;
  std::optional<Selected> selection = std::nullopt;
  std::optional<std::string> place = std::nullopt;
};

/// An operator of a plan for this process. What its operator alone has to say is in `own`.
struct OperatorDescription {
  std::size_t id = 0;
  std::string name;
  std::string vertex;
  std::optional<std::size_t> computes = std::nullopt;  ///< which of the plan's vertices its kernel computes
  std::vector<std::size_t> inputs;
  Partition grid;
  DescriptionFields own;
  double slices = 1;   ///< how often it is run
  double density = 1;  ///< the share of its elements that are there, about
  std::optional<double> seconds = std::nullopt;
  std::optional<std::int64_t> tiles_read = std::nullopt;
  std::int64_t skipped_calls = 0;
};

/// How the contractions of a query were ordered, and how they are sliced.
struct PathDescription {
  struct Slices {
    std::string label;
    std::int64_t parts = 1;
    std::string result;  ///< of the loop
  };

  std::string optimizer;             ///< "given" where the statement orders
  std::string objective;             ///< "flops", ...
  std::vector<std::string> methods;  ///< those that found the paths of n-ary contractions
  double naive_flops = 0;            ///< every operation that the statement has, in one nest of loops
  double flops = 0;
  double largest_intermediate = 0;
  double seconds = 0;
  double slices = 0;  ///< how often the loops over slices are run; 0 without
  std::vector<Slices> sliced_labels;
};

/// What plans for workers have.
struct WorkersDescription {
  std::int64_t workers = 0;
  int mesh_axes = 0;
  double elements_received = 0;
  double elements_received_by_busiest = 0;
};

/// What an execution in this process did.
struct ExecutionDescription {
  double seconds = 0;
  std::int64_t elements = 0;
  std::int64_t peak_bytes = 0;
};

/// What a query's plan is, and with a profile what its execution did: that which EXPLAIN writes, whatever the form.
/// Operators say of themselves what they alone have to say (plan/plan_operator); explain_text, explain_json and
/// explain_dot write it and know no operator. Predicted seconds are those of the model `calibrated`, costs and
/// predicted elements those of `transfers`, whichever of them chose the plan.
struct PlanDescription {
  std::vector<VertexDescription> vertices;
  std::vector<InputDescription> inputs;
  std::vector<OperatorDescription> operators;  ///< none where ranks run the query: their steps are in `cluster`
  std::int64_t parallelism = 1;
  bool calibrated = false;  ///< the model that chose the plan
  std::vector<ParallelismCandidate> candidates;
  std::string figures;  ///< the file of the machine's
  std::string strategy;
  PathDescription path;
  double total_cost = 0;
  double predicted_seconds = 0;
  double predicted_elements = 0;
  double predicted_peak_bytes = 0;
  double planning_seconds = 0;
  PlanSource source = PlanSource::Made;
  std::vector<StageTiming> passes;
  std::optional<MemoryChoice> memory = std::nullopt;
  std::vector<std::string> recomputed;
  std::vector<StrategyCosts> strategies;
  std::optional<WorkersDescription> workers = std::nullopt;
  std::optional<ClusterDescription> cluster = std::nullopt;
  std::optional<ExecutionDescription> execution = std::nullopt;
};

PlanDescription describe_plan(const PlannedQuery& planned, const SessionUser& user, const Measured& measured);

}  // namespace eindb

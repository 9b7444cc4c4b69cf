#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/explain/cluster_description.hpp"
#include "engine/plans/place_choice.hpp"
#include "engine/plans/plan_source.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/session/session_user.hpp"
#include "executor/execution_profile.hpp"
#include "optimizer/partitions/prediction.hpp"

namespace eindb {

struct PlannedAgain;    // engine/query/replanning.hpp
struct ClusterProfile;  // engine/query/distributed_query.hpp

/// The measurements of a query's execution; all may be null.
struct Measured {
  const ExecutionProfile* here = nullptr;                  ///< of a run in this process
  const PlannedAgain* again = nullptr;                     ///< what was planned again during that run
  const ClusterProfile* cluster = nullptr;                 ///< of a run on the session's workers, or the plan for one
  const std::vector<StrategyCosts>* strategies = nullptr;  ///< null: those that the query's plan was compared with
};

/// The placement of a vertex on the workers, and the elements that they receive for it.
struct VertexPlace {
  std::string type;  ///< optimizer/partitions/placement, as text
  double elements_received = 0;
};

/// A vertex of the graph that is computed. Its measurements cover its join, its aggregation and the repartitions made
/// for it; a repartition with several readers counts at the first one.
struct VertexDescription {
  std::string name;
  std::string einsum;
  std::vector<std::int64_t> bound;
  DType type = DType::Float64;
  std::vector<std::pair<std::string, std::int64_t>> partition;  ///< labels, by distinct names, with their parts
  std::int64_t kernel_calls = 0;
  std::string kernel = {};  ///< how a call is computed (executor/kernel_description); empty where it is not known
  double cost_join = 0;     ///< these three costs are elements moved, by the model `transfers`
  double cost_agg = 0;
  double cost_repart = 0;
  NodePrediction predicted;
  std::optional<NodeProfile> actual = std::nullopt;
  std::optional<VertexPlace> place = std::nullopt;
};

/// A stored tensor that the query reads.
struct InputDescription {
  /// For X[3,j]: per dimension an index, a parameter used as an index ("$1"), or nothing for the whole dimension.
  struct Selected {
    std::vector<std::variant<std::monostate, std::int64_t, std::string>> indices;
    std::int64_t tiles = 0;  ///< number of tiles read
    std::int64_t stored_tiles = 0;
  };

  std::string tensor;
  std::vector<std::int64_t> bound;
  DType type = DType::Float64;
  Partition partition;
  std::optional<Selected> selection = std::nullopt;
  std::optional<std::string> place = std::nullopt;
};

/// A node of a plan for this process. The fields specific to its operator are in `own`.
struct OperatorDescription {
  std::size_t id = 0;
  std::string name;
  std::string vertex;
  std::optional<std::size_t> computes = std::nullopt;  ///< the vertex that its kernel computes, by number in the plan
  std::vector<std::size_t> inputs;
  Partition grid;
  DescriptionFields own;
  double slices = 1;                                        ///< how often it runs
  double density = 1;                                       ///< estimated share of elements that are not zero
  std::optional<double> cells = std::nullopt;               ///< set if its tiles are of cells: about how many they have
  std::optional<std::int64_t> actual_cells = std::nullopt;  ///< set likewise, if they were counted
  std::optional<double> seconds = std::nullopt;
  std::optional<std::int64_t> tiles_read = std::nullopt;
  std::int64_t skipped_calls = 0;
};

/// The order of a query's contractions, and how they are sliced.
struct PathDescription {
  struct Slices {
    std::string label;
    std::int64_t parts = 1;
    std::string result;  ///< the result of the loop
  };

  std::string optimizer;             ///< "given" if the statement fixes the order
  std::string objective;             ///< "flops", "weight 5", ...
  std::vector<std::string> methods;  ///< the methods that found the paths of n-ary contractions
  double naive_flops = 0;            ///< the operations of the statement as one nest of loops
  double flops = 0;
  double largest_intermediate = 0;
  double seconds = 0;
  double slices = 0;  ///< how often the loops over slices run; 0 without slicing
  std::vector<Slices> sliced_labels;
};

/// The part of a description that only plans for workers have.
struct WorkersDescription {
  std::int64_t workers = 0;
  std::int64_t computing = 0;  ///< of these workers, those that compute
  std::string mesh;            ///< of those that compute: "{x0:2, x1:3}"
  double elements_received = 0;
  double elements_received_by_busiest = 0;
};

/// Measured totals of an execution in this process.
struct ExecutionDescription {
  double seconds = 0;
  std::int64_t elements = 0;
  std::int64_t peak_bytes = 0;
};

struct PlanDescription;

/// The remaining part of a query, which was planned again because a vertex had other cells than expected, and its run.
struct AgainDescription {
  std::string vertex;
  double expected = 0;     ///< cells
  std::int64_t found = 0;  ///< cells
  std::shared_ptr<const PlanDescription> rest;
};

/// The description of a query's plan that EXPLAIN writes; with a profile, also the measurements of its execution.
/// Operators give the fields specific to them (plan/plan_operator); explain_text, explain_json and explain_dot write
/// the description and know no operator. Predicted seconds are by the model `calibrated`, costs and predicted elements
/// by `transfers`. Both are given whichever model chose the plan.
struct PlanDescription {
  std::vector<VertexDescription> vertices;
  std::vector<InputDescription> inputs;
  std::vector<OperatorDescription> operators;  ///< none where ranks run the query: their steps are in `cluster`
  std::int64_t parallelism = 1;
  bool calibrated = false;  ///< whether the model `calibrated` chose the plan
  std::vector<ParallelismCandidate> candidates;
  std::string figures;  ///< the file with the figures of the machine
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
  std::optional<PlaceChoice> place = std::nullopt;  ///< set where it could run here or at the cluster's workers
  std::optional<WorkersDescription> workers = std::nullopt;
  std::optional<ClusterDescription> cluster = std::nullopt;
  std::optional<ExecutionDescription> execution = std::nullopt;  ///< of all that ran
  std::optional<AgainDescription> again = std::nullopt;
};

PlanDescription describe_plan(const PlannedQuery& planned, const SessionUser& user, const Measured& measured);

}  // namespace eindb

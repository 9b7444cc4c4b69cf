#pragma once

#include <optional>
#include <vector>

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The partitions that a statement's results are wanted in: entry n is that of graph.outputs()[n]. None: as computed.
using WantedPartitions = std::vector<std::optional<Partition>>;

/// The partition wanted of a vertex; null if it is no output, or wanted in any (also where `wanted` has no entry).
const Partition* wanted_of(const EinGraph& graph, const WantedPartitions& wanted, VertexId id);

/// What a decomposition aims at and what it pays for.
struct DecompositionOptions {
  std::int64_t parallelism = 1;                 ///< p: kernel calls wanted per vertex, a power of two
  bool free_inputs = false;                     ///< the paper's rule: a stored tensor costs nothing in any partition
  WantedPartitions output_partitions;           ///< of the results; bringing them there from another one costs
  const CostModel* model = &transfers_model();  ///< outlives the decomposition
  bool fewer_calls = false;                     ///< a vertex may make fewer, if that costs less
  double most_call_bytes = 0;  ///< with fewer_calls: of one call's tiles, if they can be so small; 0: any
  /// What looking for the optimum may take, and then improving what is not known to be one: sums of table entries, some
  /// 1e9 of which take a second.
  double exact_work = 2e8;
  double descent_work = 2e8;
};

/// Whether a consumer reads the vertex for nothing, however it wants it cut: a stored tensor if `free_inputs`, and
/// always one in memory that is read as a whole.
bool is_free_in_any_partition(const Vertex& vertex, const DecompositionOptions& options);

/// A vertex's partition vector and what it costs by the model. Inputs of the computation have none.
struct VertexLabelling {
  LabelPartition partition;
  double cost_join = 0;
  double cost_agg = 0;
  double cost_repart = 0;  ///< bringing its inputs from their producers' partitions to its own

  double cost() const { return cost_join + cost_agg + cost_repart; }
};

/// A TaskGraph of the paper: a partition vector for every vertex. Entry n is of VertexId(n).
struct Labelling {
  std::vector<VertexLabelling> vertices;
  double cost_output = 0;  ///< bringing the results to the partitions wanted
  double total_cost = 0;   ///< all of the above, exactly, whatever the algorithm that chose the vectors ignored
};

/// The partition of a vertex's result: of the stored tensor, or that of its head's labels in `partition`.
Partition result_partition(const Vertex& vertex, const LabelPartition& partition);

/// Makes partition vectors fit the slices that their vertices are computed in: where slices cut a label into n parts,
/// the entry becomes a multiple of n, its slices as finely cut as the whole was if there is room. No change without.
std::vector<LabelPartition> fitted_to_slices(const EinGraph& graph, std::vector<LabelPartition> partitions);

/// Gives the vertices of each chain one partition vector, which cuts rows alone: those of FusedChain::rows in their
/// order until there are as many kernel calls as before. A chain stays as it is where that costs more, as it does where
/// large operands lie in other cuts; where its rows allow fewer than half of the calls; or if a vertex is in slices.
std::vector<LabelPartition> fitted_to_chains(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                             const DecompositionOptions& options);

/// The partition vector of a chain over all of its labels: set if those of its vertices agree, and cut its rows alone.
std::optional<LabelPartition> partition_of_chain(const EinGraph& graph, const FusedChain& chain,
                                                 const std::vector<LabelPartition>& partitions);

/// Costs the given partition vectors (one per vertex, empty for inputs). Every edge counts, also two that one
/// repartition will serve.
Labelling evaluate(const EinGraph& graph, std::vector<LabelPartition> partitions, const DecompositionOptions& options);

}  // namespace eindb

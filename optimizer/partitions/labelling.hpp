#pragma once

#include <optional>
#include <vector>

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The partitions prescribed for results: entry n belongs to graph.outputs()[n]. Without one, the result is not moved.
using WantedPartitions = std::vector<std::optional<Partition>>;

/// The partition prescribed for a vertex; null if it is no output or none is prescribed (`wanted` may be too short).
const Partition* wanted_of(const EinGraph& graph, const WantedPartitions& wanted, VertexId id);

/// The shapes of the vertices of a graph, by which cost models cost any partition vector: computed once where many
/// vectors are costed. Immutable.
class GraphShapes {
 public:
  explicit GraphShapes(const EinGraph& graph);

  /// Of a vertex by itself, or of one of a chain that is fused. Not of inputs.
  const VertexShape& of(VertexId id, bool fused) const;

 private:
  std::vector<std::optional<VertexShape>> alone_;  // entry n belongs to VertexId(n); none for inputs
  std::vector<std::optional<VertexShape>> fused_;  // of the vertices of chains
};

/// The aim of a decomposition and the cost model that it minimises.
struct DecompositionOptions {
  std::int64_t parallelism = 1;                 ///< p: kernel calls wanted per vertex
  bool free_inputs = false;                     ///< the paper's rule: reading a stored tensor in any partition is free
  WantedPartitions output_partitions;           ///< prescribed for results; moving a result there counts
  const CostModel* model = &transfers_model();  ///< must outlive the decomposition
  const GraphShapes* shapes = nullptr;          ///< of the graph, which must outlive it, too; null: they are found anew
  bool fewer_calls = false;                     ///< a vertex may make fewer calls than p if that costs less
  /// With fewer_calls: limit on the bytes of one call's tiles, as far as extents allow; 0: none.
  double most_call_bytes = 0;
  /// Limits on the search for the optimum, and on improving a labelling that is not known to be optimal, in sums of
  /// table entries; 1e9 take about a second.
  double exact_work = 2e8;
  double descent_work = 2e8;
};

/// Whether a consumer reads the vertex without cost in any partition: a stored tensor if `free_inputs`, and always an
/// attached tensor that is read as a whole.
bool is_free_in_any_partition(const Vertex& vertex, const DecompositionOptions& options);

/// The partition vector of a vertex and its costs by the model. Inputs of the computation have none.
struct VertexLabelling {
  LabelPartition partition;
  double cost_join = 0;
  double cost_agg = 0;
  double cost_repart = 0;  ///< bringing its inputs from their producers' partitions to its own

  double cost() const { return cost_join + cost_agg + cost_repart; }
};

/// The paper's TaskGraph: a partition vector for every vertex. Entry n belongs to VertexId(n).
struct Labelling {
  std::vector<VertexLabelling> vertices;
  double cost_output = 0;  ///< moving the results to the prescribed partitions
  /// The exact sum of all costs, even if the algorithm that chose the vectors ignored some of them.
  double total_cost = 0;
};

/// The partition of a vertex's result: as stored for an input, otherwise `partition` projected to the labels of its
/// head.
Partition result_partition(const Vertex& vertex, const LabelPartition& partition);

/// Adapts partition vectors to the slices of their vertices. If slices cut a label into n parts, the entry becomes a
/// multiple of n, so that a slice is cut as finely as the whole was, if its extent allows it. Vertices without slices
/// keep their vectors.
std::vector<LabelPartition> fitted_to_slices(const EinGraph& graph, std::vector<LabelPartition> partitions);

/// Adapts partition vectors to results of cells, whose aggregated labels are not cut: cells that several calls make of
/// one part of a result are not combined.
std::vector<LabelPartition> fitted_to_cells(const EinGraph& graph, std::vector<LabelPartition> partitions);

/// Gives the vertices of each chain one partition vector, which cuts only rows: one of FusedChain::rows and then the
/// others in their order, until there are as many kernel calls as before; of these vectors the one that costs the
/// least. A chain keeps its vectors if the common one costs more, for instance because large operands are cut
/// differently, if its rows allow fewer than half of the calls, or if a vertex is sliced.
std::vector<LabelPartition> fitted_to_chains(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                             const DecompositionOptions& options);

/// All three: vectors that a rule gives, as the graph can have them.
std::vector<LabelPartition> fitted(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                   const DecompositionOptions& options);

/// The common partition vector of a chain over all its labels; nullopt unless its vertices agree and cut only rows.
std::optional<LabelPartition> partition_of_chain(const EinGraph& graph, const FusedChain& chain,
                                                 const std::vector<LabelPartition>& partitions);

/// Computes the costs of the given partition vectors (one per vertex, empty for inputs). Every edge counts, even if one
/// repartition will serve two edges.
Labelling evaluate(const EinGraph& graph, std::vector<LabelPartition> partitions, const DecompositionOptions& options);

}  // namespace eindb

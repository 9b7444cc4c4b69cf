#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "optimizer/labelling.hpp"

namespace eindb {

/// The dynamic program of EinDecomp, section 8.3, over some of the vertices of a graph, its members:
///
///     M[v, dZ] = min over viable d with d[lZ] = dZ of  cost_join(d) + cost_agg(d)
///                + sum over members u that v continues, min over dU of M[u, dU] + cost_repart(dU -> d[lU])
///                + sum over stored inputs of cost_repart(stored partition -> d[lX])    (unless inputs are free)
///
/// A member continues another if it is that one's `successor`; edges that are no such step, and inputs that are no
/// members, count nothing here. So with every consumer a successor it is the exact program for trees, and with the
/// next vertex of a path as successor it is the paper's program for a path.
///
/// Usage: add members, producers first; then label() for every member without successor. One graph, one use.
class DecompositionTable {
 public:
  using VertexIndex = std::size_t;
  static constexpr VertexIndex kNone = static_cast<VertexIndex>(-1);

  /// `successor[u]` for every vertex u. Graph, options and successor must outlive the table.
  DecompositionTable(const EinGraph& graph, const DecompositionOptions& options,
                     const std::vector<VertexIndex>& successor);

  /// Fills M[v, .]. Every member u with successor[u] = v has been added.
  void add(VertexIndex v);
  /// Picks the best M[v, .] of a member without successor and traces back, writing the partition vectors chosen.
  void label(VertexIndex v, std::vector<LabelPartition>& partitions) const;

 private:
  // One M[v, dZ], with the choice that it came from.
  struct Entry {
    Partition output;
    double cost = 0;
    Partition d;
    std::vector<std::size_t> steps;  // entry chosen of each member that v continues, in the order of Member::steps
  };
  // A member that v continues, and all the inputs of v that read it.
  struct Step {
    VertexIndex producer = kNone;
    std::vector<std::size_t> inputs;
  };
  struct PartitionHash {
    std::size_t operator()(const Partition& d) const;
  };
  template <class Value>
  using ByPartition = std::unordered_map<Partition, Value, PartitionHash>;
  struct Member {
    std::vector<Step> steps;
    std::vector<Entry> entries;         // ascending by cost
    ByPartition<std::size_t> entry_of;  // by dZ
  };
  struct Best {
    double cost = 0;
    std::size_t entry = 0;
  };
  using Memo = ByPartition<Best>;

  std::vector<Step> steps_into(VertexIndex v) const;
  double cost_of_stored(const Vertex& vertex, const std::vector<Partition>& needed) const;
  std::vector<Entry> best_entries(VertexIndex v, const std::vector<Step>& steps) const;
  Best cheapest(const Step& step, const std::vector<Partition>& needed, Memo& memo) const;
  std::size_t best_entry(VertexIndex v) const;

  const EinGraph& graph_;
  const DecompositionOptions& options_;
  const std::vector<VertexIndex>& successor_;
  const std::size_t most_vectors_;  // of those viable, at each vertex
  std::unordered_map<VertexIndex, Member> members_;
};

}  // namespace eindb

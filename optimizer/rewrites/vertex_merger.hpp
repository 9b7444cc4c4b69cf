#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

#include "plan/ein_graph.hpp"
#include "tensor/label.hpp"

namespace eindb {

using LabelMap = std::unordered_map<Label, Label>;

/// Applies `now` to a label, and leaves labels that it lacks as they are.
std::function<Label(Label)> renaming(const LabelMap& now);
/// The labels of a vertex's head, each with the label with which the vertex is read.
LabelMap labels_as_read(const Labels& head, const Labels& read);

/// The number of nodes of an expression, and of places where it has an operand.
std::size_t nodes_of(const ScalarExpression& e);
std::size_t occurrences(const ScalarExpression& e, std::size_t operand);

double cells_of(const LabelTable& table, const Labels& labels);

/// Whether a vertex is computed and stored in one type, without an epilogue.
bool is_plain(const Vertex& vertex);
/// Whether an expression has only operations that take no longer than loading a value and storing it.
bool is_cheap(const ScalarExpression& e);

/// The vertices of a graph while a pass merges them into their readers. Merged vertices are no longer read, nor are
/// inputs that only they read; result() leaves them out. Inputs keep their numbers until then.
class VertexMerger {
 public:
  explicit VertexMerger(const EinGraph& graph);

  std::size_t size() const { return vertices_.size(); }
  const Vertex& vertex(std::size_t n) const { return vertices_[n]; }
  const Vertex& vertex(VertexId id) const { return vertices_[id.index()]; }
  /// The number of times that vertices read it, plus one for a result of the graph.
  int uses(std::size_t n) const { return uses_[n]; }
  int uses(VertexId id) const { return uses_[id.index()]; }
  const LabelTable& labels() const { return labels_; }
  /// A new label of the same name and extent.
  Label copy_of(Label label);

  /// Puts a vertex in place of number n. It reads vertices before it.
  void replace(std::size_t n, Vertex vertex);

  /// Vertex n with the expression of what it reads as `operand` in place of that operand. Labels over which the operand
  /// aggregates get new names, and are aggregated by the vertex.
  Vertex with_operand_taken_in(std::size_t n, std::size_t operand);

  /// The graph without what is no longer read.
  EinGraph result() const;

 private:
  void release(VertexId id);

  const EinGraph& graph_;
  VertexList vertices_;
  LabelTable labels_;
  std::vector<int> uses_;  // as EinGraph::use_counts
};

}  // namespace eindb

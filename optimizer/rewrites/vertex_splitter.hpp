#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/check.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Unique names for vertices that passes add: the parts of Z are "Z.1", "Z.2", ..., skipping names in use.
class VertexNames {
 public:
  explicit VertexNames(const EinGraph& graph);
  std::string next(const std::string& base);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> last_;
};

/// Returns the vertex of the new graph that replaces the given one; nullopt keeps the given one unchanged.
using Rewrite = std::function<std::optional<VertexId>(EinGraph&, const Vertex&)>;

/// Builds a graph over the same labels, vertex by vertex in order. `rewrite` gets a vertex whose inputs already refer
/// to the new graph. It may add any vertices and returns the one that replaces the given one.
EinGraph rewrite_each(const EinGraph& graph, const Rewrite& rewrite);
/// Adds vertex n of a list to `out`, where now[m] replaces vertex m; shared if none of its inputs has another number.
VertexId add_renumbered(EinGraph& out, const VertexList& from, std::size_t n, const std::vector<VertexId>& now);

/// Whether several operands of a vertex read the same vertex with the same labels.
bool has_equal_operands(const Vertex& vertex);
/// Merges operands of a vertex that read the same vertex with the same labels: X[i,j] * X[i,j] is unary.
Vertex unite_operands(Vertex vertex);

/// Takes one vertex apart into several, for passes.
///
/// Operands are numbered: first those of the vertex, then the parts in the order in which they are added. Expressions
/// passed in use these numbers. Each new vertex gets the operands that it reads, in order of occurrence.
///
/// Types: a part is stored in the type that its expression has within the whole (tensor/scalar_types). Expressions that
/// a pass adds without a type adapt to their context. The last vertex keeps the types of the whole.
class VertexSplitter {
 public:
  /// `vertex` reads vertices of `graph`; both must outlive the splitter.
  VertexSplitter(EinGraph& graph, VertexNames& names, Vertex vertex);

  const Vertex& vertex() const { return vertex_; }
  /// What the vertex reads, and the parts added so far.
  const EinGraph& graph() const { return graph_; }
  const LabelTable& labels() const { return graph_.labels(); }
  const Labels& labels_of(std::size_t operand) const {
    CHECK(operand < operands_.size(), "operands are those of the vertex and the parts added");
    return operands_[operand].labels;
  }
  /// Distinct labels of the operands read and of label values, in order of occurrence.
  Labels labels_of(const ScalarExpression& expression) const;
  /// The type of the expression's value.
  DType type_of(const ScalarExpression& expression) const;

  /// Adds `part[output] = how over aggregated of expression`, element-wise if nothing is aggregated. Returns an
  /// expression that reads it as an operand.
  ScalarPtr add_part(const ScalarPtr& expression, Labels output, Labels aggregated, Aggregate how);
  /// Adds the rest of the vertex, with its name, head, type and aggregate (none if nothing is aggregated).
  VertexId finish(const ScalarPtr& expression, Labels aggregated);

 private:
  struct Operand {
    VertexId vertex;
    Labels labels;
  };
  Vertex build(std::string name, const ScalarPtr& expression, EinSum head, DType type) const;

  EinGraph& graph_;
  VertexNames& names_;
  Vertex vertex_;
  std::vector<Operand> operands_;
  std::vector<DType> types_;  // of the operands
};

}  // namespace eindb

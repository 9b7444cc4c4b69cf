#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A tensor of derivatives: a vertex, or, without one, the same number in all cells.
struct Derivative {
  std::optional<VertexId> vertex = {};
  ScalarPtr constant = nullptr;  ///< set exactly if `vertex` is not set

  bool is_valid() const { return vertex.has_value() == (constant == nullptr); }
};

/// An EinSum under construction: first operands are read, then an expression over them is built, and the vertex is
/// added with the operands that the expression uses.
class VertexDraft {
 public:
  explicit VertexDraft(EinGraph& graph) : graph_(graph) {}

  /// An operand that reads `vertex` with `labels`.
  ScalarPtr read(VertexId vertex, Labels labels);
  /// An operand, or the constant. Labels are those of the vertex.
  ScalarPtr read(const Derivative& derivative, const Labels& labels);
  /// Types of the operands read so far.
  const std::vector<DType>& types() const { return types_; }

  /// Adds `name[output] = SUM over the rest of `domain` of expression`, stored in `type`. If `type` is real and values
  /// are complex, the real part is taken in a vertex of its own, so that a contraction stays one. A label of `output`
  /// may be repeated; the result is then on the diagonal, with zeros elsewhere. A label of `domain` that nothing
  /// depends on multiplies by its extent. nullopt: the result is zero, as `expression` is null or the sum is empty.
  std::optional<Derivative> sum(const std::string& name, const Labels& output, const Labels& domain,
                                const ScalarPtr& expression, DType type);

 private:
  Labels labels_of(const ScalarExpression& expression) const;
  VertexId add(const std::string& name, const Labels& output, const Labels& aggregated, const ScalarPtr& expression,
               DType type);

  EinGraph& graph_;
  std::vector<VertexId> inputs_;
  std::vector<Labels> labels_;
  std::vector<DType> types_;
};

/// The element type of cotangents and tangents of values of `type`: floating point, real or complex.
inline DType derivative_type(DType type) { return floating_of(type); }

/// The sum of terms with equal extents, read with distinct `labels`; a single term is returned unchanged; nullopt for
/// none.
std::optional<Derivative> add_up(EinGraph& graph, const std::vector<Derivative>& terms, const Labels& labels,
                                 const std::string& name, DType type);

/// A vertex with the distinct `labels` as its head and the value of `derivative`; nullopt means zero.
VertexId materialize(EinGraph& graph, const std::string& name, const Labels& labels,
                     const std::optional<Derivative>& derivative, DType type);

/// A vertex over `labels` with `to` in the place of `from`, which has at each index of `to` the value of `vertex` at
/// that index + distance of `from`, and 0 where that index lies outside. `vertex` is read with `labels`.
VertexId shifted(EinGraph& graph, const std::string& name, VertexId vertex, const Labels& labels, Label from, Label to,
                 std::int64_t distance, DType type);

/// The definition that a vertex of this name belongs to, for messages: parts of Z are named Z.1, Z.2, ...
std::string definition_of(const EinGraph& graph, const std::string& name);

}  // namespace eindb

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A tensor of derivatives: a vertex, or the same number in all its cells, which no vertex is needed for.
struct Derivative {
  std::optional<VertexId> vertex = {};
  ScalarPtr constant = nullptr;  ///< set exactly if `vertex` is not

  bool is_valid() const { return vertex.has_value() == (constant == nullptr); }
};

/// An EinSum in the making: operands are read first, then an expression over them is put together, and the vertex is
/// added with those operands that the expression has come to need.
class VertexDraft {
 public:
  explicit VertexDraft(EinGraph& graph) : graph_(graph) {}

  /// The operand that reads `vertex` with `labels`.
  ScalarPtr read(VertexId vertex, Labels labels);
  /// The operand, or the number. Labels are those of the vertex.
  ScalarPtr read(const Derivative& derivative, const Labels& labels);
  /// Types of the operands read so far.
  const std::vector<DType>& types() const { return types_; }

  /// Adds `name[output] = SUM over the rest of `domain` of expression`, stored in `type`; of complex values a real type
  /// takes the real part, in a vertex of its own, so that a contraction stays one. A label of `output` may be repeated:
  /// the result is on the diagonal then, with zeros beside it. A label of `domain` that nothing depends on counts as
  /// many times as it has values. nullopt: an empty sum, or of null; zero.
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

/// The sum of terms of the same extents, read with `labels`, distinct; a single term as it is; nullopt for none.
std::optional<Derivative> add_up(EinGraph& graph, const std::vector<Derivative>& terms, const Labels& labels,
                                 const std::string& name, DType type);

/// A vertex with `labels` as its head, whatever `derivative` is; nullopt is zero. `labels` are distinct.
VertexId materialize(EinGraph& graph, const std::string& name, const Labels& labels,
                     const std::optional<Derivative>& derivative, DType type);

}  // namespace eindb

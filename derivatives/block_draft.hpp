#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "derivatives/scalar_algebra.hpp"
#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/block_function.hpp"

namespace eindb {

/// A tensor read with labels.
struct LabelledVertex {
  VertexId vertex;
  Labels labels;
};

/// Error{Type}: `vertex` depends on `function`, which has no derivative; `why` becomes the hint.
[[noreturn]] void refuse_block(const EinGraph& graph, const Vertex& vertex, const std::string& function,
                               const std::string& why);

/// The base class of the rules for derivatives of vertices with a block function (tensor/block_function). It has the
/// vertex's operands and its result, read with labels that a rule chooses for their core labels, and helpers that add
/// vertices to the graph.
class BlockDraft {
 protected:
  using Tangents = std::vector<std::optional<Derivative>>;

  /// Vertices that the rule adds are named after `name`, the last one exactly so.
  BlockDraft(EinGraph& graph, VertexId id, std::string name);

  std::string next_name() { return name_ + "." + std::to_string(++made_); }
  Label fresh(Label like) { return graph_.labels().add(graph_.labels().name(like), graph_.labels().extent(like)); }
  std::int64_t extent(Label label) const { return graph_.labels().extent(label); }

  /// Labels with others in the place of the core labels, in their order.
  static Labels replaced(Labels labels, const Labels& core, const Labels& others);
  Labels result_labels(const Labels& core) const;
  /// The result, or the first operand, with these labels in the place of the core labels.
  LabelledVertex result(const Labels& core) const { return {id_, result_labels(core)}; }
  LabelledVertex operand(const Labels& core) const;
  /// The first operand with its core labels last.
  LabelledVertex in_order();
  Labels batch() const;
  Labels with_batch(const Labels& more) const;

  /// The tangent of operand n, read with its labels, each of them once.
  LabelledVertex tangent_of(std::size_t n, const Tangents& tangents);
  /// sign * the product of the factors, summed over the labels that are not in the output.
  std::optional<Derivative> contracted(const std::string& name, const Labels& output,
                                       const std::vector<LabelledVertex>& factors, double sign = 1);
  LabelledVertex contraction(const Labels& output, const std::vector<LabelledVertex>& factors, double sign = 1);
  /// a + sign * b, which have equal labels but for their order.
  LabelledVertex sum_of(const Labels& output, const LabelledVertex& a, const LabelledVertex& b, double sign = 1);
  /// A function of matrices. The last labels of the operands, as many as `ranks` says, are theirs.
  LabelledVertex block(BlockOp op, const Labels& output, const std::vector<LabelledVertex>& operands,
                       const std::vector<std::size_t>& ranks);
  /// An expression over what is read of the factors, without a sum.
  template <class Make>
  LabelledVertex mapped(const Labels& output, const std::vector<LabelledVertex>& factors, Make&& make) {
    VertexDraft draft(graph_);
    std::vector<ScalarPtr> read;
    for (const auto& [vertex, labels] : factors) read.push_back(draft.read(vertex, labels));
    auto made = draft.sum(next_name(), output, output, std::forward<Make>(make)(read), type_);
    return {made && made->vertex ? *made->vertex : materialize(graph_, next_name(), output, made, type_), output};
  }
  /// At each index of `to` what stands at that index + distance of the label `from`; 0 where that is outside.
  LabelledVertex shifted(const LabelledVertex& factor, Label from, Label to, std::int64_t distance);
  /// The values of `factor` at one index of a label. The result lacks that label.
  LabelledVertex at_index(const LabelledVertex& factor, Label label, std::int64_t index);

  /// For functions that read the lower triangle of a matrix alone, which have all of a symmetric derivative there: the
  /// derivative of the first operand, M + M^T below the diagonal; and the symmetric matrix whose lower triangle M has.
  std::optional<Derivative> lower_triangle(const LabelledVertex& m);
  LabelledVertex symmetric(const LabelledVertex& m);

  EinGraph& graph_;
  VertexId id_;
  Vertex vertex_;
  std::string name_;
  DType type_;          ///< of derivatives
  Labels core_;         ///< the core labels of the first operand
  Labels result_core_;  ///< those of the result

 private:
  int made_ = 0;
};

/// The index of a label, and a comparison of two of them.
ScalarPtr index_of(Label label);
ScalarPtr compared(ScalarOp op, Label a, Label b);

}  // namespace eindb

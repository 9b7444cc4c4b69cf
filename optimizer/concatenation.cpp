#include "optimizer/concatenation.hpp"

#include <algorithm>
#include <limits>

#include "tensor/access_form.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

class ConcatenationFinder {
 public:
  ConcatenationFinder(const EinGraph& graph, const FusedChain& chain) : graph_(graph), chain_(chain) {}

  std::optional<Concatenation> run() {
    const auto& whole = graph_.vertex(chain_.result);
    if (whole.cells || whole.dtype != whole.compute_dtype || whole.bound.element_count() == 0) return std::nullopt;
    const auto label = label_of_choice(whole);
    if (!label || !contains(whole.einsum.output, *label)) return std::nullopt;
    found_.along = dimension_of(whole, *label);
    if (!add_choice(chain_.result, {0, whole.bound[found_.along]}, 0)) return std::nullopt;
    auto distinct = found_.parts;
    std::sort(distinct.begin(), distinct.end());
    if (std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end()) return std::nullopt;
    return found_;
  }

 private:
  // Indices begin to before end.
  struct Interval {
    std::int64_t begin;
    std::int64_t end;
  };

  static std::size_t dimension_of(const Vertex& vertex, Label label) {
    const auto& head = vertex.einsum.output;
    return static_cast<std::size_t>(std::find(head.begin(), head.end(), label) - head.begin());
  }

  bool is_inside(VertexId id) const { return std::binary_search(chain_.body.begin(), chain_.body.end(), id); }

  // The label i of CASE WHEN i < c THEN x ELSE y END.
  static std::optional<Label> label_of_choice(const Vertex& vertex) {
    if (vertex.is_input() || vertex.einsum.aggregate != Aggregate::None) return std::nullopt;
    const auto& e = *vertex.einsum.expression;
    if (!e.is_call(ScalarOp::Case) || e.arguments().size() != 3 || !e.arguments()[0]->is_call(ScalarOp::Less))
      return std::nullopt;
    const auto& index = *e.arguments()[0]->arguments()[0];
    const auto& end = *e.arguments()[0]->arguments()[1];
    return index.kind() == Kind::LabelIndex && end.kind() == Kind::Integer ? std::optional(index.label())
                                                                           : std::nullopt;
  }

  // Adds the parts of a vertex that chooses by the index of the dimension, for the indices of an interval.
  bool add_choice(VertexId id, Interval all, int depth) {
    constexpr int kDeepest = 64;  // of CONCAT with more arguments than can be written
    const auto& vertex = graph_.vertex(id);
    const auto label = label_of_choice(vertex);
    if (!label || depth > kDeepest || vertex.dtype != graph_.vertex(chain_.result).dtype ||
        vertex.dtype != vertex.compute_dtype || dimension_of(vertex, *label) != found_.along)
      return false;
    return add_expression(vertex, *label, *vertex.einsum.expression, all, depth);
  }

  bool add_expression(const Vertex& vertex, Label along, const ScalarExpression& e, Interval all, int depth) {
    if (all.begin >= all.end) return true;
    if (e.is_call(ScalarOp::Case)) {
      if (e.arguments().size() != 3 || !e.arguments()[0]->is_call(ScalarOp::Less)) return false;
      const auto& index = *e.arguments()[0]->arguments()[0];
      const auto& end = *e.arguments()[0]->arguments()[1];
      if (index.kind() != Kind::LabelIndex || index.label() != along || end.kind() != Kind::Integer) return false;
      const auto middle = std::clamp(end.integer_value(), all.begin, all.end);
      return add_expression(vertex, along, *e.arguments()[1], {all.begin, middle}, depth) &&
             add_expression(vertex, along, *e.arguments()[2], {middle, all.end}, depth);
    }
    if (e.kind() != Kind::Operand || vertex.einsum.inputs[e.operand()] != vertex.einsum.output) return false;
    const auto read = vertex.inputs[e.operand()];
    if (!is_inside(read)) return false;
    return add_window(graph_.vertex(read), all) || add_choice(read, all, depth + 1);
  }

  // Adds what the window reads, if that is all there and fills the interval.
  bool add_window(const Vertex& window, Interval all) {
    if (!is_window_of(graph_, window)) return false;
    const auto form = window_form(window.einsum, graph_.labels());
    const auto& read = window.einsum.inputs.front();
    if (!form || form->determined.size() != 1 || read.size() != window.einsum.output.size() ||
        found_.along >= read.size())
      return false;
    const auto& [label, operand, shift, mask, coefficients, offset] = form->determined.front();
    if (operand || coefficients.size() != 1 ||
        coefficients.front() != std::pair(window.einsum.output[found_.along], std::int64_t{1}))
      return false;
    for (std::size_t d = 0; d < read.size(); ++d)
      if (read[d] != (d == found_.along ? label : window.einsum.output[d])) return false;
    const auto& part = graph_.vertex(window.inputs.front());
    // The index is i + offset.
    if (offset != -all.begin || part.bound[found_.along] != all.end - all.begin || part.cells ||
        is_inside(window.inputs.front()))
      return false;
    found_.parts.push_back(window.inputs.front());
    return true;
  }

  const EinGraph& graph_;
  const FusedChain& chain_;
  Concatenation found_;
};

}  // namespace

std::optional<Concatenation> concatenation_of(const EinGraph& graph, const FusedChain& chain) {
  return ConcatenationFinder(graph, chain).run();
}

}  // namespace eindb

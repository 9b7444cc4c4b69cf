#include "optimizer/rewrites/elementwise_fusion.hpp"

#include "common/check.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

// Kernels hold a register of some kilobytes per operation; with more operations they exceed the fast caches.
constexpr std::size_t kMostNodes = 64;

// Whether the vertex only copies its one operand.
bool is_copy(const Vertex& vertex) {
  return !vertex.is_input() && vertex.einsum.aggregate == Aggregate::None && vertex.inputs.size() == 1 &&
         vertex.einsum.expression->kind() == ScalarExpression::Kind::Operand;
}

class Fusion {
 public:
  explicit Fusion(const EinGraph& graph) : vertices_(graph) {}

  EinGraph run() {
    // The inputs of a vertex come before it and are in their final form.
    for (std::size_t n = 0; n < vertices_.size(); ++n) {
      if (vertices_.vertex(n).is_input() || vertices_.uses(n) == 0) continue;
      for (std::size_t i = 0; i < vertices_.vertex(n).inputs.size(); ++i) read_original(n, i);
      if (has_equal_operands(vertices_.vertex(n))) vertices_.replace(n, unite_operands(vertices_.vertex(n)));
      while (take_in_some_operand(n)) {
      }
      absorb_operand(n);
    }
    return vertices_.result();
  }

 private:
  void read_original(std::size_t n, std::size_t operand) {
    for (;;) {
      const auto& copy = vertices_.vertex(vertices_.vertex(n).inputs[operand]);
      if (!is_copy(copy) || copy.dtype != vertices_.vertex(copy.inputs[0]).dtype) return;
      // The kernels of contractions require that an operand has each label.
      const bool broadcasts = !difference(copy.einsum.output, copy.einsum.inputs[0]).empty();
      if (broadcasts && vertices_.vertex(n).einsum.aggregate != Aggregate::None) return;
      auto vertex = vertices_.vertex(n);
      const auto now = labels_as_read(copy.einsum.output, vertex.einsum.inputs[operand]);
      vertex.einsum.inputs[operand] = rename_labels(copy.einsum.inputs[0], renaming(now));
      vertex.inputs[operand] = copy.inputs[0];
      vertices_.replace(n, std::move(vertex));
    }
  }

  bool take_in_some_operand(std::size_t n) {
    for (std::size_t i = 0; i < vertices_.vertex(n).inputs.size(); ++i) {
      if (!may_take_in(n, i)) continue;
      auto fused = unite_operands(vertices_.with_operand_taken_in(n, i));
      if (fused.inputs.size() > kMostOperands) continue;
      vertices_.replace(n, std::move(fused));
      return true;
    }
    return false;
  }

  bool may_take_in(std::size_t n, std::size_t operand) const {
    const auto& reader = vertices_.vertex(n);
    const auto& part = vertices_.vertex(reader.inputs[operand]);
    if (part.is_input() || part.einsum.aggregate != Aggregate::None || vertices_.uses(reader.inputs[operand]) != 1)
      return false;
    if (part.dtype != part.compute_dtype || !skipped_labels(reader.einsum, reader.compute_dtype).empty()) return false;
    if (cells_of(vertices_.labels(), reader.einsum.labels()) > cells_of(vertices_.labels(), part.einsum.output))
      return false;
    const auto times = occurrences(*reader.einsum.expression, operand);
    return nodes_of(*reader.einsum.expression) + times * nodes_of(*part.einsum.expression) <= kMostNodes;
  }

  // Whether vertex n is Z[j,i] = f(S[i,j]), nothing else reads S, and S could store the values of f as well.
  bool may_absorb(std::size_t n) const {
    const auto& reader = vertices_.vertex(n);
    if (reader.einsum.aggregate != Aggregate::None || reader.inputs.size() != 1) return false;
    if (operands_of(*reader.einsum.expression).empty()) return false;  // a constant is no function of its input
    const auto& part = vertices_.vertex(reader.inputs[0]);
    if (part.is_input() || vertices_.uses(reader.inputs[0]) != 1) return false;
    const auto& read = reader.einsum.inputs[0];
    const DistinctLabels distinct(read);
    if (distinct.labels().size() != read.size() || !difference(reader.einsum.output, read).empty()) return false;
    if (is_copy(reader)) return part.dtype == reader.dtype || part.dtype == part.compute_dtype;
    const auto nodes =
        nodes_of(*reader.einsum.expression) * (part.einsum.epilogue == nullptr ? 1 : nodes_of(*part.einsum.epilogue));
    return part.einsum.aggregate != Aggregate::None && part.dtype == part.compute_dtype &&
           part.compute_dtype == reader.compute_dtype && nodes <= kMostNodes &&
           index_labels_of(*reader.einsum.expression).empty();
  }

  // Makes Z compute the expression of S followed by f, as an epilogue unless f is a plain copy.
  void absorb_operand(std::size_t n) {
    if (!may_absorb(n)) return;
    const auto& reader = vertices_.vertex(n);
    const auto& part = vertices_.vertex(reader.inputs[0]);
    const auto& read = reader.einsum.inputs[0];
    const DistinctLabels distinct(read);

    auto vertex = part;
    if (!is_copy(reader)) {
      const auto& inner = part.einsum.epilogue;
      vertex.einsum.epilogue = substitute_operands(reader.einsum.expression, [&](std::size_t) {
        return inner == nullptr ? ScalarExpression::operand(0) : inner;
      });
    }
    auto now = labels_as_read(part.einsum.output, read);
    for (const auto label : part.einsum.aggregated)
      if (distinct.contains(label)) now.emplace(label, vertices_.copy_of(label));
    for (auto& input : vertex.einsum.inputs) input = rename_labels(input, renaming(now));
    vertex.einsum.aggregated = rename_labels(part.einsum.aggregated, renaming(now));
    vertex.einsum.expression = rename_labels(part.einsum.expression, renaming(now));
    vertex.einsum.output = reader.einsum.output;
    vertex.name = reader.name;
    vertex.bound = reader.bound;
    vertex.dtype = reader.dtype;
    vertices_.replace(n, std::move(vertex));
  }

  static constexpr std::size_t kMostOperands = 2;

  VertexMerger vertices_;
};

}  // namespace

EinGraph fuse_elementwise(const EinGraph& graph) { return Fusion(graph).run(); }

}  // namespace eindb

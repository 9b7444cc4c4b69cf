#include "optimizer/rewrites/elementwise_fusion.hpp"

#include <unordered_map>

#include "common/check.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {
namespace {

using LabelMap = std::unordered_map<Label, Label>;

// Kernels hold a register of some kilobytes per operation; with more operations they exceed the fast caches.
constexpr std::size_t kMostNodes = 64;

LabelRenaming renaming(const LabelMap& now) {
  return [&now](Label label) {
    const auto found = now.find(label);
    return found == now.end() ? label : found->second;
  };
}

LabelMap labels_as_read(const Labels& head, const Labels& read) {
  CHECK(head.size() == read.size(), "a vertex is read with a label for each dimension of its head");
  LabelMap now;
  for (std::size_t d = 0; d < head.size(); ++d) now.emplace(head[d], read[d]);
  return now;
}

std::size_t nodes_of(const ScalarExpression& e) {
  std::size_t count = 1;
  for (const auto& argument : e.arguments()) count += nodes_of(*argument);
  return count;
}

std::size_t occurrences(const ScalarExpression& e, std::size_t operand) {
  std::size_t count = e.kind() == ScalarExpression::Kind::Operand && e.operand() == operand ? 1 : 0;
  for (const auto& argument : e.arguments()) count += occurrences(*argument, operand);
  return count;
}

double cells_of(const LabelTable& table, const Labels& labels) {
  double cells = 1;
  for (const auto label : labels) cells *= static_cast<double>(table.extent(label));
  return cells;
}

// Whether the vertex only copies its one operand.
bool is_copy(const Vertex& vertex) {
  return !vertex.is_input() && vertex.einsum.aggregate == Aggregate::None && vertex.inputs.size() == 1 &&
         vertex.einsum.expression->kind() == ScalarExpression::Kind::Operand;
}

class Fusion {
 public:
  explicit Fusion(const EinGraph& graph)
      : graph_(graph), vertices_(graph.vertices()), labels_(graph.labels()), uses_(graph.use_counts()) {}

  EinGraph run() {
    // The inputs of a vertex come before it and are in their final form.
    for (std::size_t n = 0; n < vertices_.size(); ++n) {
      if (vertices_[n].is_input() || uses_[n] == 0) continue;
      for (std::size_t i = 0; i < vertices_[n].inputs.size(); ++i) read_original(n, i);
      replace(n, unite_operands(vertices_[n]));
      while (take_in_some_operand(n)) {
      }
      absorb_operand(n);
    }
    return result();
  }

 private:
  // Merged or bypassed vertices are no longer read, nor are inputs that only they read.
  void release(VertexId id) {
    std::vector<VertexId> released{id};
    while (!released.empty()) {
      const auto last = released.back().index();
      released.pop_back();
      CHECK(uses_[last] > 0, "what is released was in use");
      if (--uses_[last] > 0) continue;
      const auto& inputs = vertices_[last].inputs;
      released.insert(released.end(), inputs.begin(), inputs.end());
    }
  }

  void replace(std::size_t n, Vertex vertex) {
    for (const auto input : vertex.inputs) {
      CHECK(input.index() < n, "a vertex reads what comes before it");
      ++uses_[input.index()];
    }
    const auto before = vertices_[n].inputs;
    vertices_[n] = std::move(vertex);
    for (const auto input : before) release(input);
  }

  void read_original(std::size_t n, std::size_t operand) {
    for (;;) {
      const auto& copy = vertices_[vertices_[n].inputs[operand].index()];
      if (!is_copy(copy) || copy.dtype != vertices_[copy.inputs[0].index()].dtype) return;
      // The kernels of contractions require that an operand has each label.
      const bool broadcasts = !difference(copy.einsum.output, copy.einsum.inputs[0]).empty();
      if (broadcasts && vertices_[n].einsum.aggregate != Aggregate::None) return;
      auto vertex = vertices_[n];
      const auto now = labels_as_read(copy.einsum.output, vertex.einsum.inputs[operand]);
      vertex.einsum.inputs[operand] = rename_labels(copy.einsum.inputs[0], renaming(now));
      vertex.inputs[operand] = copy.inputs[0];
      replace(n, std::move(vertex));
    }
  }

  bool take_in_some_operand(std::size_t n) {
    for (std::size_t i = 0; i < vertices_[n].inputs.size(); ++i) {
      if (!may_take_in(n, i)) continue;
      auto fused = unite_operands(with_operand_taken_in(n, i));
      if (fused.inputs.size() > kMostOperands) continue;
      replace(n, std::move(fused));
      return true;
    }
    return false;
  }

  bool may_take_in(std::size_t n, std::size_t operand) const {
    const auto& reader = vertices_[n];
    const auto& part = vertices_[reader.inputs[operand].index()];
    if (part.is_input() || part.einsum.aggregate != Aggregate::None || uses_[reader.inputs[operand].index()] != 1)
      return false;
    if (part.dtype != part.compute_dtype) return false;
    if (cells_of(labels_, reader.einsum.labels()) > cells_of(labels_, part.einsum.output)) return false;
    const auto times = occurrences(*reader.einsum.expression, operand);
    return nodes_of(*reader.einsum.expression) + times * nodes_of(*part.einsum.expression) <= kMostNodes;
  }

  Vertex with_operand_taken_in(std::size_t n, std::size_t operand) const {
    auto vertex = vertices_[n];
    const auto& part = vertices_[vertex.inputs[operand].index()];
    const auto now = labels_as_read(part.einsum.output, vertex.einsum.inputs[operand]);
    const auto first = vertex.inputs.size();  // of the part's operands; the position of the merged operand stays unused
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      vertex.inputs.push_back(part.inputs[i]);
      vertex.einsum.inputs.push_back(rename_labels(part.einsum.inputs[i], renaming(now)));
    }
    const auto inside = substitute_operands(rename_labels(part.einsum.expression, renaming(now)),
                                            [&](std::size_t i) { return ScalarExpression::operand(first + i - 1); });
    CHECK(vertex.inputs.size() == vertex.einsum.inputs.size() && operand < first,
          "an operand that is taken in was read");
    const auto place = static_cast<std::ptrdiff_t>(operand);
    vertex.inputs.erase(vertex.inputs.begin() + place);
    vertex.einsum.inputs.erase(vertex.einsum.inputs.begin() + place);
    vertex.einsum.expression = substitute_operands(vertex.einsum.expression, [&](std::size_t i) {
      return i == operand ? inside : ScalarExpression::operand(i < operand ? i : i - 1);
    });
    return vertex;
  }

  // Whether vertex n is Z[j,i] = f(S[i,j]), nothing else reads S, and S could store the values of f as well.
  bool may_absorb(std::size_t n) const {
    const auto& reader = vertices_[n];
    if (reader.einsum.aggregate != Aggregate::None || reader.inputs.size() != 1) return false;
    if (operands_of(*reader.einsum.expression).empty()) return false;  // a constant is no function of its input
    const auto& part = vertices_[reader.inputs[0].index()];
    if (part.is_input() || uses_[reader.inputs[0].index()] != 1) return false;
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
    const auto& reader = vertices_[n];
    const auto& part = vertices_[reader.inputs[0].index()];
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
      if (distinct.contains(label)) now.emplace(label, labels_.add(labels_.name(label), labels_.extent(label)));
    for (auto& input : vertex.einsum.inputs) input = rename_labels(input, renaming(now));
    vertex.einsum.aggregated = rename_labels(part.einsum.aggregated, renaming(now));
    vertex.einsum.expression = rename_labels(part.einsum.expression, renaming(now));
    vertex.einsum.output = reader.einsum.output;
    vertex.name = reader.name;
    vertex.bound = reader.bound;
    vertex.dtype = reader.dtype;
    replace(n, std::move(vertex));
  }

  // The graph without merged and bypassed vertices.
  EinGraph result() const {
    EinGraph out;
    out.labels() = labels_;
    std::vector<VertexId> now(vertices_.size());
    const auto before = graph_.use_counts();
    for (std::size_t n = 0; n < vertices_.size(); ++n) {
      if (uses_[n] == 0 && before[n] > 0) continue;
      auto vertex = vertices_[n];
      for (auto& input : vertex.inputs) {
        CHECK(uses_[input.index()] > 0, "what is read was not taken in");
        input = now[input.index()];
      }
      now[n] = out.add(std::move(vertex));
    }
    out.set_outputs(outputs_now(graph_, now));
    return out;
  }

  static constexpr std::size_t kMostOperands = 2;

  const EinGraph& graph_;
  std::vector<Vertex> vertices_;
  LabelTable labels_;
  std::vector<int> uses_;  // as EinGraph::use_counts
};

}  // namespace

EinGraph fuse_elementwise(const EinGraph& graph) { return Fusion(graph).run(); }

}  // namespace eindb

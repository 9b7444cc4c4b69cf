#include "optimizer/rewrites/vertex_merger.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

std::function<Label(Label)> renaming(const LabelMap& now) {
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

bool is_plain(const Vertex& vertex) {
  return !vertex.is_input() && vertex.einsum.epilogue == nullptr && vertex.dtype == vertex.compute_dtype;
}

bool is_cheap(const ScalarExpression& e) {
  using enum ScalarOp;
  if (e.kind() == ScalarExpression::Kind::Uniform || e.kind() == ScalarExpression::Kind::Normal) return false;
  const auto& arguments = e.arguments();
  if (!std::all_of(arguments.begin(), arguments.end(), [](const ScalarPtr& argument) { return is_cheap(*argument); }))
    return false;
  if (e.kind() != ScalarExpression::Kind::Call || gives_boolean(e.op()) || converts_to(e.op())) return true;
  switch (e.op()) {
    case Add:
    case Subtract:
    case Multiply:
    case Negate:
    case Abs:
    case Least:
    case Greatest:
    case Relu:
    case Divide:
    case Sqrt:
    case Case: return true;
    default: return false;
  }
}

VertexMerger::VertexMerger(const EinGraph& graph)
    : graph_(graph), vertices_(graph.vertices()), labels_(graph.labels()), uses_(graph.use_counts()) {}

Label VertexMerger::copy_of(Label label) { return labels_.add(labels_.name(label), labels_.extent(label)); }

void VertexMerger::release(VertexId id) {
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

void VertexMerger::replace(std::size_t n, Vertex vertex) {
  for (const auto input : vertex.inputs) {
    CHECK(input.index() < n, "a vertex reads what comes before it");
    ++uses_[input.index()];
  }
  const auto before = vertices_[n].inputs;
  vertices_.set(n, std::move(vertex));
  for (const auto input : before) release(input);
}

Vertex VertexMerger::with_operand_taken_in(std::size_t n, std::size_t operand) {
  auto vertex = vertices_[n];
  const auto& part = vertices_[vertex.inputs[operand].index()];
  auto now = labels_as_read(part.einsum.output, vertex.einsum.inputs[operand]);
  for (const auto label : part.einsum.aggregated) {
    const auto copy = copy_of(label);
    now.emplace(label, copy);
    vertex.einsum.aggregated.push_back(copy);
  }
  const auto first = vertex.inputs.size();  // of the part's operands; the position of the merged operand stays unused
  for (std::size_t i = 0; i < part.inputs.size(); ++i) {
    vertex.inputs.push_back(part.inputs[i]);
    vertex.einsum.inputs.push_back(rename_labels(part.einsum.inputs[i], renaming(now)));
  }
  const auto inside = substitute_operands(rename_labels(part.einsum.expression, renaming(now)),
                                          [&](std::size_t i) { return ScalarExpression::operand(first + i - 1); });
  CHECK(vertex.inputs.size() == vertex.einsum.inputs.size() && operand < first, "an operand that is taken in was read");
  const auto place = static_cast<std::ptrdiff_t>(operand);
  vertex.inputs.erase(vertex.inputs.begin() + place);
  vertex.einsum.inputs.erase(vertex.einsum.inputs.begin() + place);
  vertex.einsum.expression = substitute_operands(vertex.einsum.expression, [&](std::size_t i) {
    return i == operand ? inside : ScalarExpression::operand(i < operand ? i : i - 1);
  });
  return vertex;
}

EinGraph VertexMerger::result() const {
  EinGraph out;
  out.labels() = labels_;
  std::vector<VertexId> now(vertices_.size());
  const auto before = graph_.use_counts();
  for (std::size_t n = 0; n < vertices_.size(); ++n) {
    if (uses_[n] == 0 && before[n] > 0) continue;
    for (const auto input : vertices_[n].inputs) CHECK(uses_[input.index()] > 0, "what is read was not taken in");
    now[n] = add_renumbered(out, vertices_, n, now);
  }
  out.set_outputs(outputs_now(graph_, now));
  return out;
}

}  // namespace eindb

#include "optimizer/rewrites/input_types.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "tensor/cell_encoding.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

bool is_operand(const ScalarExpression& e, std::size_t number) {
  return e.kind() == Kind::Operand && e.operand() == number;
}

// The type to which an expression converts an operand.
struct Conversions {
  std::optional<DType> type;
  bool all = true;  // wherever it is read, and always to that type

  void note(DType to) {
    all = all && (!type || *type == to);
    type = to;
  }
};

void find_conversions(const ScalarExpression& e, std::size_t number, Conversions& out) {
  if (is_operand(e, number)) out.all = false;
  if (e.kind() != Kind::Call || !out.all) return;
  const auto to = converts_to(e.op());
  if (to && is_operand(*e.arguments()[0], number)) return out.note(*to);
  for (const auto& argument : e.arguments()) find_conversions(*argument, number, out);
}

ScalarPtr without_conversions(const ScalarPtr& e, std::size_t number) {
  if (e->kind() != Kind::Call) return e;
  if (converts_to(e->op()) && is_operand(*e->arguments()[0], number)) return e->arguments()[0];
  std::vector<ScalarPtr> arguments;
  for (const auto& argument : e->arguments()) arguments.push_back(without_conversions(argument, number));
  return arguments == e->arguments() ? e : ScalarExpression::call(e->op(), std::move(arguments));
}

class InputTypes {
 public:
  explicit InputTypes(const EinGraph& graph) : graph_(graph) {}

  EinGraph run() {
    for (const auto& reader : graph_.vertices()) {
      for (std::size_t n = 0; n < reader.inputs.size(); ++n) {
        const auto& read = graph_.vertex(reader.inputs[n]);
        if (read.is_input()) find_conversions(*reader.einsum.expression, n, conversions_[read.stored->name]);
      }
    }
    EinGraph out;
    out.labels() = graph_.labels();
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      auto vertex = graph_.vertex(VertexId(n));
      if (const auto type = type_of(VertexId(n))) vertex.stored->dtype = vertex.dtype = *type;
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i)
        if (type_of(vertex.inputs[i])) vertex.einsum.expression = without_conversions(vertex.einsum.expression, i);
      out.add(std::move(vertex));
    }
    out.set_outputs(graph_.outputs());
    return out;
  }

 private:
  // The type in which an input is read from now on.
  std::optional<DType> type_of(VertexId id) const {
    const auto& vertex = graph_.vertex(id);
    if (!vertex.is_input() || vertex.stored->encoding == Encoding::Plain) return std::nullopt;
    const auto known = conversions_.find(vertex.stored->name);
    if (known == conversions_.end()) return std::nullopt;
    const auto& found = known->second;
    if (!found.all || !found.type) return std::nullopt;
    const StoredType stored{vertex.dtype, vertex.stored->encoding};
    return *found.type != vertex.dtype && decodes_to(stored, *found.type) ? found.type : std::nullopt;
  }

  const EinGraph& graph_;
  std::map<std::string, Conversions> conversions_;  // by tensor, of which several parts may be read
};

}  // namespace

EinGraph read_in_compute_types(const EinGraph& graph) {
  const auto is_narrow = [](const Vertex& vertex) {
    return vertex.is_input() && vertex.stored->encoding != Encoding::Plain && vertex.dtype == DType::Int64;
  };
  const auto& vertices = graph.vertices();
  return std::any_of(vertices.begin(), vertices.end(), is_narrow) ? InputTypes(graph).run() : graph;
}

}  // namespace eindb

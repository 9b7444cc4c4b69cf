#include "derivatives/forward_mode.hpp"

#include <algorithm>
#include <optional>

#include "common/check.hpp"
#include "common/error.hpp"
#include "derivatives/dependence.hpp"
#include "derivatives/vertex_draft.hpp"
#include "derivatives/vertex_rule.hpp"
#include "plan/selection.hpp"

namespace eindb {
namespace {

void require_direction(const EinGraph& graph, const Tangent& tangent) {
  const auto& variable = graph.vertex(tangent.variable);
  const auto& direction = graph.vertex(tangent.direction);
  require_variable(graph, tangent.variable);
  if (variable.bound != direction.bound) {
    throw Error(
        ErrorKind::Shape,
        "the direction " + direction.name + " has not the extents of " + variable.name + ", which moves along it",
        std::nullopt, "a direction has a number for every cell of its variable");
  }
  if (is_complex(direction.dtype) && !is_complex(variable.dtype)) {
    throw Error(ErrorKind::Type, "the direction " + direction.name + " is complex, and " + variable.name + " is real",
                std::nullopt, "take REAL, IMAG or ABS first");
  }
}

std::vector<VertexId> variables_of(const std::vector<Tangent>& tangents) {
  std::vector<VertexId> out;
  for (const auto& tangent : tangents) out.push_back(tangent.variable);
  return out;
}

// Two sweeps: from the result down to find the tangents that it needs, and from the variables up to compute them.
class Forward {
 public:
  Forward(EinGraph& graph, VertexId result, const std::vector<Tangent>& tangents)
      : graph_(graph),
        result_(result),
        given_(tangents),
        depends_(smoothly_depending_on(graph, variables_of(tangents), result)),
        needed_(graph.size(), false),
        tangents_(graph.size()) {}

  VertexId run() {
    CHECK(result_.index() < needed_.size(), "what is derived is a vertex of the graph");
    CHECK(depends_.size() == needed_.size(), "each vertex depends on the variables or not");
    needed_[result_.index()] = true;
    for (auto n = result_.index() + 1; n-- > 0;) need_inputs(VertexId(n));
    for (std::size_t n = 0; n <= result_.index(); ++n)
      if (needed_[n] && depends_[n]) tangents_[n] = tangent(VertexId(n));
    return finished(tangents_[result_.index()]);
  }

 private:
  const Tangent* given(VertexId id) const {
    const auto found =
        std::find_if(given_.begin(), given_.end(), [&](const Tangent& tangent) { return tangent.variable == id; });
    return found == given_.end() ? nullptr : &*found;
  }

  void need_inputs(VertexId id) {
    if (!needed_[id.index()] || !depends_[id.index()]) return;
    require_differentiable(graph_, id);
    const auto& inputs = graph_.vertex(id).inputs;
    for (std::size_t n = 0; n < inputs.size(); ++n)
      if (depends_[inputs[n].index()] && varies_with(graph_, id, n)) needed_[inputs[n].index()] = true;
  }

  std::string name_of(VertexId id) const { return "d" + graph_.vertex(id).name; }

  // A variable that depends on others also moves with them, so that the JVP equals the sum of the gradients' products.
  std::optional<Derivative> tangent(VertexId id) {
    std::vector<Derivative> terms;
    if (const auto* own = given(id)) terms.push_back({.vertex = own->direction, .constant = nullptr});
    auto through_inputs = graph_.vertex(id).is_input() ? selected_direction(id) : computed(id);
    if (through_inputs) terms.push_back(std::move(*through_inputs));
    const auto vertex = graph_.vertex(id);
    return add_up(graph_, terms, vertex.einsum.output, name_of(id), derivative_type(vertex.dtype));
  }

  std::optional<Derivative> computed(VertexId id) {
    std::vector<std::optional<Derivative>> tangents;
    for (const auto input : graph_.vertex(id).inputs) {
      CHECK(input.index() < id.index(), "a vertex reads those before it");
      tangents.push_back(tangents_[input.index()]);
    }
    std::optional<Derivative> out;
    for (const auto part : differentiable_parts(graph_, id)) {
      out = push_forward(graph_, part, tangents, name_of(part));
      tangents = {out};
    }
    return out;
  }

  // X(3,:) moves along V(3,:).
  std::optional<Derivative> selected_direction(VertexId id) {
    for (const auto& tangent : given_) {
      if (!is_selected_from(graph_, id, tangent.variable)) continue;
      const auto at = graph_.vertex(id).stored->selection->at;
      return Derivative{.vertex = select(graph_, tangent.direction, at), .constant = nullptr};
    }
    return std::nullopt;
  }

  VertexId finished(const std::optional<Derivative>& found) {
    CHECK(!found || found->is_valid(), "a derivative is a vertex or a number");
    const auto& vertex = graph_.vertex(result_);
    const auto name = name_of(result_);
    const bool made = found && found->vertex && found->vertex->index() >= tangents_.size();
    if (made && !vertex.is_input() && graph_.vertex(*found->vertex).einsum.output == vertex.einsum.output) {
      graph_.rename(*found->vertex, name);
      return *found->vertex;
    }
    return materialize(graph_, name, labels(), found, derivative_type(vertex.dtype));
  }

  Labels labels() {
    const auto& vertex = graph_.vertex(result_);
    if (!vertex.is_input()) return vertex.einsum.output;
    Labels out;
    const auto extents = vertex.bound.extents();
    for (const auto extent : extents) out.push_back(graph_.labels().add("i" + std::to_string(out.size() + 1), extent));
    return out;
  }

  EinGraph& graph_;
  VertexId result_;
  const std::vector<Tangent>& given_;
  std::vector<bool> depends_;
  std::vector<bool> needed_;
  std::vector<std::optional<Derivative>> tangents_;
};

}  // namespace

VertexId add_jvp(EinGraph& graph, VertexId result, const std::vector<Tangent>& tangents) {
  for (const auto& tangent : tangents) require_direction(graph, tangent);
  return Forward(graph, result, tangents).run();
}

}  // namespace eindb

#include "derivatives/reverse_mode.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"
#include "derivatives/dependence.hpp"
#include "derivatives/scalar_algebra.hpp"
#include "derivatives/vertex_draft.hpp"
#include "derivatives/vertex_rule.hpp"

namespace eindb {
namespace {

void require_scalar(const EinGraph& graph, VertexId loss) {
  const auto& vertex = graph.vertex(loss);
  const auto rank = vertex.bound.rank();
  if (rank > 0) {
    throw Error(ErrorKind::Shape,
                "a gradient is that of a scalar, but " + vertex.name + " has " + std::to_string(rank) +
                    (rank == 1 ? " dimension" : " dimensions"),
                std::nullopt, "take the SUM or MEAN of it, or a JVP");
  }
  if (is_complex(vertex.dtype)) {
    throw Error(ErrorKind::Type, "a gradient is that of a real number, but " + vertex.name + " is complex",
                std::nullopt, "take REAL, IMAG or ABS first");
  }
}

// One sweep from the loss to the inputs. A vertex has one term per reader; its cotangent is their sum, which is
// complete when the sweep reaches the vertex.
class Reverse {
 public:
  Reverse(EinGraph& graph, VertexId loss, const std::vector<VertexId>& variables)
      : graph_(graph),
        loss_(loss),
        variables_(variables),
        depends_(smoothly_depending_on(graph, variables, loss)),
        reads_(first_reads(graph)),
        terms_(graph.size()),
        cotangents_(graph.size()) {}

  std::vector<VertexId> run() {
    terms_[loss_.index()].push_back({.vertex = {}, .constant = algebra::number(1)});
    for (auto n = loss_.index() + 1; n-- > 0;)
      if (!graph_.vertex(VertexId(n)).is_input()) visit(VertexId(n));
    for (std::size_t n = 0; n < terms_.size(); ++n)
      if (is_selection(VertexId(n))) visit_selection(VertexId(n));
    std::vector<VertexId> out;
    for (const auto variable : variables_) out.push_back(result(variable, out));
    CHECK(out.size() == variables_.size(), "each variable has a derivative");
    DCHECK(are_gradients(out), "a derivative has the extents of its variable, and is a vertex of its own");
    return out;
  }

 private:
  bool are_gradients(const std::vector<VertexId>& found) const {
    for (std::size_t n = 0; n < found.size(); ++n) {
      const bool again = std::count(found.begin(), found.end(), found[n]) > 1;
      if (again || graph_.vertex(found[n]).bound != graph_.vertex(variables_[n]).bound) return false;
    }
    return true;
  }

  bool is_selection(VertexId id) const {
    const auto& vertex = graph_.vertex(id);
    return vertex.is_input() && vertex.stored->selection.has_value();
  }

  std::string name_of(VertexId id) const { return "d" + graph_.vertex(id).name; }
  DType type_of(VertexId id) const { return derivative_type(graph_.vertex(id).dtype); }

  // Every term of a sum has a unique name.
  std::string next_name(VertexId input) const {
    return name_of(input) + "." + std::to_string(terms_[input.index()].size() + 1);
  }

  const std::optional<Derivative>& cotangent(VertexId id) {
    auto& cotangent = cotangents_[id.index()];
    auto& terms = terms_[id.index()];
    if (cotangent || terms.empty()) return cotangent;
    return cotangent = add_up(graph_, terms, labels_of(id), name_of(id), type_of(id));
  }

  // The labels of a vertex's head, or those with which an input is first read.
  Labels labels_of(VertexId id) {
    const auto& vertex = graph_.vertex(id);
    if (!vertex.is_input()) return vertex.einsum.output;
    auto& labels = reads_[id.index()];
    const auto rank = vertex.bound.rank();
    for (std::size_t d = 0; d < rank; ++d) {
      const auto fresh = [&](std::string name) {
        return graph_.labels().add(std::move(name), graph_.vertex(id).bound[d]);
      };
      if (d == labels.size()) labels.push_back(fresh("i" + std::to_string(d + 1)));
      else if (std::count(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(d), labels[d]) > 0)
        labels[d] = fresh(graph_.labels().name(labels[d]));
    }
    return labels;
  }

  void visit(VertexId id) {
    if (!depends_[id.index()]) return;
    const auto own = cotangent(id);
    if (!own) return;
    require_differentiable(graph_, id);
    auto parts = differentiable_parts(graph_, id);
    std::optional<Derivative> carried = own;
    for (; parts.size() > 1 && carried; parts.pop_back())
      carried = pull_back(graph_, parts.back(), 0, *carried, name_of(parts.front()));
    if (!carried) return;
    CHECK(parts.size() == 1, "the parts of a vertex are carried back from the last to the first");
    const auto inputs = graph_.vertex(parts.front()).inputs;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      if (!depends_[inputs[n].index()]) continue;
      auto term = pull_back(graph_, parts.front(), n, *carried, next_name(inputs[n]));
      if (term) terms_[inputs[n].index()].push_back(std::move(*term));
    }
  }

  // A selection reads a part of a stored tensor; its cotangent is embedded in that of the whole.
  void visit_selection(VertexId id) {
    const auto own = cotangent(id);
    if (!own) return;
    for (const auto variable : variables_) {
      if (!is_selected_from(graph_, id, variable)) continue;
      terms_[variable.index()].push_back(put_back(id, variable, *own));
      return;
    }
  }

  Derivative put_back(VertexId id, VertexId whole, const Derivative& part) {
    const auto labels = labels_of(whole);
    const auto at = graph_.vertex(id).stored->selection->at;
    CHECK(at.size() == labels.size(), "a selection says of each dimension what it takes");
    VertexDraft draft(graph_);
    Labels free;
    ScalarPtr here;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (!at[d]) {
        free.push_back(labels[d]);
        continue;
      }
      auto same = ScalarExpression::call(ScalarOp::Equal,
                                         {ScalarExpression::label_index(labels[d]), ScalarExpression::integer(*at[d])});
      here = here == nullptr ? same : ScalarExpression::call(ScalarOp::And, {here, same});
    }
    const auto value = algebra::choose(here, draft.read(part, free), nullptr);
    return *draft.sum(name_of(id), labels, labels, value, type_of(whole));
  }

  // Every variable gets a result vertex of its own, with the variable's labels.
  VertexId result(VertexId variable, const std::vector<VertexId>& taken) {
    const auto found = cotangent(variable);
    if (found && found->vertex && std::find(taken.begin(), taken.end(), *found->vertex) == taken.end()) {
      const auto& vertex = graph_.vertex(variable);
      const auto& head = graph_.vertex(*found->vertex).einsum.output;
      if (found->vertex->index() >= terms_.size() && (vertex.is_input() || head == vertex.einsum.output)) {
        graph_.rename(*found->vertex, name_of(variable));
        return *found->vertex;
      }
    }
    const auto labels = labels_of(variable);
    return materialize(graph_, name_of(variable), labels, found, type_of(variable));
  }

  EinGraph& graph_;
  VertexId loss_;
  const std::vector<VertexId>& variables_;
  std::vector<bool> depends_;
  std::vector<Labels> reads_;
  std::vector<std::vector<Derivative>> terms_;         // for each vertex, the terms of its cotangent
  std::vector<std::optional<Derivative>> cotangents_;  // their sums
};

}  // namespace

std::vector<VertexId> add_gradients(EinGraph& graph, VertexId loss, const std::vector<VertexId>& variables) {
  require_scalar(graph, loss);
  for (const auto variable : variables) require_variable(graph, variable);
  return Reverse(graph, loss, variables).run();
}

}  // namespace eindb

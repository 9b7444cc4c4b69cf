#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tensor/scalar_types.hpp"
#include "tests/optimizer/selected_values.hpp"

namespace eindb::testing {

/// Values of vertices that are given instead of computed: stored tensors, and vertices that are varied.
using Values = std::map<VertexId, TilePtr>;

/// The selection's part of the value of the whole tensor.
inline DenseTensor selected_value(const EinGraph& graph, const Vertex& selection, const Values& values) {
  for (const auto& [id, whole] : values) {
    const auto& stored = graph.vertex(id).stored;
    if (stored && stored->name == selection.stored->name) return selected_part(selection, *whole);
  }
  throw std::logic_error("no value of " + selection.stored->name);
}

inline std::vector<TilePtr> evaluate_all(const EinGraph& graph, const Values& values) {
  std::vector<TilePtr> results;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto& vertex = graph.vertex(VertexId(n));
    if (const auto given = values.find(VertexId(n)); given != values.end()) {
      results.push_back(given->second);
      continue;
    }
    if (vertex.is_input()) {
      results.push_back(std::make_shared<DenseTensor>(selected_value(graph, vertex, values)));
      continue;
    }
    std::vector<const DenseTensor*> inputs;
    for (const auto input : vertex.inputs) inputs.push_back(results[input.index()].get());
    results.push_back(std::make_shared<DenseTensor>(
        evaluate_reference(vertex.einsum, graph.labels(), inputs, vertex.compute_dtype, vertex.dtype)));
  }
  return results;
}

/// A graph with additional vertices that tell on which side of every kink the values are: of ABS, RELU, comparisons and
/// steps, and which values are extreme.
class KinkProbes {
 public:
  explicit KinkProbes(EinGraph graph) : graph_(std::move(graph)), size_(graph_.size()) {
    for (std::size_t n = 0; n < size_; ++n) {
      const auto vertex = graph_.vertex(VertexId(n));
      if (vertex.is_input()) continue;
      probe_nodes(vertex, *vertex.einsum.expression);
      if (vertex.einsum.aggregate == Aggregate::Min || vertex.einsum.aggregate == Aggregate::Max)
        probe_extreme(VertexId(n));
    }
  }

  const EinGraph& graph() const { return graph_; }

  bool same_side(const std::vector<TilePtr>& a, const std::vector<TilePtr>& b) const {
    for (auto n = size_; n < graph_.size(); ++n) {
      const auto cells = a[n]->shape().element_count();
      if (!std::equal(a[n]->data<double>(), a[n]->data<double>() + cells, b[n]->data<double>())) return false;
    }
    return true;
  }

 private:
  void probe_nodes(const Vertex& vertex, const ScalarExpression& e) {
    using enum ScalarOp;
    for (const auto& argument : e.arguments()) probe_nodes(vertex, *argument);
    if (e.kind() != ScalarExpression::Kind::Call) return;
    const auto& a = e.arguments();
    switch (e.op()) {
      case Abs:
      case Relu:
      case Sign: return is_real(vertex, *a[0]) ? probe(vertex, call(Sign, {a[0]})) : void();
      case Floor:
      case Ceil:
      case Round: return probe(vertex, call(e.op(), {a[0]}));
      case Modulo: return probe(vertex, call(Floor, {call(Divide, {a[0], a[1]})}));
      case Less:
      case LessEqual:
      case Greater:
      case GreaterEqual:
      case Equal:
      case NotEqual:
      case Least:
      case Greatest:
        for (std::size_t m = 0; m < a.size(); ++m)
          for (std::size_t n = 0; n < m; ++n) probe(vertex, call(Sign, {call(Subtract, {a[m], a[n]})}));
        return;
      default: return;
    }
  }

  bool is_real(const Vertex& vertex, const ScalarExpression& e) const {
    const std::vector<DType> types(vertex.inputs.size(), DType::Float64);
    return !is_complex(type_of(e, types).dtype);
  }

  void probe(const Vertex& vertex, ScalarPtr e) {
    auto einsum = vertex.einsum;
    einsum.output = einsum.labels();
    einsum.aggregated = {};
    einsum.aggregate = Aggregate::None;
    einsum.expression = std::move(e);
    graph_.add(make_vertex(graph_, "probe", vertex.inputs, std::move(einsum)));
  }

  void probe_extreme(VertexId id) {
    auto vertex = graph_.vertex(id);
    vertex.inputs.push_back(id);
    vertex.einsum.inputs.push_back(vertex.einsum.output);
    const auto distance = call(ScalarOp::Subtract, {vertex.einsum.expression, op(vertex.inputs.size() - 1)});
    probe(vertex, call(ScalarOp::Sign, {distance}));
  }

  EinGraph graph_;
  std::size_t size_;
};

/// The derivative of the graph's output as `variable` moves along `direction` from `values`, by fourth-order central
/// differences whose step shrinks until halving it changes nothing. nullopt: too near a kink.
inline std::optional<double> directional_derivative(const KinkProbes& probes, const Values& values, VertexId variable,
                                                    const DenseTensor& direction) {
  const auto& graph = probes.graph();
  const auto base = evaluate_all(graph, values);
  const auto& at = *base[variable.index()];
  const auto output = graph.output().index();
  const auto moved = [&](double by) -> std::optional<double> {
    auto changed = values;
    auto tensor = Tile::zeros(DType::Float64, at.shape());
    for (std::int64_t n = 0; n < at.shape().element_count(); ++n)
      tensor.mutable_data<double>()[n] = at.data<double>()[n] + by * direction.data<double>()[n];
    changed.insert_or_assign(variable, std::make_shared<DenseTensor>(std::move(tensor)));
    const auto results = evaluate_all(graph, changed);
    if (!probes.same_side(base, results)) return std::nullopt;
    return results[output]->data<double>()[0];
  };
  std::optional<double> before;
  std::optional<double> best;
  double best_change = INFINITY;
  for (double h = 1e-2; h > 1e-5; h /= 4) {
    const auto a = moved(-2 * h);
    const auto b = moved(-h);
    const auto c = moved(h);
    const auto d = moved(2 * h);
    if (!a || !b || !c || !d) continue;
    const double slope = (*a - 8 * *b + 8 * *c - *d) / (12 * h);
    const double change = before ? std::abs(slope - *before) : INFINITY;
    if (change < best_change) {
      best_change = change;
      best = slope;
    }
    if (best_change <= 1e-8 * std::abs(slope)) return best;
    before = slope;
  }
  return best_change <= 1e-7 * (1e-4 + std::abs(best.value_or(0))) ? best : std::nullopt;
}

}  // namespace eindb::testing

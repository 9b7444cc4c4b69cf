#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/viable.hpp"

namespace eindb::testing {

/// The least cost of any labelling, found by trying all of them with the formulas of the cost model.
class BruteForce {
 public:
  BruteForce(const EinGraph& graph, const DecompositionOptions& options) : graph_(graph), options_(options) {
    for (const auto& vertex : graph.vertices()) {
      shapes_.push_back(vertex.is_input() ? VertexShape{} : shape_of(vertex.einsum, graph.labels()));
      choices_.push_back(vertex.is_input() ? std::vector<Partition>{{}}
                                           : viable(shapes_.back().extents, options.parallelism));
    }
    results_.resize(graph.size());
  }

  double combinations() const {
    double count = 1;
    for (const auto& choice : choices_) count *= static_cast<double>(choice.size());
    return count;
  }

  double optimum() {
    best_ = std::numeric_limits<double>::infinity();
    search(0, 0);
    return best_;
  }

 private:
  void search(std::size_t v, double cost) {
    if (cost >= best_) return;
    if (v == graph_.size()) {
      for (const auto output : graph_.outputs())
        if (const auto* wanted = wanted_of(graph_, options_.output_partitions, output))
          cost += cost_repart(results_[output.index()], *wanted, graph_.vertex(output).bound.extents());
      best_ = std::min(best_, cost);
      return;
    }
    const auto& vertex = graph_.vertex(VertexId(v));
    if (vertex.is_input()) {
      results_[v] = vertex.stored->grid.partition();
      return search(v + 1, cost);
    }
    for (const auto& d : choices_[v]) {
      double own = cost_join(shapes_[v], d) + cost_agg(shapes_[v], d);
      for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
        const auto& producer = graph_.vertex(vertex.inputs[n]);
        if (producer.is_input() && options_.free_inputs) continue;
        own +=
            cost_repart(results_[vertex.inputs[n].index()], project(d, shapes_[v].inputs[n]), producer.bound.extents());
      }
      results_[v] = project(d, shapes_[v].output);
      search(v + 1, cost + own);
    }
  }

  const EinGraph& graph_;
  const DecompositionOptions& options_;
  std::vector<VertexShape> shapes_;
  std::vector<std::vector<Partition>> choices_;
  std::vector<Partition> results_;
  double best_ = 0;
};

}  // namespace eindb::testing

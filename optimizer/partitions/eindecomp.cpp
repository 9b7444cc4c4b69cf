#include "optimizer/partitions/eindecomp.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "common/check.hpp"
#include "optimizer/partitions/choice_descent.hpp"
#include "optimizer/partitions/partition_network.hpp"
#include "optimizer/partitions/variable_elimination.hpp"

namespace eindb {
namespace {

using States = ChoiceNetwork::States;

constexpr auto kNoVertex = PartitionNetwork::kNone;

// Finds the longest chains of readers among the remaining vertices, one after the other.
class Linearisation {
 public:
  explicit Linearisation(const EinGraph& graph)
      : graph_(graph),
        readers_(graph.size()),
        left_(graph.size()),
        length_(graph.size(), 0),
        before_(graph.size(), kNoVertex) {
    for (std::size_t v = 0; v < graph.size(); ++v) left_[v] = !graph.vertex(VertexId(v)).is_input();
    for (std::size_t v = 0; v < graph.size(); ++v) {
      for (const auto input : graph.vertex(VertexId(v)).inputs) readers_[input.index()].push_back(v);
      if (left_[v]) measure(v);
    }
  }

  std::vector<std::vector<std::size_t>> run() {
    std::vector<std::vector<std::size_t>> paths;
    while (!by_length_.empty()) {
      std::vector<std::size_t> path;
      for (auto v = by_length_.rbegin()->second; v != kNoVertex; v = before_[v]) path.push_back(v);
      std::reverse(path.begin(), path.end());
      remove(path);
      paths.push_back(std::move(path));
    }
    return paths;
  }

 private:
  // Returns whether the length changed.
  bool measure(std::size_t v) {
    const auto old = length_[v];
    length_[v] = 1;
    before_[v] = kNoVertex;
    for (const auto input : graph_.vertex(VertexId(v)).inputs) {
      const auto u = input.index();
      DCHECK(u < v, "a path goes on from inputs to their readers");
      if (!left_[u] || length_[u] + 1 <= length_[v]) continue;
      length_[v] = length_[u] + 1;
      before_[v] = u;
    }
    if (length_[v] == old) return false;
    by_length_.erase({old, v});
    by_length_.emplace(length_[v], v);
    return true;
  }

  // Only direct and indirect readers of a removed vertex can have become shorter.
  void remove(const std::vector<std::size_t>& path) {
    std::set<std::size_t> to_measure;
    const auto add_readers = [&](std::size_t v) {
      for (const auto reader : readers_[v])
        if (left_[reader]) to_measure.insert(reader);
    };
    for (const auto v : path) {
      CHECK(left_[v], "a vertex is on one path");
      left_[v] = false;
      const auto erased = by_length_.erase({length_[v], v});
      CHECK(erased == 1, "a vertex that is left is listed by its length");
    }
    for (const auto v : path) add_readers(v);
    while (!to_measure.empty()) {
      const auto v = *to_measure.begin();
      to_measure.erase(to_measure.begin());
      if (measure(v)) add_readers(v);
    }
  }

  const EinGraph& graph_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<bool> left_;
  std::vector<std::size_t> length_;
  std::vector<std::size_t> before_;
  std::set<std::pair<std::size_t, std::size_t>> by_length_;
};

// The network of the variables of a path, with only the edges from each variable to the next.
ChoiceNetwork path_network(const PartitionNetwork& network, const std::vector<std::size_t>& path) {
  ChoiceNetwork out;
  for (const auto v : path) {
    CHECK(network.variable_of[v] != kNoVertex, "the vertices of a path have variables");
    out.add_variable(network.choices.costs(network.variable_of[v]));
  }
  for (std::size_t n = 0; n + 1 < path.size(); ++n) {
    const auto producer = network.variable_of[path[n]];
    for (const auto e : network.choices.edges_of(producer)) {
      auto edge = network.choices.edges()[e];
      if (edge.a != producer || edge.b != network.variable_of[path[n + 1]]) continue;
      edge.a = n;
      edge.b = n + 1;
      out.add_edge(std::move(edge));
    }
  }
  return out;
}

States linearised_states(const EinGraph& graph, const PartitionNetwork& network) {
  States states(network.choices.size(), 0);
  for (const auto& path : linearise(graph)) {
    const auto chosen = least_cost_states(path_network(network, path), std::numeric_limits<double>::infinity());
    CHECK(chosen, "a path has no table of more than one dimension");
    CHECK(chosen->size() == path.size(), "every vertex of a path gets a state");
    for (std::size_t n = 0; n < path.size(); ++n) states[network.variable_of[path[n]]] = (*chosen)[n];
  }
  return states;
}

// Each vertex in one call.
std::vector<LabelPartition> whole_partitions(const EinGraph& graph) {
  std::vector<LabelPartition> out(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    if (vertex.is_input()) continue;
    out[v].labels = vertex.einsum.labels();
    out[v].parts.assign(out[v].labels.size(), 1);
  }
  return out;
}

States cheap_states(const EinGraph& graph, const PartitionNetwork& network, const DecompositionOptions& options) {
  if (auto exact = least_cost_states(network.choices, options.exact_work)) return std::move(*exact);
  return descend(network.choices, linearised_states(graph, network), options.descent_work);
}

}  // namespace

std::vector<std::vector<std::size_t>> linearise(const EinGraph& graph) { return Linearisation(graph).run(); }

std::vector<LabelPartition> decomposed_partitions(const EinGraph& graph, const DecompositionOptions& options) {
  // One call has one vector.
  if (options.parallelism == 1 && !options.fewer_calls && graph.sliced().empty()) return whole_partitions(graph);
  const auto network = partition_network(graph, options);
  return network.partitions(graph, cheap_states(graph, network, options));
}

Labelling decompose(const EinGraph& graph, const DecompositionOptions& options) {
  return evaluate(graph, decomposed_partitions(graph, options), options);
}

Labelling decompose_linearised(const EinGraph& graph, const DecompositionOptions& options) {
  const auto network = partition_network(graph, options);
  return evaluate(graph, network.partitions(graph, linearised_states(graph, network)), options);
}

}  // namespace eindb

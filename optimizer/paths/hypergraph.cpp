#include "optimizer/paths/hypergraph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/check.hpp"

namespace eindb {

Hypergraph::Hypergraph(std::vector<std::uint32_t> vertex_weights, const std::vector<Edge>& edges)
    : vertex_weights_(std::move(vertex_weights)),
      total_weight_(std::accumulate(vertex_weights_.begin(), vertex_weights_.end(), std::uint64_t{0})) {
  std::vector<std::uint32_t> degree(vertex_count() + 1, 0);
  for (const auto& edge : edges) {
    if (edge.vertices.size() < 2 || edge.weight <= 0) continue;
    DCHECK(std::all_of(edge.vertices.begin(), edge.vertices.end(), [&](auto v) { return v < vertex_count(); }),
           "an edge holds vertices of its graph");
    for (const auto vertex : edge.vertices) ++degree[vertex];
    vertices_.insert(vertices_.end(), edge.vertices.begin(), edge.vertices.end());
    vertices_begin_.push_back(static_cast<std::uint32_t>(vertices_.size()));
    edge_weights_.push_back(edge.weight);
  }
  CHECK(vertices_.size() <= std::numeric_limits<std::uint32_t>::max(), "places in edges are numbered in 32 bits");
  edges_begin_.resize(vertex_count() + 1);
  std::exclusive_scan(degree.begin(), degree.end(), edges_begin_.begin(), 0U);
  CHECK(edges_begin_.back() == vertices_.size(), "both directions of a graph have the same places");
  edges_.resize(vertices_.size());
  auto next = edges_begin_;
  for (std::uint32_t edge = 0; edge < edge_count(); ++edge)
    for (const auto vertex : vertices_of(edge)) edges_[next[vertex]++] = edge;
}

Hypergraph Hypergraph::contracted(const std::vector<std::uint32_t>& cluster, std::size_t clusters) const {
  CHECK(cluster.size() == vertex_count(), "every vertex becomes part of one");
  DCHECK(std::all_of(cluster.begin(), cluster.end(), [&](auto c) { return c < clusters; }),
         "clusters are numbered from 0");
  std::vector<std::uint32_t> weights(clusters, 0);
  for (std::uint32_t v = 0; v < vertex_count(); ++v) weights[cluster[v]] += vertex_weights_[v];
  std::vector<Edge> edges(edge_count());
  for (std::uint32_t e = 0; e < edge_count(); ++e) {
    auto& vertices = edges[e].vertices;
    edges[e].weight = edge_weights_[e];
    for (const auto vertex : vertices_of(e)) vertices.push_back(cluster[vertex]);
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  }
  return {std::move(weights), edges};
}

}  // namespace eindb

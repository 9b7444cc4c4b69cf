#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/check.hpp"

namespace eindb {

/// Vertices with weights, and edges with weights that each hold two vertices or more: a network with an edge for each
/// label that several operands share. Immutable; both directions lie flat in memory.
class Hypergraph {
 public:
  struct Edge {
    std::vector<std::uint32_t> vertices;  ///< distinct
    double weight = 0;
  };

  /// Edges of fewer than two vertices, and of no weight, are left out.
  Hypergraph(std::vector<std::uint32_t> vertex_weights, const std::vector<Edge>& edges);

  std::size_t vertex_count() const { return vertex_weights_.size(); }
  std::size_t edge_count() const { return edge_weights_.size(); }
  std::uint32_t vertex_weight(std::uint32_t vertex) const { return vertex_weights_[vertex]; }
  std::uint64_t total_weight() const { return total_weight_; }
  double edge_weight(std::uint32_t edge) const { return edge_weights_[edge]; }
  std::span<const std::uint32_t> vertices_of(std::uint32_t edge) const {
    return slice(vertices_, vertices_begin_, edge);
  }
  std::span<const std::uint32_t> edges_of(std::uint32_t vertex) const { return slice(edges_, edges_begin_, vertex); }
  /// Places where a vertex lies in an edge: what an algorithm's work is counted in.
  std::size_t pin_count() const { return vertices_.size(); }

  /// The graph in which vertex v is part of vertex `cluster[v]` of `clusters`.
  Hypergraph contracted(const std::vector<std::uint32_t>& cluster, std::size_t clusters) const;

 private:
  static std::span<const std::uint32_t> slice(const std::vector<std::uint32_t>& all,
                                              const std::vector<std::uint32_t>& begin, std::uint32_t n) {
    DCHECK(n + 1 < begin.size(), "vertices and edges are numbered from 0");
    return {all.data() + begin[n], all.data() + begin[n + 1]};
  }

  std::vector<std::uint32_t> vertex_weights_;
  std::uint64_t total_weight_ = 0;
  std::vector<double> edge_weights_;
  std::vector<std::uint32_t> vertices_begin_{0};
  std::vector<std::uint32_t> vertices_;
  std::vector<std::uint32_t> edges_begin_;
  std::vector<std::uint32_t> edges_;
};

}  // namespace eindb

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/check.hpp"

namespace eindb {

/// A graph of weighted vertices and weighted edges, where an edge joins two vertices or more: a network whose edges are
/// the labels that several operands share. Immutable; both directions of incidence are stored as flat arrays.
class Hypergraph {
 public:
  struct Edge {
    std::vector<std::uint32_t> vertices;  ///< distinct
    double weight = 0;
  };

  /// Edges with fewer than two vertices or without weight are dropped.
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
  /// The number of (vertex, edge) incidences, the unit of an algorithm's work.
  std::size_t pin_count() const { return vertices_.size(); }

  /// The graph in which vertex v is merged into vertex `cluster[v]`, of `clusters` vertices.
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

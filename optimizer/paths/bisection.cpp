#include "optimizer/paths/bisection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

using VertexNumber = std::uint32_t;
using VertexSides = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t kCoarsest = 32;
constexpr int kTriesAtCoarsest = 6;
constexpr int kMostPasses = 6;
// Edges with more vertices say little about which two vertices belong together.
constexpr std::size_t kMostVerticesToMatch = 32;
// A pass ends after this many moves without a better cut.
constexpr std::size_t kFruitlessMoves = 60;
constexpr std::size_t kVerticesPerPoll = 256;

class Limits {
 public:
  Limits(const Hypergraph& graph, double imbalance) {
    const auto total = static_cast<double>(graph.total_weight());
    most_ = std::max(std::ceil(total / 2), std::floor(total * (1 + imbalance) / 2));
  }
  bool allow(double weight) const { return weight <= most_; }

 private:
  double most_;
};

// Improves a cut by moves of single vertices.
class MovePass {
 public:
  MovePass(const Hypergraph& graph, const Limits& limits, VertexSides& side, const SearchContext& context)
      : graph_(graph),
        limits_(limits),
        side_(side),
        context_(context),
        gain_(graph.vertex_count()),
        moved_(graph.vertex_count(), false),
        on_side_(graph.edge_count(), {0, 0}) {
    CHECK(side_.size() == graph_.vertex_count(), "every vertex is on a side");
    for (VertexNumber v = 0; v < graph_.vertex_count(); ++v) {
      weight_[side_[v]] += graph_.vertex_weight(v);
      heaviest_ = std::max(heaviest_, static_cast<double>(graph_.vertex_weight(v)));
      ++count_[side_[v]];
      for (const auto e : graph_.edges_of(v)) ++on_side_[e][side_[v]];
    }
    CHECK(count_[0] > 0 && count_[1] > 0, "both sides of a cut have a vertex");
    for (VertexNumber v = 0; v < graph_.vertex_count(); ++v) {
      for (const auto e : graph_.edges_of(v)) gain_[v] += gain_of(e, side_[v]);
      waiting_.push({gain_[v], v});
    }
  }

  // Makes one pass; true if the cut got smaller or became balanced.
  bool run() {
    double total = 0;
    double best = balanced() ? 0 : -std::numeric_limits<double>::infinity();
    std::size_t kept = 0;
    const double at_first = best;
    while (!waiting_.empty() && (moves_.size() < kept + kFruitlessMoves + graph_.vertex_count() / 16)) {
      const auto [gain, v] = waiting_.top();
      waiting_.pop();
      if (moved_[v] || gain != gain_[v] || !may_move(v)) continue;
      total += gain;
      move(v);
      if (!balanced() || total <= best + kNothing) continue;
      best = total;
      kept = moves_.size();
    }
    for (auto n = moves_.size(); n > kept; --n) side_[moves_[n - 1]] ^= 1U;
    return best > at_first;
  }

  std::uint64_t work() const { return work_; }

 private:
  struct Move {
    double gain = 0;
    VertexNumber vertex = 0;
    auto operator<=>(const Move&) const = default;
  };
  static constexpr double kNothing = 1e-9;

  bool balanced() const { return limits_.allow(std::max(weight_[0], weight_[1])); }

  // The limit may be exceeded by one vertex: if the sides are even, every improvement takes two moves.
  bool may_move(VertexNumber v) const {
    const auto from = side_[v];
    const double there = weight_[1 - from] + graph_.vertex_weight(v);
    return count_[from] > 1 && (limits_.allow(there - heaviest_) || there <= weight_[from]);
  }

  // The weight that leaves the cut if one vertex of `edge` moves from `from` to the other side.
  double gain_of(std::uint32_t edge, std::uint8_t from) const {
    const auto& on = on_side_[edge];
    return ((on[from] == 1 ? 1 : 0) - (on[1 - from] == 0 ? 1 : 0)) * graph_.edge_weight(edge);
  }

  void move(VertexNumber v) {
    if (moves_.size() % kVerticesPerPoll == 0) context_.poll();
    const auto from = side_[v];
    const auto to = static_cast<std::uint8_t>(1 - from);
    DCHECK(!moved_[v], "a pass moves each vertex once");
    moved_[v] = true;
    moves_.push_back(v);
    for (const auto e : graph_.edges_of(v)) {
      auto& on = on_side_[e];
      ++work_;
      // The gains of the other vertices change only if one side has very few vertices.
      const bool changes = on[to] <= 1 || on[from] <= 2;
      if (changes) add_gains(e, -1);
      DCHECK(on[from] > 0, "an edge counts its vertices on each side");
      --on[from];
      ++on[to];
      if (changes) add_gains(e, 1);
    }
    side_[v] = to;
    weight_[from] -= graph_.vertex_weight(v);
    weight_[to] += graph_.vertex_weight(v);
    --count_[from];
    ++count_[to];
    DCHECK(count_[from] > 0, "a move leaves a vertex where it comes from");
    for (const auto e : graph_.edges_of(v)) offer(e);
  }

  void add_gains(std::uint32_t edge, double factor) {
    work_ += graph_.vertices_of(edge).size();
    for (const auto u : graph_.vertices_of(edge))
      if (!moved_[u]) gain_[u] += factor * gain_of(edge, side_[u]);
  }

  void offer(std::uint32_t edge) {
    const auto& on = on_side_[edge];
    if (on[0] > 3 && on[1] > 3) return;
    for (const auto u : graph_.vertices_of(edge))
      if (!moved_[u]) waiting_.push({gain_[u], u});
  }

  const Hypergraph& graph_;
  const Limits& limits_;
  VertexSides& side_;
  const SearchContext& context_;
  std::vector<double> gain_;
  std::vector<bool> moved_;
  std::vector<std::array<std::uint32_t, 2>> on_side_;  // of each edge, its vertices on either side
  std::array<double, 2> weight_{0, 0};
  double heaviest_ = 0;  // weight of the heaviest vertex
  std::array<std::size_t, 2> count_{0, 0};
  std::priority_queue<Move> waiting_;  // may contain outdated gains
  std::vector<VertexNumber> moves_;
  std::uint64_t work_ = 0;
};

class Multilevel {
 public:
  Multilevel(const BisectionRule& rule, std::uint64_t& work, const SearchContext& context)
      : rule_(rule), work_(work), context_(context), random_(rule.seed) {}

  VertexSides run(const Hypergraph& finest) {
    CHECK(finest.vertex_count() > 1, "a graph that is cut has two vertices or more");
    std::vector<Hypergraph> coarser;
    std::vector<std::vector<VertexNumber>> clusters;
    const Hypergraph* graph = &finest;
    coarser.reserve(64);
    while (graph->vertex_count() > kCoarsest && coarser.size() < 64) {
      auto [cluster, count] = match(*graph);
      if (count * 20 > graph->vertex_count() * 19) break;  // hardly any vertices match
      coarser.push_back(graph->contracted(cluster, count));
      clusters.push_back(std::move(cluster));
      work_ += 4 * graph->pin_count();
      graph = &coarser.back();
    }
    auto side = cut_coarsest(*graph);
    for (auto level = coarser.size(); level > 0; --level) {
      const auto& cluster = clusters[level - 1];
      DCHECK(side.size() == coarser[level - 1].vertex_count(), "every vertex of a coarser graph is on a side");
      VertexSides finer(cluster.size());
      for (VertexNumber v = 0; v < cluster.size(); ++v) finer[v] = side[cluster[v]];
      side = std::move(finer);
      improve(level == 1 ? finest : coarser[level - 2], side);
    }
    return side;
  }

 private:
  // Merges each vertex with the neighbour that shares the most edge weight with it, relative to its weight.
  std::pair<std::vector<VertexNumber>, std::size_t> match(const Hypergraph& graph) {
    constexpr auto kFree = std::numeric_limits<VertexNumber>::max();
    const double most = std::max(2.0, 1.5 * static_cast<double>(graph.total_weight()) / kCoarsest);
    std::vector<VertexNumber> cluster(graph.vertex_count(), kFree);
    std::vector<double> shared(graph.vertex_count(), 0);
    std::vector<VertexNumber> near;
    std::size_t count = 0;
    for (const auto v : shuffled(graph.vertex_count())) {
      if (cluster[v] != kFree) continue;
      if (count % kVerticesPerPoll == 0) context_.poll();
      near.clear();
      for (const auto e : graph.edges_of(v)) {
        const auto vertices = graph.vertices_of(e);
        if (vertices.size() > kMostVerticesToMatch) continue;
        work_ += vertices.size();
        for (const auto u : vertices) {
          if (u == v || cluster[u] != kFree || graph.vertex_weight(u) + graph.vertex_weight(v) > most) continue;
          if (shared[u] == 0) near.push_back(u);
          shared[u] += graph.edge_weight(e) / static_cast<double>(vertices.size() - 1);
        }
      }
      VertexNumber best = v;
      double best_rating = 0;
      for (const auto u : near) {
        const double rating = std::exchange(shared[u], 0) / graph.vertex_weight(u);
        if (rating > best_rating) best = u, best_rating = rating;
      }
      cluster[v] = cluster[best] = static_cast<VertexNumber>(count++);
    }
    DCHECK(std::find(cluster.begin(), cluster.end(), kFree) == cluster.end(), "every vertex is in a cluster");
    return {std::move(cluster), count};
  }

  std::vector<VertexNumber> shuffled(std::size_t count) {
    std::vector<VertexNumber> order(count);
    std::iota(order.begin(), order.end(), VertexNumber{0});
    for (auto n = count; n > 1; --n) std::swap(order[n - 1], order[random_() % n]);
    return order;
  }

  VertexSides cut_coarsest(const Hypergraph& graph) {
    VertexSides best;
    double best_cut = std::numeric_limits<double>::infinity();
    for (int n = 0; n < kTriesAtCoarsest; ++n) {
      auto side = grown(graph);
      improve(graph, side);
      const double cut = cut_weight(graph, side);
      work_ += graph.pin_count();
      if (cut < best_cut) best = std::move(side), best_cut = cut;
    }
    CHECK(!best.empty(), "the weight of a cut is finite");
    return best;
  }

  // Side 0 grows from a random vertex, nearest vertices first, to half of the weight.
  VertexSides grown(const Hypergraph& graph) {
    VertexSides side(graph.vertex_count(), 1);
    std::vector<double> shared(graph.vertex_count(), 0);
    std::vector<bool> reached(graph.edge_count(), false);
    const auto half = static_cast<double>(graph.total_weight()) / 2;
    auto next = static_cast<VertexNumber>(random_() % graph.vertex_count());
    std::size_t left = graph.vertex_count();
    for (double weight = graph.vertex_weight(next); left > 1;) {
      side[next] = 0;
      --left;
      for (const auto e : graph.edges_of(next)) {
        if (reached[e]) continue;
        reached[e] = true;
        work_ += graph.vertices_of(e).size();
        for (const auto u : graph.vertices_of(e)) shared[u] += graph.edge_weight(e);
      }
      double best = -1;
      for (VertexNumber v = 0; v < graph.vertex_count(); ++v)
        if (side[v] == 1 && shared[v] > best) next = v, best = shared[v];
      weight += graph.vertex_weight(next);
      if (weight > half) break;
    }
    return side;
  }

  void improve(const Hypergraph& graph, VertexSides& side) {
    const Limits limits(graph, rule_.imbalance);
    for (int pass = 0; pass < kMostPasses; ++pass) {
      MovePass moves(graph, limits, side, context_);
      const bool better = moves.run();
      work_ += 2 * graph.pin_count() + 4 * moves.work();
      if (!better) return;
    }
  }

  const BisectionRule& rule_;
  std::uint64_t& work_;
  const SearchContext& context_;
  Random random_;
};

}  // namespace

std::vector<std::uint8_t> bisect(const Hypergraph& graph, const BisectionRule& rule, std::uint64_t& work,
                                 const SearchContext& context) {
  return Multilevel(rule, work, context).run(graph);
}

double cut_weight(const Hypergraph& graph, const std::vector<std::uint8_t>& side) {
  CHECK(side.size() == graph.vertex_count(), "a cut puts every vertex on a side");
  double cut = 0;
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    const auto vertices = graph.vertices_of(e);
    const auto elsewhere = [&](VertexNumber v) { return side[v] != side[vertices.front()]; };
    if (std::any_of(vertices.begin(), vertices.end(), elsewhere)) cut += graph.edge_weight(e);
  }
  return cut;
}

}  // namespace eindb

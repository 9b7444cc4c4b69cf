#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "optimizer/paths/hypergraph.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The balance and the random seed of a bisection.
struct BisectionRule {
  double imbalance = 0.1;  ///< each side has at most (1 + imbalance) / 2 of the weight, and one vertex at least
  std::uint64_t seed = 0;
};

/// The side (0 or 1) of each vertex, chosen so that the weight of the edges with vertices on both sides is small. The
/// graph has two vertices or more. Multilevel: vertices are matched along heavy edges and merged until a few dozen are
/// left. Those are cut by growing one side from a vertex, several times. Then the matchings are undone one after
/// another, and at each level the cut is improved by moves of single vertices (Fiduccia and Mattheyses: the best move
/// first, each vertex once, uphill moves included; then back to the best cut seen). Deterministic. `work` grows by the
/// number of labels looked at.
std::vector<std::uint8_t> bisect(const Hypergraph& graph, const BisectionRule& rule, std::uint64_t& work,
                                 const SearchContext& context = {});

/// The weight of the edges with vertices on both sides.
double cut_weight(const Hypergraph& graph, const std::vector<std::uint8_t>& side);

}  // namespace eindb

#pragma once

#include <optional>

#include "optimizer/partitions/choice_network.hpp"

namespace eindb {

/// The states with the least total cost, exactly. Variables are eliminated one by one, the cheapest next (nonserial
/// dynamic programming). Eliminating v replaces all costs that depend on v by one table over its neighbours, which
/// holds for every combination of their classes the least cost that v can achieve. On a tree each table has a single
/// neighbour, is a vector, and the whole is the dynamic program M[v, dZ] of EinDecomp, section 8.3. With shared
/// vertices the tables grow with the frontier of shared ones.
///
/// Ties go to the first state. nullopt if more than `work` sums of table entries would be needed. With `work` above
/// 1e9, tables may take gigabytes.
std::optional<ChoiceNetwork::States> least_cost_states(const ChoiceNetwork& network, double work);

}  // namespace eindb

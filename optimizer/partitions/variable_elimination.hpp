#pragma once

#include <optional>

#include "optimizer/partitions/choice_network.hpp"

namespace eindb {

/// The states that cost least, exactly: variables are eliminated one by one, the cheapest next (nonserial dynamic
/// programming). Eliminating v replaces all costs that depend on v by one table over its neighbours: for every
/// combination of their classes the least that v can do. On a tree a neighbour stands alone, the table is a vector, and
/// the whole is the dynamic program M[v, dZ] of EinDecomp, section 8.3; where vertices are shared, the tables grow with
/// the frontier of shared ones.
///
/// Of equally good states the first wins. nullopt if more than `work` sums of table entries would be needed; with a
/// limit beyond 1e9, tables take gigabytes at the worst.
std::optional<ChoiceNetwork::States> least_cost_states(const ChoiceNetwork& network, double work);

}  // namespace eindb

#pragma once

#include <optional>
#include <vector>

#include "optimizer/partitions/choice_network.hpp"

namespace eindb {

/// An order in which the variables of a network may be eliminated (optimizer/partitions/variable_elimination): the one
/// that takes the fewest sums of table entries next, found from the sizes of tables alone. nullopt if all take more
/// than `work` sums, or one needs a table of more than 2^24 entries.
std::optional<std::vector<ChoiceNetwork::Variable>> elimination_order(const ChoiceNetwork& network, double work);

}  // namespace eindb

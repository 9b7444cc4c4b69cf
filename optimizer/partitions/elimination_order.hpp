#pragma once

#include <optional>
#include <vector>

#include "optimizer/partitions/choice_network.hpp"

namespace eindb {

/// An order in which to eliminate the variables of a network (optimizer/partitions/variable_elimination). Each step
/// takes the variable with the fewest sums of table entries, computed from the sizes of tables alone. nullopt if the
/// whole order takes more than `work` sums, or needs a table of more than 2^24 entries.
std::optional<std::vector<ChoiceNetwork::Variable>> elimination_order(const ChoiceNetwork& network, double work);

}  // namespace eindb

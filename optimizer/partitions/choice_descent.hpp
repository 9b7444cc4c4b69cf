#pragma once

#include "optimizer/partitions/choice_network.hpp"

namespace eindb {

/// States that cost no more than `start`, by changing many variables at once
/// (optimizer/partitions/variable_elimination): those of a forest are chosen exactly while all others keep theirs, then
/// those of another forest, until none helps; then all variables are chosen exactly among the few states of each that
/// promise most. It ends when neither these, nor any single change helps, or `work` sums of table entries are used up.
/// The same for the same arguments.
ChoiceNetwork::States descend(const ChoiceNetwork& network, ChoiceNetwork::States start, double work);

}  // namespace eindb

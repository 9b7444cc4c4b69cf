#pragma once

#include "optimizer/partitions/choice_network.hpp"

namespace eindb {

/// States that cost no more than `start`, found by changing many variables at once
/// (optimizer/partitions/variable_elimination). The variables of a forest are chosen exactly while all others keep
/// their states; then those of another forest, until none improves. Then all variables are chosen exactly among the few
/// most promising states of each. The search ends when no such step and no single change improves the cost, or when
/// `work` sums of table entries are used up. Deterministic.
ChoiceNetwork::States descend(const ChoiceNetwork& network, ChoiceNetwork::States start, double work);

}  // namespace eindb

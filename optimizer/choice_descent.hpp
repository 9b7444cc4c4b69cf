#pragma once

#include "optimizer/choice_network.hpp"

namespace eindb {

/// States that cost no more than `start`, by changing many variables at once: those of a forest are chosen exactly
/// (optimizer/variable_elimination) while all others keep theirs, then those of another forest, until no forest and no
/// single change helps or `work` sums of table entries are used up. The same for the same arguments.
ChoiceNetwork::States descend(const ChoiceNetwork& network, ChoiceNetwork::States start, double work);

}  // namespace eindb

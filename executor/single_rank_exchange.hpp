#pragma once

#include "executor/exchange.hpp"

namespace eindb {

/// The exchange of a plan for one rank, which has nobody to exchange with: streams are never asked, and group
/// operations copy the rank's own block. It has no state, so that any number of statements use it at the same time.
Exchange& single_rank();

}  // namespace eindb

#pragma once

#include <memory>
#include <vector>

#include "executor/exchange.hpp"

namespace eindb {

/// The exchanges of `size` ranks that are threads of one process: nothing is sent, whoever receives a message copies it
/// from where its sender has it. Result n is rank n's, for one thread; they may be destroyed in any order, and one that
/// is destroyed before the others have ended is to them a rank that has left.
std::vector<std::unique_ptr<Exchange>> in_process_exchanges(std::size_t size);

}  // namespace eindb

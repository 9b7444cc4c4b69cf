#pragma once

#include <memory>
#include <vector>

#include "executor/exchange.hpp"

namespace eindb {

/// The exchanges of `size` ranks that are threads of one process. A receiver copies a message directly from the
/// sender's memory. Result n is for rank n and one thread. The exchanges may be destroyed in any order; to the others a
/// destroyed exchange is a rank that has left.
std::vector<std::unique_ptr<Exchange>> in_process_exchanges(std::size_t size);

}  // namespace eindb

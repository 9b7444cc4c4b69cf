#pragma once

#include <cstddef>
#include <functional>

#include "executor/exchange.hpp"

namespace eindb::bench {

/// Runs `work` as one statement of so many processes of this machine, which reach each other over TCP on loopback, as
/// mpirun does for MPI. The processes are forked from this one, which must have no threads; it waits for them all.
/// Returns whether all of them ended well; what one of them throws goes to standard error, and ends it.
/// Throws std::system_error if there can be no such processes.
bool run_over_tcp(std::size_t ranks, const std::function<void(Exchange& exchange)>& work);

}  // namespace eindb::bench

#pragma once

#include <string>

#include "shell/cluster_command.hpp"

namespace eindb {

/// `eindb take-over DATABASE --workers HOST:PORT,...`: the file, a copy, becomes the database whose tiles lie at the
/// workers, in place of the one that they serve. Prints what came of it. Throws Error.
void run_take_over(const std::string& database, const ClusterCommand& workers);

}  // namespace eindb

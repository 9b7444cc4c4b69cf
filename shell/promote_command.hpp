#pragma once

#include <string>

#include "shell/cluster_command.hpp"

namespace eindb {

/// `eindb promote DIRECTORY DATABASE --workers HOST:PORT,...`: makes a database of the copy of the coordinator's file
/// that the worker with this data directory keeps as a standby, in place of the lost file. Prints the outcome. Throws
/// Error, and leaves no database then.
void run_promote(const std::string& directory, const std::string& database, const ClusterCommand& workers);

}  // namespace eindb

#pragma once

#include <string>

#include "cluster/take_over.hpp"
#include "shell/cluster_command.hpp"

namespace eindb {

/// `eindb take-over DATABASE --workers HOST:PORT,...`: makes the file, a copy, the database whose tiles are at the
/// workers, in place of the file that they serve. Prints the outcome. Throws Error.
void run_take_over(const std::string& database, const ClusterCommand& workers);
/// What a takeover has done, on standard output.
void print_take_over(const std::string& database, const TakeOver& result);

}  // namespace eindb

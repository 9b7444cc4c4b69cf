#pragma once

#include <string>
#include <vector>

namespace eindb::simulation {

/// The inconsistencies in the files of a closed database and of its workers; empty if there are none: transactions
/// without an end, unreferenced contents, references to missing contents.
std::string inconsistencies(const std::string& database, const std::vector<std::string>& workers);

}  // namespace eindb::simulation

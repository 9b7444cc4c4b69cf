#pragma once

#include <string>
#include <vector>

namespace eindb::simulation {

/// What is wrong with the files of a closed database and of its workers; empty if nothing is: transactions without an
/// end, contents that nobody refers to, references to contents that are not there.
std::string inconsistencies(const std::string& database, const std::vector<std::string>& workers);

}  // namespace eindb::simulation

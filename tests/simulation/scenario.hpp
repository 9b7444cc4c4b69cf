#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace eindb::simulation {

/// What came of a scenario.
struct Outcome {
  std::string complaint;  ///< empty: all is as it should be
  int statements = 0;
  int refused = 0;
  int unknown = 0;  ///< the coordinator has crashed before they were answered
  int faults = 0;
  double longest = 0;  ///< seconds of virtual time that a statement took
  std::string longest_statement;
};

/// A cluster whose shape, statements and faults are the seed's (begin()), from its start to the comparison of its files
/// with what is to be in them. `prints`: what happens is printed.
Outcome run_scenario(const std::filesystem::path& folder, bool prints);

}  // namespace eindb::simulation

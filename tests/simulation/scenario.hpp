#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace eindb::simulation {

/// The outcome of a scenario.
struct Outcome {
  std::string complaint;  ///< empty: no failure
  int statements = 0;
  int refused = 0;
  int unknown = 0;  ///< the coordinator crashed before the answer
  int faults = 0;
  double longest = 0;  ///< longest virtual time of a statement, in seconds
  std::string longest_statement;
};

/// Runs a cluster whose shape, statements and faults are determined by the seed (begin()), from its start to the
/// comparison of its files with the expected contents. `prints`: prints the trace.
Outcome run_scenario(const std::filesystem::path& folder, bool prints);

}  // namespace eindb::simulation

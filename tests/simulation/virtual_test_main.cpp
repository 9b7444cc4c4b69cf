// The main program of tests with virtual threads, clocks and network: waiting takes no real time, and nothing depends
// on the machine's load. EINDB_SIMULATION_SEED selects another order of threads.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation/virtual_threads.hpp"

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  ::mallopt(M_ARENA_MAX, 1);
  const char* const seed = std::getenv("EINDB_SIMULATION_SEED");
  eindb::simulation::begin(seed == nullptr ? 1 : std::stoull(seed));
  eindb::simulation::on_standstill([](const std::string& why) {
    std::fputs(why.c_str(), stderr);
    std::_Exit(3);
  });
  return RUN_ALL_TESTS();
}

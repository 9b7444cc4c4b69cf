#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "tests/cluster/mpi/world_of_tests.hpp"

namespace eindb {

MpiWorld*& world_of_tests() {
  static MpiWorld* world = nullptr;
  return world;
}

}  // namespace eindb

/// eindb_mpi_tests [--serialized]: all ranks run the same tests in the same order; the job fails if a test fails on any
/// rank. One rank prints the progress, the others only failures. Pieces are small, so that operations take many rounds.
int main(int argc, char** argv) {
  const bool serialized = argc > 1 && std::string_view(argv[1]) == "--serialized";
  const auto world = eindb::load_mpi_world({.chunk_bytes = 700'000,
                                            .reduced_bytes = 200'000,
                                            .packed_bytes = 20'000,
                                            .direct_bytes = 5'000,
                                            .one_thread_at_a_time = serialized});
  eindb::world_of_tests() = world.get();
  std::printf("%s\n", world->description().c_str());
  testing::GTEST_FLAG(brief) = world->rank() > 0;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

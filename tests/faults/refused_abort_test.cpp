// A worker whose disk refuses to remove what a transaction that was rolled back has put there removes it later.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/faults/layer/fault_layer.hpp"
#include "tests/faults/trial_database.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb::faults {
namespace {

TEST(RefusedAbort, IsTriedAgainWhileTheCoordinatorStays) {
  const ScratchDirectory scratch;
  const auto directory = scratch.file("database");
  std::filesystem::create_directory(directory);
  watch(directory);
  TrialDatabase database(directory, Place::Cluster);
  database.run("CREATE TENSOR A PARTITION (4, 4) AS EINSUM A[i 64, j 64] = i - j");
  auto& shards = database.cluster().shards(0);
  const auto before = shards.contents().size();

  database.run("BEGIN;; CREATE TENSOR N PARTITION (4, 4) AS EINSUM N[i,j] = A[i,j] + 1");
  EXPECT_GT(shards.contents().size(), before);
  const Fault fault{.count = Fault::kForEver,
                    .operations = bit(Operation::Write) | bit(Operation::Sync),
                    .path_part = "/worker-0/",
                    .error = EIO};
  arm(fault);
  database.run("ROLLBACK");
  const auto most = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto wait_until = [&](auto is_so) {
    bool is = is_so();
    for (; !is && std::chrono::steady_clock::now() < most; is = is_so())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return is;
  };
  ASSERT_TRUE(wait_until([&] {
    if (disarm().failed > 0) return true;
    arm(fault);
    return false;
  }));
  EXPECT_TRUE(wait_until([&] { return shards.contents().size() == before; })) << shards.contents().size();
}

}  // namespace
}  // namespace eindb::faults

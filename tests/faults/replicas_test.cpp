#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "tests/faults/layer/fault_layer.hpp"
#include "tests/faults/trial_database.hpp"
#include "tests/storage/scratch_directory.hpp"
#include "tests/trial_counts.hpp"

namespace eindb::faults {
namespace {

/// A tensor with a copy at each of two workers.
class Replicas : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_);
    TrialDatabase database(directory_, Place::Cluster);
    database.run("CREATE TENSOR A PARTITION (4, 4) REPLICAS 2 AS EINSUM A[i 64, j 64] = i - j + 1");
    database.close();
  }

  double sum(TrialDatabase& database) {
    auto result = database.session().execute("EINSUM Z[] = SUM(A[i,j])");
    Row row;
    if (!result.rows->next(row)) return -1;
    return std::get<double>(row.back());
  }

  ScratchDirectory scratch_;
  const std::string directory_ = scratch_.file("database");
};

// A disk that fails once or a few times and then succeeds.
TEST_F(Replicas, WhatADiskDoesNotGiveIsReadFromTheOtherCopy) {
  for (const std::int64_t count : {1, 3}) {
    for (std::int64_t first = 1;; ++first) {
      TrialDatabase database(directory_, Place::Cluster);
      watch(directory_);
      arm({.first = first,
           .count = count,
           .operations = bit(Operation::Read),
           .path_part = "/worker-0/",
           .error = EIO});
      const testing::Trial trial("io_faults_replicas");
      try {
        EXPECT_EQ(sum(database), 4096) << "read " << first;
      } catch (const Error& error) {
        ADD_FAILURE() << "read " << first << ": " << error.message();
      }
      if (disarm().failed == 0) break;
    }
  }
}

}  // namespace
}  // namespace eindb::faults

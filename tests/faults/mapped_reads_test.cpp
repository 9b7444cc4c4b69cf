#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/faults/layer/fault_layer.hpp"
#include "tests/faults/trial_database.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb::faults {
namespace {

/// Makes all mappings of the file unreadable, by mapping beyond the end of an empty file.
void spoil_maps_of(const std::string& path) {
  const int empty = ::memfd_create("empty", MFD_CLOEXEC);
  std::ifstream maps("/proc/self/maps");
  int spoilt = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r--s ") == std::string::npos || !line.ends_with(path)) continue;
    const auto begin = std::stoull(line, nullptr, 16);
    const auto end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(begin));
    ASSERT_EQ(::mmap(address, end - begin, PROT_READ, MAP_SHARED | MAP_FIXED, empty, 0), address);
    ++spoilt;
  }
  ::close(empty);
  EXPECT_GT(spoilt, 0);
}

/// A database whose disk fails while it is mapped.
class MappedReadsTest : public ::testing::Test {
 protected:
  MappedReadsTest() {
    std::filesystem::create_directory(directory_);
    make_trial_database(directory_, Place::File);
    database_.emplace(directory_, Place::File);
    before_ = database_->state();
  }

  void spoil_maps() { spoil_maps_of(directory_ + "/my.db"); }

  ScratchDirectory scratch_;
  const std::string directory_ = scratch_.file("database");
  std::optional<TrialDatabase> database_;
  std::string before_;
};

TEST_F(MappedReadsTest, FailOnceAndThenTheFileIsRead) {
  spoil_maps();
  EXPECT_ERROR(database_->run("SELECT COUNT(*) FROM t"), ErrorKind::Io, "my.db: a page of it cannot be read");
  EXPECT_EQ(database_->state(), before_);
  database_->run("UPDATE TENSOR A[i,j] = A[i,j] + 1");
  database_->close();
  EXPECT_EQ(inconsistencies(directory_, Place::File), "");
}

TEST_F(MappedReadsTest, FailInQueriesOfTensors) {
  spoil_maps();
  EXPECT_ERROR(database_->run("EINSUM s[] = SUM(A[i,j])"), ErrorKind::Io, "my.db: a page of it cannot be read");
  EXPECT_EQ(database_->state(), before_);
}

TEST_F(MappedReadsTest, CommitNothing) {
  database_->run("BEGIN;;CREATE TABLE u AS SELECT 1 AS a");
  spoil_maps();
  EXPECT_ERROR(database_->run("INSERT INTO u SELECT b FROM t"), ErrorKind::Io, "cannot be read");
  EXPECT_ERROR(database_->run("INSERT INTO u VALUES (2)"), ErrorKind::Io, "cannot be read");
  EXPECT_ERROR(database_->run("COMMIT"), ErrorKind::Io, "cannot be read");
  if (database_->session().in_transaction()) database_->run("ROLLBACK");
  EXPECT_EQ(database_->state(), before_);
}

// Even if no map of the worker is readable any more.
TEST(MappedReads, OfAWorkerAreReplacedByOtherCopies) {
  ScratchDirectory scratch;
  const auto directory = scratch.file("database");
  std::filesystem::create_directory(directory);
  make_trial_database(directory, Place::Cluster);
  TrialDatabase(directory, Place::Cluster).run("CREATE TENSOR R PARTITION (2, 2) REPLICAS 2 AS EINSUM R[i,j] = A[i,j]");
  watch(directory);
  TrialDatabase database(directory, Place::Cluster);
  const auto before = database.state();
  spoil_maps_of(directory + "/worker-0/shard.db");
  arm({.count = Fault::kForEver, .operations = bit(Operation::Read), .path_part = "worker-0/shard.db$"});
  EXPECT_NO_THROW(database.run("EINSUM s[] = SUM(R[i,j])"));
  EXPECT_NO_THROW(database.run("SELECT SUM(val) FROM R"));
  EXPECT_ERROR(database.run("EINSUM s[] = SUM(A[i,j])"), ErrorKind::Io, "worker-0/shard.db");
  EXPECT_ERROR(database.run("SELECT SUM(val) FROM A"), ErrorKind::Io, "worker-0/shard.db");
  disarm();
  EXPECT_EQ(database.state(), before) << "once the disk is well";
  EXPECT_NO_THROW(database.run("EINSUM s[] = SUM(A[i,j])"));
}

}  // namespace
}  // namespace eindb::faults

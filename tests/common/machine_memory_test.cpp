// The memory that control groups leave to a process, in directory trees like the kernel's.
#include "common/machine_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

class MachineMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    auto name = (fs::temp_directory_path() / "eindb-groups-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << text << "\n";
  }
  std::int64_t limit() const { return group_memory_limit(folder / "groups", folder / "mount"); }

  fs::path folder;
};

TEST_F(MachineMemory, NoGroupsAreNoLimit) {
  EXPECT_EQ(limit(), kNone);
  write("groups", "0::/");
  EXPECT_EQ(limit(), kNone);
  write("mount/memory.max", "max");
  EXPECT_EQ(limit(), kNone);
}

TEST_F(MachineMemory, TheLeastOfNestedGroupsCounts) {
  write("groups", "0::/system.slice/eindb.service");
  write("mount/system.slice/memory.max", "2000000000");
  write("mount/system.slice/eindb.service/memory.max", "max");
  EXPECT_EQ(limit(), 2'000'000'000);
  write("mount/system.slice/eindb.service/memory.max", "1000000000");
  EXPECT_EQ(limit(), 1'000'000'000);
  write("mount/system.slice/memory.max", "500000000");
  EXPECT_EQ(limit(), 500'000'000);
  write("mount/system.slice/eindb.service/memory.high", "400000000");
  EXPECT_EQ(limit(), 400'000'000);
}

TEST_F(MachineMemory, AContainerSeesItsGroupAtTheMount) {
  write("groups", "0::/");
  write("mount/memory.max", "300000000");
  EXPECT_EQ(limit(), 300'000'000);
  write("groups", "0::/docker/1f2e3d");  // the host's path, which is not mounted
  EXPECT_EQ(limit(), 300'000'000);
}

TEST_F(MachineMemory, VersionOneAndBothAtATime) {
  write("groups", "12:cpu,cpuacct:/docker/1f\n9:memory:/docker/1f\n1:name=systemd:/docker/1f\n0::/docker/1f");
  write("mount/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_GE(limit(), std::int64_t{1} << 60);
  write("mount/memory/docker/1f/memory.limit_in_bytes", "200000000");
  EXPECT_EQ(limit(), 200'000'000);
  write("mount/memory/docker/memory.limit_in_bytes", "150000000");
  EXPECT_EQ(limit(), 150'000'000);
}

TEST_F(MachineMemory, WhatIsNoLimitIsNone) {
  write("groups", "garbage\n\n0:\n0::/a");
  for (const char* text : {"", "many", "-1", "0", "12x", "99999999999999999999999"}) {
    write("mount/a/memory.max", text);
    EXPECT_EQ(limit(), kNone) << text;
  }
}

TEST_F(MachineMemory, AProcessHasSome) {
  EXPECT_GT(available_memory(), 0);
  EXPECT_LE(available_memory(), std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
}

}  // namespace
}  // namespace eindb

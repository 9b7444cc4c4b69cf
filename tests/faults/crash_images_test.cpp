#include "tests/faults/crash_images.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <set>
#include <string>

#include "tests/storage/scratch_directory.hpp"

namespace eindb::faults {
namespace {

using Loss = CrashImages::Loss;

/// A watched directory whose files are written by the usual functions of programs.
class CrashImagesTest : public ::testing::Test {
 protected:
  CrashImagesTest() {
    std::filesystem::create_directory(directory_);
    write_file(directory_ + "/old", std::string(1024, 'o'));
    watch(directory_);
    start_recording();
  }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  int open(const std::string& name) { return ::open(path(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }
  void sync_directory() {
    const int directory = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::fsync(directory), 0);
    ::close(directory);
  }

  /// The contents of the file in each of the final images; "-" if it is missing.
  std::set<std::string> contents(const std::string& name, Loss loss) {
    if (!images_) images_.emplace(take_recording());
    images_->advance_to(images_->moments() - 1);
    std::set<std::string> out;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const auto image = images_->image([loss](const auto&) { return loss; }, seed);
      const auto file = image.find(path(name));
      if (file == image.end()) out.insert("-");
      else out.insert({reinterpret_cast<const char*>(file->second.data()), file->second.size()});
    }
    return out;
  }

  ScratchDirectory scratch_;
  const std::string directory_ = scratch_.file("watched");
  std::optional<CrashImages> images_;
};

TEST_F(CrashImagesTest, WhatWasSyncedStays) {
  const int file = open("old");
  ASSERT_EQ(::pwrite(file, "new", 3, 0), 3);
  ASSERT_EQ(::fsync(file), 0);
  ::close(file);
  for (const auto loss : {Loss::Everything, Loss::Some, Loss::Nothing})
    EXPECT_EQ(contents("old", loss), std::set{"new" + std::string(1021, 'o')});
}

TEST_F(CrashImagesTest, WritesAreLostAndTornBySectors) {
  const int file = open("old");
  const std::string bytes(1024, 'n');
  ASSERT_EQ(::pwrite(file, bytes.data(), bytes.size(), 0), 1024);
  ::close(file);
  const std::string o(512, 'o');
  const std::string n(512, 'n');
  EXPECT_EQ(contents("old", Loss::Everything), std::set{o + o});
  EXPECT_EQ(contents("old", Loss::Nothing), std::set{n + n});
  EXPECT_EQ(contents("old", Loss::Some), (std::set{o + o, n + o, o + n, n + n}));
}

TEST_F(CrashImagesTest, OlderWritesOutlastLaterOnes) {
  const int file = open("old");
  ASSERT_EQ(::pwrite(file, "1", 1, 0), 1);
  ASSERT_EQ(::pwrite(file, "2", 1, 0), 1);
  ::close(file);
  const std::string rest(1023, 'o');
  EXPECT_EQ(contents("old", Loss::Some), (std::set{"o" + rest, "1" + rest, "2" + rest}));
}

TEST_F(CrashImagesTest, NamesAreLostUntilTheirDirectoryIsSynced) {
  const int file = open("new");
  ASSERT_EQ(::pwrite(file, "x", 1, 0), 1);
  ASSERT_EQ(::fsync(file), 0);
  ::close(file);
  EXPECT_EQ(contents("new", Loss::Everything), std::set<std::string>{"-"});
  EXPECT_EQ(contents("new", Loss::Some), (std::set<std::string>{"-", "x"}));
}

TEST_F(CrashImagesTest, NamesStayOnceTheirDirectoryIsSynced) {
  const int file = open("new");
  ASSERT_EQ(::rename(path("new").c_str(), path("newer").c_str()), 0);
  ASSERT_EQ(::unlink(path("old").c_str()), 0);
  sync_directory();
  ASSERT_EQ(::pwrite(file, "x", 1, 0), 1);
  ::close(file);
  EXPECT_EQ(contents("new", Loss::Some), std::set<std::string>{"-"});
  EXPECT_EQ(contents("newer", Loss::Some), (std::set<std::string>{"", "x"}));
  EXPECT_EQ(contents("old", Loss::Everything), std::set<std::string>{"-"});
}

TEST_F(CrashImagesTest, TheChosenOperationFails) {
  take_recording();
  arm({.first = 2, .count = 1, .operations = bit(Operation::Write), .error = ENOSPC});
  const int file = open("old");
  EXPECT_EQ(::pwrite(file, "1", 1, 0), 1);
  EXPECT_EQ(::pwrite(file, "2", 1, 0), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(::pwrite(file, "3", 1, 0), 1);
  ::close(file);
  const auto report = disarm();
  EXPECT_EQ(report.seen, 3);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.path, path("old"));
}

}  // namespace
}  // namespace eindb::faults

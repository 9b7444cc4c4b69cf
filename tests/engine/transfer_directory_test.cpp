#include "engine/files/transfer_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/error.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

class TransferDirectoryTest : public ::testing::Test {
 protected:
  TransferDirectoryTest() {
    auto name = (fs::temp_directory_path() / "transfer-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(TransferDirectoryTest, WhatWasAppendedIsReadByItsPath) {
  TransferDirectory directory((folder_ / "my.db").string());
  EXPECT_EQ(entries(), 0U);
  const auto file = directory.make();
  file->append("abc");
  file->append("def");
  std::ifstream stream(file->path());
  std::string text;
  stream >> text;
  EXPECT_EQ(text, "abcdef");
  EXPECT_EQ(fs::status(fs::path(file->path()).parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(TransferDirectoryTest, WhatWasWrittenElsewhereIsRead) {
  TransferDirectory directory((folder_ / "my.db").string());
  const auto file = directory.make();
  std::array<char, 4> buffer{};
  EXPECT_THROW(file->read(buffer), Error);
  std::ofstream(file->path()) << "abcdef";
  EXPECT_EQ(file->read(buffer), "abcd");
  EXPECT_EQ(file->read(buffer), "ef");
  EXPECT_EQ(file->read(buffer), "");
}

TEST_F(TransferDirectoryTest, NothingIsLeft) {
  {
    TransferDirectory directory((folder_ / "my.db").string());
    const auto first = directory.make();
    first->append("a");
    const auto second = directory.make();
    EXPECT_NE(first->path(), second->path());
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TransferDirectoryTest, WhatKilledProcessesLeftIsRemovedAndNothingElse) {
  TransferDirectory mine((folder_ / "my.db").string());
  mine.make()->append("a");
  const auto child = ::fork();
  if (child == 0) {
    auto* const theirs = new TransferDirectory((folder_ / "my.db").string());
    theirs->make().release()->append("b");
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(entries(), 2U);
  const TransferDirectory next((folder_ / "my.db").string());
  EXPECT_EQ(entries(), 1U);
  EXPECT_NO_THROW(mine.make()->append("c"));
}

}  // namespace
}  // namespace eindb

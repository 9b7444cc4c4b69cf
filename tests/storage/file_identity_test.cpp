// A file is distinguished from its copies, and keeps its identity when it is moved.
#include "storage/files/file_identity.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

TEST(FileIdentity, CopiesAreOtherFiles) {
  const ScratchDirectory scratch;
  const auto original = scratch.file("original");
  std::ofstream(original) << "text";
  const auto identity = file_identity_of(original);
  fs::copy_file(original, scratch.file("copy"));
  EXPECT_FALSE(is_same_file(identity, file_identity_of(scratch.file("copy"))));
  std::ofstream(original) << "another text";
  fs::rename(original, scratch.file("moved"));
  EXPECT_TRUE(is_same_file(identity, file_identity_of(scratch.file("moved"))));
  fs::create_symlink(scratch.file("moved"), scratch.file("link"));
  EXPECT_TRUE(is_same_file(identity, file_identity_of(scratch.file("link"))));
  EXPECT_ERROR(file_identity_of(original), ErrorKind::Io, "original");
}

TEST(FileIdentity, ATimeThatOneDoesNotKnowDoesNotCount) {
  EXPECT_TRUE(is_same_file("7:5.1", "7:5.1"));
  EXPECT_FALSE(is_same_file("7:5.1", "7:5.2"));
  EXPECT_FALSE(is_same_file("7:5.1", "8:5.1"));
  EXPECT_TRUE(is_same_file("7:5.1", "7:0.0"));
  EXPECT_TRUE(is_same_file("7:0.0", "7:5.1"));
  EXPECT_FALSE(is_same_file("7:0.0", "8:0.0"));
  EXPECT_FALSE(is_same_file("", "7:5.1"));
}

}  // namespace
}  // namespace eindb

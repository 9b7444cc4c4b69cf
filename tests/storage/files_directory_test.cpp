// The directory of clients' files: paths that lead outside in any way are neither read nor written.

#include "storage/files/files_directory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/error.hpp"
#include "storage/files/input_file.hpp"
#include "storage/files/output_file.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

class FilesDirectoryTest : public ::testing::Test {
 protected:
  FilesDirectoryTest() {
    fs::create_directories(root + "/a/b");
    write_file(scratch.file("secret"), "secret");
    directory = std::make_shared<const FilesDirectory>(root);
  }
  FilePath in(std::string path) const { return {std::move(path), directory}; }
  void write(const std::string& path, const std::string& text) const {
    OutputFile file(in(path));
    file.append(std::as_bytes(std::span(text)));
    file.commit();
  }

  ScratchDirectory scratch;
  std::string root = scratch.file("files");
  std::shared_ptr<const FilesDirectory> directory;
};

TEST_F(FilesDirectoryTest, FilesAreBelowIt) {
  for (const std::string& path :
       {std::string("x"), std::string("./a//b/./x"), root + "/a/x", directory->path() + "/y"}) {
    SCOPED_TRACE(path);
    write(path, "one");
    write(path, "other");
    const InputFile file(in(path));
    EXPECT_EQ(file.size(), 5);
    EXPECT_EQ(file.path(), path);
  }
  EXPECT_EQ(read_file(root + "/a/b/x"), "other");
  EXPECT_EQ(read_file(root + "/a/x"), "other");
}

TEST_F(FilesDirectoryTest, NoPathLeadsOut) {
  fs::create_directory_symlink(scratch.file(""), root + "/up");
  fs::create_symlink(scratch.file("secret"), root + "/link");
  fs::create_symlink("a", root + "/inner");
  fs::create_directories(root + "-other");
  write_file(root + "-other/x", "x");
  for (const std::string& path :
       {std::string("../secret"), std::string("a/../../secret"), std::string(".."), std::string(""), std::string("."),
        std::string("/"), scratch.file("secret"), std::string("up/secret"), std::string("link"), std::string("inner/x"),
        root + "-other/x", root + "/../secret", std::string("/proc/self/mem"), std::string("x\0/../../secret", 15)}) {
    SCOPED_TRACE(path);
    EXPECT_ERROR(InputFile(in(path)), ErrorKind::Permission, "directory of files");
    EXPECT_ERROR(OutputFile(in(path)), ErrorKind::Permission, "directory of files");
  }
  EXPECT_EQ(read_file(scratch.file("secret")), "secret");
}

TEST_F(FilesDirectoryTest, WhatIsThereIsAFileOrNothing) {
  ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
  EXPECT_ERROR(InputFile(in("pipe")), ErrorKind::Io, "not a regular file");
  EXPECT_ERROR(OutputFile(in("pipe")), ErrorKind::Permission, "no regular file");
  EXPECT_ERROR(InputFile(in("a")), ErrorKind::Io, "directory");
  EXPECT_ERROR(OutputFile(in("a")), ErrorKind::Io, "directory");
  EXPECT_ERROR(InputFile(in("a/")), ErrorKind::Io, "directory");
  EXPECT_ERROR(InputFile(in("none")), ErrorKind::Io, "cannot read none");
  EXPECT_ERROR(OutputFile(in("none/x")), ErrorKind::Io, "none/x");
  write("x", "1");
  EXPECT_ERROR(InputFile(in("x/y")), ErrorKind::Io, "x/y");
}

TEST_F(FilesDirectoryTest, ALinkThatComesWhileAFileIsWrittenIsReplaced) {
  OutputFile file(in("x"));
  fs::create_symlink(scratch.file("secret"), root + "/x");
  file.commit();
  EXPECT_FALSE(fs::is_symlink(root + "/x"));
  EXPECT_EQ(read_file(scratch.file("secret")), "secret");
}

TEST_F(FilesDirectoryTest, WhatWasOpenedStaysWhatItWas) {
  fs::create_directories(scratch.file("elsewhere/b"));
  OutputFile file(in("a/b/x"));
  fs::rename(root + "/a", root + "/was");
  fs::create_directory_symlink(scratch.file("elsewhere"), root + "/a");
  file.commit();
  EXPECT_TRUE(fs::exists(root + "/was/b/x"));
  EXPECT_TRUE(fs::is_empty(scratch.file("elsewhere/b")));
}

TEST_F(FilesDirectoryTest, AFileThatIsNotCommittedLeavesNothing) {
  { const OutputFile file(in("a/b/x")); }
  EXPECT_TRUE(fs::is_empty(root + "/a/b"));
}

TEST_F(FilesDirectoryTest, KnowsWhatItContains) {
  write("a/x", "1");
  fs::create_symlink(root + "/a/x", scratch.file("into"));
  EXPECT_TRUE(directory->contains(root + "/a/x"));
  EXPECT_TRUE(directory->contains(scratch.file("into")));
  EXPECT_FALSE(directory->contains(scratch.file("secret")));
  EXPECT_FALSE(directory->contains(root + "/none"));
  EXPECT_ERROR(FilesDirectory(root + "/none"), ErrorKind::Io, "none");
  EXPECT_ERROR(FilesDirectory(scratch.file("secret")), ErrorKind::Io, "secret");
}

TEST_F(FilesDirectoryTest, WithoutAFreeDescriptorNothingIsFound) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THROW(directory->find("x"), Error);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(directory->find("x").directory);
}

}  // namespace
}  // namespace eindb

// Directories that appear whole or not at all, and those that are read.

#include "storage/files/output_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "storage/files/directory_path.hpp"
#include "storage/files/files_directory.hpp"
#include "storage/files/input_directory.hpp"
#include "storage/tiles/database_file.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace stdfs = std::filesystem;

void write_text(OutputDirectory& directory, const std::string& name, const std::string& text) {
  directory.write(name, std::as_bytes(std::span(text)));
}

class OutputDirectoryTest : public ::testing::Test {
 protected:
  void make(const std::string& text, bool replaces = false) const {
    OutputDirectory directory(path);
    write_text(directory, "a/b/c", text);
    write_text(directory, "d", text);
    directory.commit(replaces);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("made");
};

TEST_F(OutputDirectoryTest, AppearsWithCommitAlone) {
  {
    OutputDirectory directory(path);
    write_text(directory, "a/b", "text");
    EXPECT_FALSE(stdfs::exists(path));
  }
  EXPECT_EQ(scratch.file_count(), 0U);
  make("one");
  EXPECT_EQ(read_file(path + "/a/b/c"), "one");
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(OutputDirectoryTest, ReplacesOnlyWhatItMay) {
  make("one");
  EXPECT_EQ(error_of([&] { make("two"); }).kind(), ErrorKind::Conflict);
  EXPECT_EQ(read_file(path + "/d"), "one");
  make("two", true);
  EXPECT_EQ(read_file(path + "/d"), "two");
  EXPECT_EQ(scratch.file_count(), 1U);
  stdfs::remove_all(path);
  stdfs::create_directory(path);
  make("three");  // an empty one hides nothing
  EXPECT_EQ(read_file(path + "/d"), "three");
  stdfs::remove_all(path);
  write_file(path, "a file");
  EXPECT_EQ(error_of([&] { make("four", true); }).kind(), ErrorKind::Conflict);
  EXPECT_EQ(read_file(path), "a file");
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(OutputDirectoryTest, LinksAreNotFollowedWhereOneIsRemoved) {
  make("one");
  stdfs::create_directory(scratch.file("kept"));
  write_file(scratch.file("kept/file"), "kept");
  stdfs::create_directory_symlink(scratch.file("kept"), path + "/link");
  make("two", true);
  EXPECT_FALSE(stdfs::exists(path + "/link"));
  EXPECT_EQ(read_file(scratch.file("kept/file")), "kept");
}

TEST_F(OutputDirectoryTest, AnOpenDatabaseIsNotRemoved) {
  make("one");
  const DatabaseFile database(path + "/my.db");
  EXPECT_EQ(error_of([&] { make("two", true); }).kind(), ErrorKind::Permission);
  EXPECT_EQ(read_file(path + "/d"), "one");
  EXPECT_TRUE(stdfs::exists(path + "/my.db"));
}

TEST_F(OutputDirectoryTest, NamesStayBelowIt) {
  OutputDirectory directory(path);
  for (const auto* name : {"", "/x", "../x", "a/../x", "a//x", "a/", "./x", "a/."})
    EXPECT_EQ(error_of([&] { write_text(directory, name, ""); }).kind(), ErrorKind::Value) << name;
  EXPECT_EQ(error_of([&] { components_below(std::string(300, 'x')); }).kind(), ErrorKind::Value);
  EXPECT_EQ(error_of([&] { components_below(std::string("a\0b", 3)); }).kind(), ErrorKind::Value);
  EXPECT_EQ(components_below("a/b c/..d"), (std::vector<std::string>{"a", "b c", "..d"}));
  write_text(directory, "x", "");
  EXPECT_EQ(error_of([&] { write_text(directory, "x", ""); }).kind(), ErrorKind::Io);
  EXPECT_EQ(error_of([&] { write_text(directory, "x/y", ""); }).kind(), ErrorKind::Io);
}

TEST_F(OutputDirectoryTest, ConfinedPathsStayInTheirDirectory) {
  const auto within = std::make_shared<const FilesDirectory>(scratch.file("."));
  EXPECT_EQ(error_of([&] { OutputDirectory(FilePath("../out", within)); }).kind(), ErrorKind::Permission);
  OutputDirectory directory(FilePath("made", within));
  write_text(directory, "x", "confined");
  directory.commit(false);
  EXPECT_EQ(InputDirectory(FilePath("made", within)).read("x", 100), "confined");
  stdfs::create_directory_symlink(path, scratch.file("link"));
  EXPECT_EQ(error_of([&] { InputDirectory(FilePath("link", within)); }).kind(), ErrorKind::Permission);
}

TEST_F(OutputDirectoryTest, IsReadAsItIs) {
  EXPECT_EQ(InputDirectory::find(path), nullptr);
  EXPECT_EQ(error_of([&] { InputDirectory one(path); }).kind(), ErrorKind::Io);
  make("text");
  const InputDirectory directory(path);
  EXPECT_EQ(directory.names("", 10), (std::vector<std::string>{"a", "d"}));
  EXPECT_EQ(error_of([&] { directory.names("", 1); }).kind(), ErrorKind::Unsupported);
  EXPECT_EQ(directory.read("a/b/c", 4), "text");
  EXPECT_EQ(error_of([&] { directory.read("a/b/c", 3); }).kind(), ErrorKind::Unsupported);
  EXPECT_EQ(directory.read("a/none", 4), std::nullopt);
  EXPECT_EQ(directory.file("none/none"), nullptr);
  EXPECT_EQ(error_of([&] { directory.file("a"); }).kind(), ErrorKind::Io);
  EXPECT_EQ(error_of([&] { directory.file("../made/d"); }).kind(), ErrorKind::Value);
  EXPECT_TRUE(directory.has_directory("a/b"));
  EXPECT_FALSE(directory.has_directory("d"));
  EXPECT_FALSE(directory.is_empty("a"));
  stdfs::create_symlink("/etc/hostname", path + "/link");
  EXPECT_EQ(error_of([&] { directory.file("link"); }).kind(), ErrorKind::Io);
}

}  // namespace
}  // namespace eindb

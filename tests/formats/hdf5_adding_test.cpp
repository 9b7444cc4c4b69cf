// Data sets that are added to HDF5 files which are there: what is kept, what is refused, and files of others that lie.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "storage/formats/hdf5_reader.hpp"
#include "storage/formats/hdf5_writer.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/formats/hdf5_test_file.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

class Hdf5AddingTest : public ::testing::Test {
 protected:
  Tile read(const std::string& name) const {
    Hdf5Reader reader(path, name, 256 << 20);
    return reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
  }

  void add(const std::string& name, const Tile& values, Overwrite overwrite = Overwrite::No,
           const Hdf5Layout& layout = {}) const {
    Hdf5Writer writer(path, {name, values.dtype(), values.shape(), layout}, overwrite);
    writer.write_block(std::vector<std::int64_t>(values.shape().rank(), 0), values);
    writer.commit();
  }

  Tile some(std::vector<std::int64_t> extents = {4, 3}, DType type = DType::Float64) {
    return random_tile(random, type, Shape(std::move(extents)));
  }

  /// Nothing may be changed, and no temporary file be left, by `act`, which throws.
  template <class Act>
  void expect_refused(const Act& act, ErrorKind kind, const std::string& text, const std::string& hint = "") {
    const auto before = read_file(path);
    const auto error = error_of(act);
    EXPECT_EQ(describe(error.kind()), describe(kind)) << error.message();
    EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
    EXPECT_NE(error.hint().find(hint), std::string::npos) << error.hint();
    EXPECT_EQ(read_file(path), before);
    EXPECT_EQ(scratch.file_count(), 1U);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.h5");
  std::mt19937_64 random{7};
};

TEST_F(Hdf5AddingTest, WhatAFileHoldsIsKept) {
  TestFile(path).add_doubles("/of/others", {1, 2, 3});
  Hdf5Layout deflated;
  deflated.chunk = {2, 2};
  deflated.deflate = true;
  std::map<std::string, Tile> sets;
  sets.emplace("x", some());
  sets.emplace("/of/x", some());
  sets.emplace("/new/group/x", some({2, 5}, DType::Complex64));
  sets.emplace("of/scalar", some({}));
  for (const auto& [name, values] : sets) add(name, values, Overwrite::No, name == "x" ? deflated : Hdf5Layout{});
  for (const auto& [name, values] : sets) EXPECT_TRUE(same_tile(read(name), values)) << name;
  EXPECT_EQ(read("of/others").data<double>()[2], 3);
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(Hdf5AddingTest, ANameThatIsThereIsReplacedOnlyWhenToldSo) {
  const auto kept = some();
  add("g/kept", kept);
  add("g/x", some());
  expect_refused([&] { add("/g/x", some()); }, ErrorKind::DuplicateName, "x.h5 holds a data set '/g/x' already",
                 "add OVERWRITE");
  const auto values = some({7}, DType::Int64);
  add("g/x", values, Overwrite::Yes);
  EXPECT_TRUE(same_tile(read("g/x"), values));
  EXPECT_TRUE(same_tile(read("g/kept"), kept));
}

// The library gives the place of a removed data set to the new one.
TEST_F(Hdf5AddingTest, WhatIsNotWrittenOfANewDataSetIsZero) {
  auto ones = Tile::zeros(DType::Float64, Shape({500, 100}));
  for (std::int64_t n = 0; n < 50'000; ++n) ones.mutable_data<double>()[n] = 1;
  add("x", ones);
  Hdf5Writer writer(path, {"x", DType::Float64, Shape({499, 100}), {}}, Overwrite::Yes);
  writer.write_block({490, 0}, Tile::zeros(DType::Float64, Shape({1, 100})));
  writer.commit();
  EXPECT_LT(fs::file_size(path), 500'000U);  // the place has been used again
  EXPECT_TRUE(read("x").is_all_zero());
}

TEST_F(Hdf5AddingTest, OnlyGroupsAreFollowedAndOnlyDataSetsReplaced) {
  TestFile(scratch.file("other.h5")).add_doubles("g/secret", {1});
  {
    const TestFile file(path);
    file.add_doubles("g/x", {1});
    H5Lcreate_soft("/g", file.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/g/x", file.id(), "soft_x", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external(scratch.file("other.h5").c_str(), "/g", file.id(), "outside", H5P_DEFAULT, H5P_DEFAULT);
  }
  const auto other = read_file(scratch.file("other.h5"));
  const auto before = read_file(path);
  for (const auto overwrite : {Overwrite::No, Overwrite::Yes}) {
    const auto fails = [&](const std::string& name, const std::string& what) {
      EXPECT_ERROR(add(name, some(), overwrite), ErrorKind::DuplicateName, what);
    };
    fails("g", "'g' is a group");
    fails("/g/x/y", "'/g/x' is no group");
    fails("g/x/y/z", "'g/x' is no group");
    for (const char* link : {"soft", "soft_x", "outside"}) {
      fails(link, std::string("'") + link + "' is a link");
      fails(std::string(link) + "/new", std::string("'") + link + "' is a link");
    }
  }
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(read_file(scratch.file("other.h5")), other);
  EXPECT_EQ(scratch.file_count(), 2U);
}

TEST_F(Hdf5AddingTest, AFileThatIsNoHdf5FileIsReplacedOnlyWhenToldSo) {
  write_file(path, "a,b\n1,2\n");
  expect_refused([&] { add("x", some()); }, ErrorKind::Corrupt, "is there, and is no HDF5 file", "add OVERWRITE");
  const auto values = some();
  add("x", values, Overwrite::Yes);
  EXPECT_TRUE(same_tile(read("x"), values));
  std::ofstream(path, std::ios::trunc).close();
  add("y", values);  // an empty file holds nothing
  EXPECT_TRUE(same_tile(read("y"), values));
}

TEST_F(Hdf5AddingTest, ADamagedFileIsNeverReplaced) {
  TestFile(path).add_doubles("x", {1, 2, 3, 4});
  const auto whole = read_file(path);
  write_file(path, whole.substr(0, 700));
  for (const auto overwrite : {Overwrite::No, Overwrite::Yes})
    expect_refused([&] { add("y", some(), overwrite); }, ErrorKind::Corrupt, "truncated file");
}

// Whatever the file says, the writer's process ends with the data set or with an error.
TEST_F(Hdf5AddingTest, ChangedBytesGiveADataSetOrAnError) {
  {
    TestFile file(path);
    file.add_doubles("g/x", {1, 2, 3, 4});
    file.add_doubles("y", {5});
  }
  const auto whole = read_file(path);
  int refused = 0;
  for (int n = 0; n < 300; ++n) {
    auto changed = whole;
    for (int times = static_cast<int>(random() % 4); times >= 0; --times)
      changed[random() % changed.size()] = static_cast<char>(random() % 2 == 0 ? random() : 0xFF);
    fs::remove(path);
    write_file(path, changed);
    try {
      add(n % 2 == 0 ? "g/new" : "g/x", some(), Overwrite::Yes);
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
      EXPECT_EQ(read_file(path), changed);
    }
    EXPECT_EQ(scratch.file_count(), 1U);
  }
  EXPECT_GT(refused, 10);
}

TEST_F(Hdf5AddingTest, TheEndOfTheProcessIsDamageAndLeavesTheFile) {
  add("x", some());
  const auto killed = [&] {
    Hdf5Writer writer(path, {"y", DType::Float64, Shape({2}), {}});
    std::ifstream children("/proc/self/task/" + std::to_string(::gettid()) + "/children");
    pid_t child = -1;
    children >> child;
    ASSERT_GT(child, 0);
    ::kill(child, SIGSEGV);
    writer.commit();
  };
  expect_refused(killed, ErrorKind::Corrupt, "its writer crashed");
}

TEST_F(Hdf5AddingTest, ChangesOfOthersAreNeverLost) {
  const auto first = some();
  const auto second = some();
  add("old", some());
  Hdf5Writer slow(path, {"first", DType::Float64, first.shape(), {}});
  slow.write_block({0, 0}, first);
  add("second", second);
  EXPECT_ERROR(slow.commit(), ErrorKind::Conflict, "it has been changed meanwhile");
  EXPECT_TRUE(same_tile(read("second"), second));
}

TEST_F(Hdf5AddingTest, AFileThatAppearsMeanwhileIsNotLost) {
  Hdf5Writer slow(path, {"first", DType::Float64, Shape({2}), {}});
  const auto second = some();
  add("second", second);
  EXPECT_ERROR(slow.commit(), ErrorKind::Conflict, "changed meanwhile");
  EXPECT_TRUE(same_tile(read("second"), second));
}

TEST_F(Hdf5AddingTest, AFileThatAnotherProgramWritesIsRefused) {
  add("x", some());
  const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);  // as libhdf5 does
  expect_refused([&] { add("y", some()); }, ErrorKind::Busy, "another program is writing it");
  ::close(writer);
  add("y", some());
}

TEST_F(Hdf5AddingTest, PermissionsStayAndLinksLeadToTheNewFile) {
  add("x", some());
  ::chmod(path.c_str(), 0640);
  fs::create_symlink(path, scratch.file("link.h5"));
  const auto values = some();
  Hdf5Writer writer(scratch.file("link.h5"), {"y", DType::Float64, values.shape(), {}});
  writer.write_block({0, 0}, values);
  writer.commit();
  EXPECT_TRUE(fs::is_symlink(scratch.file("link.h5")));
  EXPECT_TRUE(same_tile(read("y"), values));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms{0640});
}

TEST_F(Hdf5AddingTest, CopyingCanBeCancelled) {
  add("x", some());
  Cancellation cancellation;
  cancellation.request();
  expect_refused(
      [&] {
        Hdf5Writer(path, {"y", DType::Float64, Shape({2}), {}}, Overwrite::No, &cancellation);
      },
      ErrorKind::Cancelled, "");
}

}  // namespace
}  // namespace eindb

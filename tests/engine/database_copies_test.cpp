// Copies of a coordinator's file, older ones and ones beside the original: with the original's workers they are either
// refused as a whole or complete, and the original's tiles at the workers are unchanged.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "cluster/take_over.hpp"
#include "engine/session.hpp"
#include "tests/runner/local_cluster.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWorkers = 2;

/// A session in a process of its own.
class Coordinator {
 public:
  Coordinator(runner::LocalCluster& workers, const std::string& path) : cluster_(workers.another_coordinator()) {
    SessionOptions options;
    options.cluster = {std::shared_ptr<void>(), &cluster_->cluster()};
    session_.emplace(path, options);
    cluster_->cluster().wait_for_workers(std::chrono::minutes(4));
    run("SET tile_cache_size = 0");
  }

  void run(const std::string& sql) { session_->execute(sql); }
  void make(const std::string& tensor, int value) {
    run("CREATE TENSOR " + tensor + " PARTITION (4) REPLICAS 2 AS EINSUM " + tensor +
        "[i 8] = " + std::to_string(value));
  }
  double sum(const std::string& tensor) {
    auto result = session_->execute("EINSUM s = SUM(" + tensor + "[i])");
    Row row;
    result.rows->next(row);
    return std::get<double>(row.back());
  }
  Cluster& cluster() { return cluster_->cluster(); }

 private:
  std::unique_ptr<TcpCluster> cluster_;
  std::optional<Session> session_;
};

class DatabaseCopiesTest : public ::testing::Test {
 protected:
  DatabaseCopiesTest() : workers(scratch.file("workers"), kWorkers) {}

  Coordinator open(const std::string& path) { return {workers, path}; }
  TakeOver take_over(const std::string& path) {
    const auto coordinator = workers.another_coordinator();
    DatabaseFile file(path);
    return eindb::take_over(coordinator->cluster(), file);
  }
  /// No process may have the file open.
  void copy(const std::string& from, const std::string& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  }
  /// Copies into the existing file, which keeps its identity.
  void restore(const std::string& from, const std::string& to) {
    std::ifstream source(from, std::ios::binary);
    std::ofstream target(to, std::ios::binary | std::ios::trunc);
    target << source.rdbuf();
  }
  std::int64_t contents() {
    std::int64_t all = 0;
    for (std::size_t n = 0; n < kWorkers; ++n) all += workers.shards(n).usage().contents;
    return all;
  }
  void expect_refused(const std::string& path, const std::string& words) {
    const auto before = contents();
    const auto error = error_of([&] {
      auto other = open(path);
      other.sum("A");
    });
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
    EXPECT_NE((error.message() + error.hint()).find("take-over"), std::string::npos) << error.hint();
    EXPECT_ERROR(
        {
          auto other = open(path);
          other.run("DROP TENSOR A");
          other.make("B", 9);
        },
        error.kind(), words);
    EXPECT_EQ(contents(), before);
  }

  ScratchDirectory scratch;
  runner::LocalCluster workers;
  const std::string original = scratch.file("original.db");
  const std::string other = scratch.file("copy.db");
};

TEST_F(DatabaseCopiesTest, ACopyIsRefusedWhileTheOriginalLives) {
  open(original).make("A", 1);
  copy(original, other);
  auto live = open(original);
  expect_refused(other, "is a copy of the database");
  EXPECT_EQ(live.sum("A"), 8);
  live.make("B", 2);
  EXPECT_EQ(live.sum("B"), 16);
  EXPECT_EQ(live.sum("A"), 8);
}

TEST_F(DatabaseCopiesTest, ACopyIsRefusedWhileNobodyUsesTheOriginal) {
  open(original).make("A", 1);
  copy(original, other);
  expect_refused(other, "is a copy of the database");
  EXPECT_EQ(open(original).sum("A"), 8);
  // A moved file is not a copy.
  fs::rename(original, scratch.file("moved.db"));
  EXPECT_EQ(open(scratch.file("moved.db")).sum("A"), 8);
}

TEST_F(DatabaseCopiesTest, ACopyThatRefersToNothingIsADatabaseOfItsOwn) {
  { auto nothing = open(original); }
  copy(original, other);
  open(original).make("A", 1);
  EXPECT_ERROR(open(other).run("CREATE TENSOR B AS EINSUM B[i 8] = i"), ErrorKind::WorkerLost,
               "belongs to another database");
  EXPECT_EQ(open(original).sum("A"), 8);
}

TEST_F(DatabaseCopiesTest, AnOlderFileInPlaceOfALaterOneIsRefusedAsAWhole) {
  {
    auto first = open(original);
    first.make("A", 1);
  }
  copy(original, scratch.file("backup.db"));
  {
    auto later = open(original);
    later.run("DROP TENSOR A");
    later.make("A", 2);
  }
  copy(original, scratch.file("later.db"));
  restore(scratch.file("backup.db"), original);
  expect_refused(original, "an older copy");
  expect_refused(original, "an older copy");
  restore(scratch.file("later.db"), original);
  EXPECT_EQ(open(original).sum("A"), 16);
}

// The older file continued before it met the workers of the later one.
TEST_F(DatabaseCopiesTest, AnOlderFileThatHasGoneOnIsRefused) {
  open(original).make("A", 1);
  copy(original, scratch.file("backup.db"));
  open(original).make("B", 2);
  copy(original, scratch.file("later.db"));
  restore(scratch.file("backup.db"), original);
  {  // without workers
    Session session(original);
    for (int n = 0; n < 3; ++n) session.execute("DROP TENSOR IF EXISTS A");
  }
  expect_refused(original, "an older copy");
  restore(scratch.file("later.db"), original);
  auto last = open(original);
  EXPECT_EQ(last.sum("A"), 8);
  EXPECT_EQ(last.sum("B"), 16);
}

TEST_F(DatabaseCopiesTest, ABackupTakesOverWhereEverythingIsThere) {
  open(original).make("A", 1);
  copy(original, other);
  open(original).make("B", 2);
  const auto result = take_over(other);
  EXPECT_EQ(result.tiles, 4);
  EXPECT_EQ(result.surplus, 8) << "B's";
  EXPECT_ERROR(open(original).sum("A"), ErrorKind::WorkerLost, "another file has taken this database's place");
  {
    auto successor = open(other);
    EXPECT_EQ(successor.sum("A"), 8);
    successor.make("C", 3);
    EXPECT_EQ(successor.sum("C"), 24);
    successor.run("DROP TENSOR C");
    EXPECT_EQ(contents(), 8) << "what the original had made since is gone";
  }
  EXPECT_ERROR(open(original).sum("A"), ErrorKind::WorkerLost, "another file has taken this database's place");
  EXPECT_EQ(open(other).sum("A"), 8);
  // In the other direction, since the original is older now: it would find A, but no longer has B.
  EXPECT_ERROR(take_over(original), ErrorKind::WorkerLost, "another file has taken this database's place");
}

TEST_F(DatabaseCopiesTest, ABackupWhoseTilesAreGoneIsRefusedWithTheirNames) {
  {
    auto first = open(original);
    first.make("A", 1);
    first.make("B", 2);
  }
  copy(original, other);
  open(original).run("DROP TENSOR A");
  const auto before = contents();
  EXPECT_ERROR(take_over(other), ErrorKind::Conflict, "tiles any more of these tensors: A (4)");
  EXPECT_ERROR(take_over(other), ErrorKind::Conflict, "copy.db is older");
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(open(original).sum("B"), 16) << "nothing has changed";
  Session(other).execute("DROP TENSOR A");
  EXPECT_EQ(take_over(other).tiles, 4);
  EXPECT_EQ(open(other).sum("B"), 16);
}

TEST_F(DatabaseCopiesTest, TakingOverTakesAllWorkers) {
  open(original).make("A", 1);
  copy(original, other);
  {
    const auto coordinator = workers.another_coordinator();
    DatabaseFile file(other);
    // The loss is known before the worker is asked.
    workers.stop_quietly(1);
    EXPECT_ERROR(eindb::take_over(coordinator->cluster(), file), ErrorKind::WorkerLost, "are not there: 127.0.0.");
  }
  workers.start_quietly(1);
  EXPECT_EQ(open(original).sum("A"), 8);
  EXPECT_EQ(take_over(other).tiles, 4);
}

TEST_F(DatabaseCopiesTest, TheOriginalIsCutOffWhenACopyHasTakenOver) {
  open(original).make("A", 1);
  copy(original, other);
  auto live = open(original);
  live.run("BEGIN");
  live.make("B", 2);
  take_over(other);
  auto successor = open(other);
  EXPECT_EQ(successor.sum("A"), 8);
  // Later changes affect only its own file.
  live.run("COMMIT");
  EXPECT_THROW(live.sum("A"), Error);
  EXPECT_THROW(live.sum("B"), Error);
  live.run("DROP TENSOR A");
  EXPECT_EQ(successor.sum("A"), 8);
  successor.make("B", 3);
  EXPECT_EQ(successor.sum("B"), 24);
  EXPECT_EQ(contents(), 16);
}

// Backups, restores, copies and take-overs in random order: a session that is accepted reads what it wrote.
TEST_F(DatabaseCopiesTest, WhateverIsDoneWithFilesWhoIsLetInFindsEverything) {
  std::mt19937 random(17);
  const auto any = [&](int most) { return std::uniform_int_distribution<int>(0, most - 1)(random); };
  std::vector<std::string> files;
  for (int n = 0; n < 3; ++n) files.push_back(scratch.file("f" + std::to_string(n) + ".db"));
  int value = 0;
  int let_in = 0;
  int refused = 0;
  open(files[0]).make("A", ++value);
  for (int step = 0; step < 60; ++step) {
    const auto& file = files[static_cast<std::size_t>(any(3))];
    const auto& target = files[static_cast<std::size_t>(any(3))];
    const int what = any(5);
    if (what == 0 && file != target && fs::exists(file)) {
      if (fs::exists(target) && any(2) == 0) restore(file, target);
      else copy(file, target);
    } else if (what == 1 && fs::exists(file)) {
      try {
        take_over(file);
      } catch (const Error&) {
        ++refused;
      }
    } else if (fs::exists(file)) {
      try {
        auto session = open(file);
        for (const char* tensor : {"A", "B", "C"}) {
          try {
            const auto sum = session.sum(tensor);
            EXPECT_EQ(sum, 8 * std::round(sum / 8));
          } catch (const Error& error) {
            if (error.kind() != ErrorKind::UnknownName) throw;
          }
        }
        const std::string tensor(1, "ABC"[any(3)]);
        session.run("DROP TENSOR IF EXISTS " + tensor);
        session.make(tensor, ++value);
        EXPECT_EQ(session.sum(tensor), 8 * value);
        ++let_in;
      } catch (const Error& error) {
        EXPECT_TRUE(error.message().find("copy") != std::string::npos ||
                    error.message().find("another database") != std::string::npos ||
                    error.message().find("another file has taken") != std::string::npos)
            << error.message();
        ++refused;
      }
    }
  }
  EXPECT_GT(let_in, 5);
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace eindb

// A worker's file: transactions that are committed, aborted or left open, and the state after a crash.

#include "storage/worker_file/shard_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

#include "tests/storage/local_shards.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr ShardTransaction kFirst{1};
constexpr ShardTransaction kSecond{2};

class ShardFileTest : public ::testing::Test {
 protected:
  void put(ShardTransaction transaction, std::int64_t content) {
    const EncodedTile encoded(tile);
    const OutgoingContent one{ContentId{content}, "A", encoded.header(), encoded.values()};
    file->put(transaction, std::span(&one, 1));
  }
  void put_all(ShardTransaction transaction, std::initializer_list<std::int64_t> contents) {
    for (const auto content : contents) put(transaction, content);
  }
  std::vector<std::int64_t> present() {
    std::vector<std::int64_t> out;
    for (std::int64_t n = 0; n < 100; ++n)
      if (file->open(ContentId{n}) != nullptr) out.push_back(n);
    return out;
  }
  void reopen() {
    file.reset();
    file.emplace(directory);
  }

  using Contents = std::vector<std::int64_t>;
  ScratchDirectory scratch;
  std::string directory = scratch.file("data");
  std::mt19937_64 random{5};
  Tile tile = random_tile(random, DType::Float64, Shape({3, 5}));
  std::optional<ShardFile> file{std::in_place, directory};
};

TEST_F(ShardFileTest, WhatIsPutIsReadAtOnceAndKeptByACommit) {
  put_all(kFirst, {10, 11});
  const auto read = file->read(ContentId{10}, DType::Float64, Shape({3, 5}), "it");
  ASSERT_NE(read, nullptr);
  EXPECT_TRUE(std::equal(read->bytes().begin(), read->bytes().end(), tile.bytes().begin()));
  EXPECT_EQ(file->read(ContentId{12}, DType::Float64, Shape({3, 5}), "it"), nullptr);
  file->prepare(kFirst, 2);
  EXPECT_EQ(file->undecided(), std::vector{kFirst});
  file->commit(kFirst, std::vector{ContentRange{ContentId{10}, ContentId{11}}});
  EXPECT_TRUE(file->undecided().empty());
  file->abort(kFirst);  // too late
  reopen();
  EXPECT_EQ(present(), (Contents{10, 11}));
  EXPECT_EQ(file->usage().contents, 2);
  EXPECT_EQ(file->usage().bytes, static_cast<std::int64_t>(2 * encode_tile(tile).size()));
}

TEST_F(ShardFileTest, ACommitDropsWhatASavepointTookBack) {
  put_all(kFirst, {10, 11, 12, 14, 15, 17});
  put(kSecond, 13);
  file->prepare(kFirst, 6);
  file->commit(kFirst,
               std::vector{ContentRange{ContentId{5}, ContentId{10}}, ContentRange{ContentId{12}, ContentId{14}},
                           ContentRange{ContentId{30}, ContentId{40}}});
  EXPECT_EQ(present(), (Contents{10, 12, 13, 14}));
}

TEST_F(ShardFileTest, ACrashForgetsWhatWasNotPrepared) {
  put(kFirst, 10);
  put(kSecond, 20);
  file->prepare(kFirst, 1);
  reopen();
  EXPECT_EQ(present(), Contents{10});
  EXPECT_EQ(file->undecided(), std::vector{kFirst});
  file->abort(kFirst);
  EXPECT_EQ(present(), Contents{});
}

TEST_F(ShardFileTest, AWorkerThatForgotDoesNotPrepare) {
  put_all(kFirst, {10, 11});
  reopen();
  EXPECT_ERROR(file->prepare(kFirst, 2), ErrorKind::WorkerLost, "0 of the 2");
  put(kFirst, 12);
  EXPECT_ERROR(file->prepare(kFirst, 3), ErrorKind::WorkerLost, "1 of the 3");
  file->prepare(kFirst, 1);
}

TEST_F(ShardFileTest, WhatAnEarlierAttemptHasLeftIsNoHindrance) {
  put_all(kFirst, {10, 11});
  put_all(kFirst, {20, 21, 22});
  file->prepare(kFirst, 3);
  file->commit(kFirst, std::vector{ContentRange{ContentId{20}, ContentId{22}}});
  EXPECT_EQ(present(), (Contents{20, 21, 22}));
}

// The coordinator is back on a new connection before the worker has finished with the lost one.
TEST_F(ShardFileTest, AConnectionThatEndsTakesOnlyWhatIsNotPrepared) {
  put(kFirst, 10);
  put(kSecond, 20);
  file->prepare(kSecond, 1);
  file->abort_unprepared(std::vector{kFirst, kSecond});
  EXPECT_EQ(present(), (Contents{20}));
  EXPECT_EQ(file->undecided(), std::vector{kSecond});
}

TEST_F(ShardFileTest, MoreMayComeAfterPrepare) {
  put(kFirst, 10);
  file->prepare(kFirst, 1);
  put(kFirst, 11);
  EXPECT_TRUE(file->undecided().empty());
  file->prepare(kFirst, 2);
  EXPECT_EQ(file->undecided(), std::vector{kFirst});
}

TEST_F(ShardFileTest, NumbersAreTakenOnceAndDropsMayComeAgain) {
  put(kFirst, 10);
  EXPECT_ERROR(put(kSecond, 10), ErrorKind::Corrupt, "already");
  EXPECT_EQ(file->undecided().size(), 0U);
  for (int n = 0; n < 2; ++n) file->drop(std::vector<ContentRange>{{ContentId{10}, ContentId{11}}}, kAnyEpoch);
  EXPECT_EQ(present(), Contents{});
}

// Against the count of a file that was opened anew, after each kind of change.
TEST_F(ShardFileTest, UsageIsKeptUpToDate) {
  EXPECT_EQ(file->usage().contents, 0);
  const auto expect_right = [&](const char* what) {
    const auto kept = file->usage();
    reopen();
    EXPECT_EQ(kept.contents, file->usage().contents) << what;
    EXPECT_EQ(kept.bytes, file->usage().bytes) << what;
  };
  put_all(kFirst, {10, 11, 12, 14});
  put(kSecond, 13);
  EXPECT_ERROR(put(kSecond, 10), ErrorKind::Corrupt, "already");
  file->prepare(kFirst, 4);
  file->prepare(kSecond, 1);
  expect_right("put");
  file->commit(kFirst, std::vector{ContentRange{ContentId{10}, ContentId{11}}});
  expect_right("commit");
  EXPECT_EQ(file->usage().contents, 3);
  file->abort(kSecond);
  expect_right("abort");
  const EncodedTile encoded(random_tile(random, DType::Float64, Shape({9, 5})));
  file->repair({ContentId{11}, "A", encoded.header(), encoded.values()});
  file->repair({ContentId{20}, "A", encoded.header(), encoded.values()});
  expect_right("repair");
  file->drop(std::vector<ContentRange>{{ContentId{5}, ContentId{10}}, {ContentId{20}, ContentId{20}}}, kAnyEpoch);
  expect_right("drop");
  EXPECT_EQ(present(), (Contents{11}));
}

// A drop takes many contents in several changes, and ranges of numbers that are mostly not there.
TEST_F(ShardFileTest, DropsRangesOfAnyLength) {
  for (std::int64_t content = 0; content < 300; ++content)
    if (content % 3 != 0) put(kFirst, 1000 + content);
  file->prepare(kFirst, 200);
  file->commit(kFirst, std::vector{ContentRange{ContentId{1000}, ContentId{1300}}});
  file->drop(std::vector<ContentRange>{{ContentId{1}, ContentId{1100}}, {ContentId{1102}, ContentId{1103}}}, kAnyEpoch);
  EXPECT_EQ(file->usage().contents, 200 - 67 - 1);
  EXPECT_EQ(file->open(ContentId{1100}), nullptr);
  EXPECT_NE(file->open(ContentId{1101}), nullptr);
  EXPECT_EQ(file->open(ContentId{1103}), nullptr);
  file->drop(std::vector<ContentRange>{{ContentId{1}, ContentId{std::int64_t{1} << 62U}}}, kAnyEpoch);
  EXPECT_EQ(file->usage().contents, 0);
}

TEST_F(ShardFileTest, BelongsToOneDatabaseAndOneWorker) {
  const auto id = file->id();
  file->claim(77);
  EXPECT_ERROR(ShardFile second(directory), ErrorKind::Busy, "another worker");
  reopen();
  EXPECT_EQ(file->id(), id);
  file->claim(77);
  EXPECT_ERROR(file->claim(78), ErrorKind::Value, "another database");
  EXPECT_NE(ShardFile(scratch.file("other")).id(), id);
  EXPECT_ERROR(ShardFile(scratch.file("no/such")), ErrorKind::Io, "no/such");
}

TEST_F(ShardFileTest, ACopyIsWrittenAnewUnlessItsTransactionGoesOn) {
  put_all(kFirst, {10, 11});
  file->prepare(kFirst, 2);
  const EncodedTile encoded(tile);
  const auto repair = [&](std::int64_t content) {
    file->repair({ContentId{content}, "A", encoded.header(), encoded.values()});
  };
  EXPECT_ERROR(repair(10), ErrorKind::Conflict, "goes on");
  const ContentRange kept{ContentId{10}, ContentId{11}};
  file->commit(kFirst, std::span(&kept, 1));
  repair(10);
  repair(12);  // lost completely
  EXPECT_EQ(present(), (Contents{10, 11, 12}));
  reopen();
  EXPECT_EQ(present(), (Contents{10, 11, 12}));
}

TEST_F(ShardFileTest, ADatabaseIsSucceededByOneThatNamesIt) {
  file->claim(7);
  file->advance({5, 55});
  file->advance({4, 44});
  EXPECT_EQ(file->epoch(), (ShardEpoch{5, 55})) << "epochs go up";
  reopen();
  EXPECT_EQ(file->database(), 7);
  EXPECT_EQ(file->epoch(), (ShardEpoch{5, 55}));
  const std::array<std::int64_t, 2> others{1, 2};
  EXPECT_ERROR(file->claim(8, others), ErrorKind::Value, "another database");
  const std::array<std::int64_t, 2> former{1, 7};
  file->claim(8, former);
  EXPECT_EQ(file->epoch(), ShardEpoch{}) << "those of the other do not count";
  EXPECT_ERROR(file->claim(7), ErrorKind::Value, "another database");
  reopen();
  EXPECT_ERROR(file->claim(7), ErrorKind::Value, "another database");
  file->claim(8);
  EXPECT_TRUE(file->has_superseded(7));
  EXPECT_FALSE(file->has_superseded(1));
  EXPECT_FALSE(file->has_superseded(8));
}

// Two processes drop the same garbage. Between that the content has come back.
TEST_F(ShardFileTest, ADropConcernsWhatWasThereInItsEpoch) {
  const auto put_since = [&](ShardTransaction transaction, std::int64_t content, std::int64_t since) {
    const std::vector<std::byte> bytes = encode_tile(tile);
    const OutgoingContent copy{ContentId{content}, "A", bytes, {}, since};
    file->put(transaction, {&copy, 1});
    file->prepare(transaction, 1);
    const ContentRange kept{ContentId{content}, ContentId{content}};
    file->commit(transaction, {&kept, 1});
  };
  const std::vector<ContentRange> range{{ContentId{10}, ContentId{12}}};
  put_since(kFirst, 10, 0);
  put_since(ShardTransaction{91}, 11, 5);
  put_since(ShardTransaction{92}, 12, 8);
  file->drop(range, 4);
  EXPECT_EQ(present(), (Contents{11, 12}));
  reopen();
  file->drop(range, 5);
  EXPECT_EQ(present(), (Contents{12}));
  EXPECT_EQ(file->usage().contents, 1);
  // A rewritten copy is as old as before.
  file->repair({ContentId{12}, "A", encode_tile(tile), {}});
  file->drop(range, 7);
  EXPECT_EQ(present(), (Contents{12}));
  file->drop(range, 8);
  EXPECT_EQ(present(), Contents{});
  // One that comes back later is not taken for the one before.
  put_since(ShardTransaction{93}, 12, 0);
  file->drop(range, 1);
  EXPECT_EQ(present(), Contents{});
}

TEST_F(ShardFileTest, ContentsAreVerifiedOneAfterTheOther) {
  put_all(kFirst, {10, 12});
  EXPECT_EQ(file->next_content(std::nullopt)->content, ContentId{10});
  EXPECT_EQ(file->next_content(ContentId{10})->content, ContentId{12});
  EXPECT_FALSE(file->next_content(ContentId{12}).has_value());
  EXPECT_TRUE(file->is_intact(ContentId{10}));
  EXPECT_TRUE(file->is_intact(ContentId{11})) << "it is not there";
  file->commit(kFirst, std::vector{ContentRange{ContentId{10}, ContentId{12}}});
  const auto good = encode_tile(tile);
  for (std::size_t at = 0; at < good.size(); at += 3) {
    auto bad = good;
    bad[at] ^= std::byte{4};
    file->repair({ContentId{12}, "A", bad, {}});
    EXPECT_FALSE(file->is_intact(ContentId{12})) << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() - 1}) {
    file->repair({ContentId{12}, "A", std::span(good).first(size), {}});
    EXPECT_FALSE(file->is_intact(ContentId{12})) << size;
  }
  file->repair({ContentId{12}, "A", good, {}});
  EXPECT_TRUE(file->is_intact(ContentId{12}));
}

// A disk hardly larger than the reserve; see also tests/cluster/full_disk_test.py.
TEST_F(ShardFileTest, AFullDiskCanBeReadAndDroppedFrom) {
  constexpr std::int64_t kDisk = std::int64_t{128} << 20U;
  tile = random_tile(random, DType::Float64, Shape({512, 512}));  // 2 MiB
  file.reset();
  file.emplace(directory, kDisk);
  std::vector<ContentId> all;
  const auto fill = [&](ShardTransaction transaction, std::int64_t first) {
    std::vector<ContentRange> kept{{ContentId{first}, ContentId{first}}};
    for (std::int64_t n = first; n < first + 100; ++n) {
      try {
        put(transaction, n);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Io);
        EXPECT_NE(error.message().find("is full"), std::string::npos) << error.message();
        break;
      }
      kept.back().last = ContentId{n};
      all.push_back(ContentId{n});
    }
    file->prepare(transaction, static_cast<std::int64_t>(all.size()));
    file->commit(transaction, kept);
  };
  fill(kFirst, 0);
  EXPECT_GT(all.size(), 5U);
  EXPECT_LT(all.size(), 60U);
  EXPECT_EQ(file->room(), 0);
  EXPECT_ERROR(put(kSecond, 1000), ErrorKind::Io, "is full");
  file->abort(kSecond);
  const auto size = [&] { return std::filesystem::file_size(directory + "/shard.db"); };
  for (int round = 0; round < 3; ++round) {
    file.reset();
    file.emplace(directory, kDisk);
    for (const auto content : all) ASSERT_NE(file->open(content), nullptr);
    const auto before = size();
    file->drop(ranges_of(all), kAnyEpoch);
    while (file->give_back()) {
    }
    EXPECT_LT(size(), before / 4) << "given back";
    EXPECT_GT(file->room(), 0);
    EXPECT_EQ(file->usage().contents, 0);
    all.clear();
    fill(ShardTransaction{10 + round}, 1000 * (round + 1));
    EXPECT_GT(all.size(), 5U);
  }
}

TEST_F(ShardFileTest, ReadsGoOnBesideWrites) {
  put_all(kFirst, {1, 2, 3});
  std::vector<std::jthread> readers;
  std::atomic<int> read = 0;
  for (int n = 0; n < 3; ++n) {
    readers.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (file->read(ContentId{1 + i % 3}, DType::Float64, Shape({3, 5}), "it") != nullptr) ++read;
    });
  }
  for (std::int64_t n = 0; n < 50; ++n) put(kSecond, 50 + n);
  readers.clear();
  EXPECT_EQ(read, 150);
}

// A process killed at any moment leaves a file that opens, with everything that it reported as prepared.
TEST_F(ShardFileTest, AKilledProcessLeavesWhatItPrepared) {
  file.reset();
  for (int round = 0; round < 5; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const auto child = ::fork();
    if (child == 0) {
      file.emplace(directory);
      for (std::int64_t n = 1;; ++n) {
        put(ShardTransaction{100 * round + n}, 1000 * round + n);
        file->prepare(ShardTransaction{100 * round + n}, 1);
        if (::write(pipe[1], &n, sizeof n) != sizeof n) ::_exit(1);
      }
    }
    ::close(pipe[1]);
    std::int64_t prepared = 0;
    while (prepared < 3 + round)
      ASSERT_EQ(::read(pipe[0], &prepared, sizeof prepared), static_cast<ssize_t>(sizeof prepared));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe[0]);
    file.emplace(directory);
    EXPECT_GE(static_cast<std::int64_t>(file->undecided().size()), prepared);
    EXPECT_EQ(static_cast<std::int64_t>(file->undecided().size()), file->usage().contents);
    for (const auto transaction : file->undecided()) file->abort(transaction);
    EXPECT_EQ(file->usage().contents, 0);
    file.reset();
  }
}

}  // namespace
}  // namespace eindb

// A worker whose disk hangs while everything else works: waiting can be cancelled, the coordinator soon marks the
// worker as unwell, and interrupted work is completed when the disk answers again.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "cluster/cluster.hpp"
#include "common/error.hpp"
#include "tests/cluster/test_cluster.hpp"
#include "tests/cluster/virtual_time.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kHeartbeat{100};
// Longer than a disk that is busy with other work needs for the tests' small requests.
constexpr milliseconds kDiskTimeout{2000};
// Less than a hang.
constexpr milliseconds kWithin = std::chrono::minutes(4);
constexpr ShardTransaction kTransaction{7};
constexpr ContentId kContent{70};
const std::vector<std::byte> kBytes(100, std::byte{1});

bool becomes_true(const std::function<bool()>& condition) {
  const auto end = Clock::now() + kWithin;
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

ShardWorker worker_of(TestCluster& test, std::size_t n) { return {test.shards(n).id(), TestCluster::address(n)}; }

void prepare(TestCluster& test, std::int64_t contents) {
  const ShardParticipant participant{worker_of(test, 0), contents};
  test.cluster().shards()->prepare(kTransaction, std::span(&participant, 1));
}

/// The error that `f` fails with when its statement is cancelled soon after its begin.
std::optional<Error> cancelled_failure_of(const std::function<void()>& f) {
  Cancellation cancellation;
  cancellation.reset(milliseconds(50));
  const CancellationScope scope(cancellation);
  const auto began = Clock::now();
  std::optional<Error> failure;
  try {
    f();
  } catch (const Error& error) {
    failure = error;
  }
  EXPECT_LT(Clock::now() - began, kWithin);
  return failure;
}

OwnPart part_of_all(const ClusterStatement& statement, double* sum = nullptr) {
  return [&statement, sum](Exchange& exchange, const Cancellation& cancellation) {
    return run_own_part(statement, exchange, cancellation, sum);
  };
}

TEST(HungDisk, AWorkerIsUnwellUntilItsDiskAnswers) {
  TestCluster test(2, kHeartbeat, kDiskTimeout);
  test.store_tensor();
  const auto access = test.cluster().shards();
  std::thread reads;
  {
    const HungDisk disk(test.shards(1));
    reads = std::thread([&] { EXPECT_THROW(access->fetch(worker_of(test, 1), ContentId{101}), Error); });
    ASSERT_TRUE(test.comes_to_be(1, WorkerState::Unwell));
    EXPECT_NE(test.cluster().workers()[1].reason.find("its disk has not answered for"), std::string::npos);
    EXPECT_TRUE(test.log().has("worker unwell w1"));
    EXPECT_EQ(access->workers(), std::vector{worker_of(test, 0)}) << "nothing new goes there";
    try {
      access->fetch(worker_of(test, 1), ContentId{101});
      ADD_FAILURE() << "nobody waits for it";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
      EXPECT_NE(error.message().find("worker w1 is unwell"), std::string::npos) << error.message();
    }
  }
  reads.join();
  ASSERT_TRUE(test.comes_to_be(1, WorkerState::Up));
  EXPECT_EQ(test.cluster().workers()[1].reason, "");
  EXPECT_FALSE(test.log().has("worker lost")) << "its heartbeats go on";
  EXPECT_NE(access->fetch(worker_of(test, 1), ContentId{101}), nullptr);
}

TEST(HungDisk, AStatementEndsWhenAWorkerOfItIsUnwell) {
  TestCluster test(2, kHeartbeat, kDiskTimeout);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  {
    const HungDisk disk(test.shards(0));
    try {
      test.cluster().run(statement, {}, part_of_all(statement));
      ADD_FAILURE() << "its tiles cannot be read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
      EXPECT_NE(error.message().find("worker w0 is unwell"), std::string::npos) << error.message();
    }
  }
  ASSERT_TRUE(test.comes_to_be(0, WorkerState::Up));
  double sum = 0;
  test.cluster().run(statement, {}, part_of_all(statement, &sum));
  EXPECT_EQ(sum, 264);
}

TEST(HungDisk, ASlowDiskIsNotOneThatHangs) {
  StorageWatch watch;
  StorageWatch::Operation slow(watch);
  const auto end = Clock::now() + milliseconds(300);
  while (Clock::now() < end) slow.note_progress();
  if (kVirtualTime) {
    EXPECT_LT(watch.silence(), milliseconds(300));
  }
  std::this_thread::sleep_for(milliseconds(50));
  const StorageWatch::Operation other(watch);
  EXPECT_GE(watch.silence(), milliseconds(50)) << "others get on, and this one does not";
}

TEST(HungDisk, WhoWaitsForItCanBeCancelled) {
  TestCluster test(1, kHeartbeat);
  const auto access = test.cluster().shards();
  const auto worker = worker_of(test, 0);
  access->put(worker, kTransaction, {kContent, "A", kBytes, {}});
  const HungDisk disk(test.shards(0));
  const auto fetch = cancelled_failure_of([&] { access->fetch(worker, kContent); });
  ASSERT_TRUE(fetch.has_value());
  EXPECT_EQ(fetch->kind(), ErrorKind::Cancelled);
  const auto prepared = cancelled_failure_of([&] { prepare(test, 1); });
  ASSERT_TRUE(prepared.has_value());
  EXPECT_EQ(prepared->kind(), ErrorKind::Cancelled);
  EXPECT_FALSE(cancelled_failure_of([&] { EXPECT_FALSE(access->commit(worker, kTransaction, {})); }));
  EXPECT_FALSE(cancelled_failure_of([&] {
    EXPECT_FALSE(access->drop(worker, std::vector<ContentRange>{{kContent, kContent}}, 0));
  }));
  EXPECT_FALSE(cancelled_failure_of([&] { access->abort(worker, kTransaction); }));
}

// More contents than may wait for the disk: their sender waits, while the worker still sends heartbeats.
TEST(HungDisk, ContentsThatWaitForItCanBeCancelled) {
  TestCluster test(1, kHeartbeat);
  const auto access = test.cluster().shards();
  const std::vector<std::byte> large(std::size_t{8} << 20U);
  const HungDisk disk(test.shards(0));
  const auto failure = cancelled_failure_of([&] {
    for (std::int64_t n = 0; n < 20; ++n) access->put(worker_of(test, 0), kTransaction, {ContentId{n}, "A", large, {}});
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind(), ErrorKind::Cancelled);
  EXPECT_FALSE(test.log().has("worker lost"));
}

TEST(HungDisk, AStatementThatStoresThereCanBeCancelledAndStoresNothingLater) {
  TestCluster test(2, kHeartbeat);
  test.store_tensor();
  const auto statement = test.transposing_statement();
  const auto transaction = statement.results[0]->transaction;
  {
    const HungDisk disk(test.shards(1));
    Cancellation cancellation;
    cancellation.reset(milliseconds(100));
    try {
      test.cluster().run(statement, cancellation, part_of_all(statement));
      ADD_FAILURE() << "its disk hangs";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Cancelled) << error.message();
    }
    // The worker is told to stop, and continues to send heartbeats.
    std::this_thread::sleep_for(3 * kMissedHeartbeats * kHeartbeat);
    EXPECT_FALSE(test.log().has("worker lost"));
    for (std::size_t n = 0; n < 2; ++n) test.cluster().shards()->abort(worker_of(test, n), transaction);
  }
  // The answer comes after the aborts.
  EXPECT_EQ(test.cluster().shards()->fetch(worker_of(test, 1), ContentId{201}), nullptr);
  EXPECT_TRUE(test.stored(1).empty());
  double sum = 0;
  const auto gathering = test.gathering_statement();
  test.cluster().run(gathering, {}, part_of_all(gathering, &sum));
  EXPECT_EQ(sum, 264);
}

TEST(HungDisk, APrepareThatWasGivenUpIsAborted) {
  TestCluster test(1, kHeartbeat);
  const auto access = test.cluster().shards();
  access->put(worker_of(test, 0), kTransaction, {kContent, "A", kBytes, {}});
  {
    const HungDisk disk(test.shards(0));
    EXPECT_TRUE(cancelled_failure_of([&] { prepare(test, 1); }));
    access->abort(worker_of(test, 0), kTransaction);
  }
  EXPECT_EQ(access->fetch(worker_of(test, 0), kContent), nullptr);
  EXPECT_TRUE(test.shards(0).undecided().empty());
}

// The decision stands: the worker commits when it can, and the coordinator asks for the outcome.
TEST(HungDisk, ACommitThatWasNotWaitedForIsSettledLater) {
  TestCluster test(1, kHeartbeat);
  const auto access = test.cluster().shards();
  ASSERT_TRUE(becomes_true([&] { return test.times_settled() == 1; })) << "when it joined";
  access->put(worker_of(test, 0), kTransaction, {kContent, "A", kBytes, {}});
  prepare(test, 1);
  const ContentRange kept{kContent, kContent};
  test.decide_by([kept](ShardTransaction) -> ShardDecision { return {true, {kept}}; });
  {
    const HungDisk disk(test.shards(0));
    EXPECT_FALSE(cancelled_failure_of(
        [&] { EXPECT_FALSE(access->commit(worker_of(test, 0), kTransaction, std::span(&kept, 1))); }));
  }
  EXPECT_TRUE(becomes_true([&] { return test.times_settled() > 1; }));
  EXPECT_TRUE(test.shards(0).undecided().empty());
  EXPECT_NE(test.shards(0).open(kContent), nullptr) << "what was committed is there";
}

}  // namespace
}  // namespace eindb

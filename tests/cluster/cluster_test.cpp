// A coordinator and its workers: statements run, and workers die, stall, send nonsense, drain and return. Every wait is
// bounded by heartbeats, so no test takes long. Where time is virtual, answers have to come in it; elsewhere, with
// sanitizers, they have to come.
#include "cluster/cluster.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "common/error.hpp"
#include "tests/cluster/test_cluster.hpp"
#include "tests/cluster/virtual_time.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Less than a hang.
constexpr milliseconds kSoon = std::chrono::minutes(4);

OwnPart whole_part(const ClusterStatement& statement, double* sum = nullptr) {
  return [&statement, sum](Exchange& exchange, const Cancellation& cancellation) {
    return run_own_part(statement, exchange, cancellation, sum);
  };
}

/// For own parts that do not end by themselves.
[[noreturn]] void wait_to_be_stopped(const Cancellation& cancellation) {
  while (true) {
    cancellation.check();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

/// Waits until the condition holds; false if that hangs.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = Clock::now() + kSoon;
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

/// Waits until the worker runs no statement; false if that hangs.
bool comes_to_rest(Worker& worker) {
  return comes_true([&] { return worker.load().statements == 0; });
}

/// The error that the statement fails with.
Error failure_of(Cluster& cluster, const ClusterStatement& statement, const OwnPart& own_part,
                 const Cancellation& cancellation = {}) {
  const auto began = Clock::now();
  try {
    cluster.run(statement, cancellation, own_part);
  } catch (const Error& error) {
    EXPECT_LT(Clock::now() - began, kSoon);
    return error;
  }
  ADD_FAILURE() << "the statement did not fail";
  return {ErrorKind::Internal, "none"};
}

TEST(Cluster, WorkersJoin) {
  TestCluster test(3);
  const auto workers = test.cluster().workers();
  ASSERT_EQ(workers.size(), 3U);
  for (std::size_t n = 0; n < workers.size(); ++n) {
    EXPECT_EQ(workers[n].state, WorkerState::Up) << workers[n].reason;
    EXPECT_EQ(workers[n].address, TestCluster::address(n));
    EXPECT_EQ(workers[n].data, test.shards(n).id());
    EXPECT_EQ(workers[n].program, "test");
    EXPECT_EQ(workers[n].threads, 2U);
  }
  EXPECT_EQ(test.cluster().shards()->workers().size(), 3U);
}

TEST(Cluster, AStatementGivesItsResultToTheCoordinator) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  double sum = 0;
  const auto reports = test.cluster().run(statement, {}, whole_part(statement, &sum));
  EXPECT_EQ(sum, 4 * (0 + 10 + 20 + 30) + 4 * (0 + 1 + 2 + 3));
  ASSERT_EQ(reports.size(), 3U);
  for (const auto& report : reports) EXPECT_EQ(report.profile.steps.size(), 2U);
  EXPECT_GE(reports[0].profile.steps[1].bytes_sent, 8 * 8);
}

TEST(Cluster, WorkersStoreTheResult) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.transposing_statement();
  const auto reports = test.cluster().run(statement, {}, whole_part(statement));
  ASSERT_EQ(reports[0].stored.size(), 1U);
  ASSERT_EQ(reports[0].stored[0].size(), 1U);
  EXPECT_EQ(reports[0].stored[0][0].tile, 0);
  EXPECT_EQ(reports[1].stored[0][0].tile, 1);
  const auto access = test.cluster().shards();
  const std::vector<ShardParticipant> participants{{{test.shards(0).id(), ""}, 1}, {{test.shards(1).id(), ""}, 1}};
  access->prepare(statement.results[0]->transaction, participants);
  EXPECT_EQ(test.stored(0), (std::vector<double>{0, 1, 10, 11, 20, 21, 30, 31}));
  EXPECT_EQ(test.stored(1), (std::vector<double>{2, 3, 12, 13, 22, 23, 32, 33}));
  EXPECT_EQ(test.shards(0).undecided(), std::vector{statement.results[0]->transaction});
}

TEST(Cluster, StatementsRunBesideEachOther) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  std::atomic<int> right = 0;
  std::vector<std::thread> sessions;
  for (int session = 0; session < 3; ++session) {
    sessions.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        double sum = 0;
        test.cluster().run(statement, {}, whole_part(statement, &sum));
        if (sum == 264) ++right;
      }
    });
  }
  for (auto& session : sessions) session.join();
  EXPECT_EQ(right, 30);
}

TEST(Cluster, AWorkerThatDiesIsNamed) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  const auto error =
      failure_of(test.cluster(), statement, [&](Exchange&, const Cancellation& cancellation) -> ExecutionProfile {
        test.kill_worker(1);
        wait_to_be_stopped(cancellation);
      });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find("w1"), std::string::npos) << error.message();
  // A caller that plans again learns that the worker is gone.
  EXPECT_TRUE(test.comes_to_be(1, WorkerState::Lost));
  EXPECT_EQ(test.cluster().shards()->workers().size(), 1U);
  EXPECT_EQ(failure_of(test.cluster(), statement, whole_part(statement)).kind(), ErrorKind::WorkerLost);
}

TEST(Cluster, AWorkerThatStallsIsNoticedWithinThreeHeartbeats) {
  constexpr milliseconds kHeartbeat(200);
  TestCluster test(2, kHeartbeat);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  const auto began = Clock::now();
  const auto error =
      failure_of(test.cluster(), statement, [&](Exchange&, const Cancellation& cancellation) -> ExecutionProfile {
        test.network().freeze(TestCluster::address(0));
        wait_to_be_stopped(cancellation);
      });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find("w0"), std::string::npos) << error.message();
  // Its last message was at most a heartbeat ago, and silence is checked every half heartbeat.
  EXPECT_GT(Clock::now() - began, (kMissedHeartbeats - 1) * kHeartbeat);
  if (kVirtualTime) {
    EXPECT_LT(Clock::now() - began, (kMissedHeartbeats + 3) * kHeartbeat);
  }
}

TEST(Cluster, AWorkerThatComesBackRejoins) {
  TestCluster test(2);
  test.store_tensor();
  test.kill_worker(1);
  ASSERT_TRUE(test.comes_to_be(1, WorkerState::Lost));
  test.start_worker(1, 1);
  ASSERT_TRUE(test.comes_to_be(1, WorkerState::Up));
  const auto statement = test.gathering_statement();
  double sum = 0;
  test.cluster().run(statement, {}, whole_part(statement, &sum));
  EXPECT_EQ(sum, 264);
}

TEST(Cluster, AnotherDataDirectoryDoesNotJoin) {
  TestCluster test(2);
  test.kill_worker(1);
  ASSERT_TRUE(test.comes_to_be(1, WorkerState::Lost));
  test.start_worker(1, 7);
  comes_true([&] { return test.log().has("data directory is not the one"); });
  const auto worker = test.cluster().workers()[1];
  EXPECT_EQ(worker.state, WorkerState::Lost);
  EXPECT_NE(worker.reason.find("data directory is not the one"), std::string::npos) << worker.reason;
}

TEST(Cluster, AFailureAtAWorkerIsTheStatements) {
  TestCluster test(2);  // its workers do not have the tensor
  const auto statement = test.gathering_statement();
  const auto error = failure_of(test.cluster(), statement, whole_part(statement));
  EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
  EXPECT_NE(error.message().find("of tensor X is not in the worker's data directory"), std::string::npos)
      << error.message();
  // No trace of it remains: the next statement runs.
  test.store_tensor();
  double sum = 0;
  test.cluster().run(statement, {}, whole_part(statement, &sum));
  EXPECT_EQ(sum, 264);
}

TEST(Cluster, AFailureAtTheCoordinatorEndsTheWorkersParts) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  const auto error = failure_of(test.cluster(), statement, [](Exchange&, const Cancellation&) -> ExecutionProfile {
    throw Error(ErrorKind::MemoryLimit, "it does not fit");
  });
  EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit);
  EXPECT_EQ(error.message(), "it does not fit");
  for (std::size_t n = 0; n < 2; ++n) EXPECT_TRUE(comes_to_rest(test.worker(n))) << n;
}

// Whether the pair of the statement's first two workers is known as broken after the failure.
bool pair_is_known_after_a_failure(TestCluster& test) {
  const auto statement = test.gathering_statement();
  const auto error = failure_of(test.cluster(), statement, whole_part(statement));
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost) << error.message();
  EXPECT_NE(error.message().find("no answer"), std::string::npos) << error.message();
  return !test.cluster().broken_pairs().empty();
}

TEST(Cluster, APairThatDoesNotExchangeDataIsKnownUntilItDoes) {
  TestCluster test(2);
  test.store_tensor();
  test.exchanges().break_first_ranks(true);
  ASSERT_TRUE(pair_is_known_after_a_failure(test));
  EXPECT_TRUE(test.log().has("no data between workers"));
  const auto workers = test.cluster().workers();
  EXPECT_EQ(workers[0].state, WorkerState::Up);
  EXPECT_NE(workers[0].reason.find("w1: no answer"), std::string::npos) << workers[0].reason;
  EXPECT_NE(workers[1].reason.find("w0: no answer"), std::string::npos) << workers[1].reason;
  test.exchanges().mend();
  comes_true([&] { return test.cluster().broken_pairs().empty(); });
  EXPECT_TRUE(test.cluster().broken_pairs().empty());
  EXPECT_TRUE(test.log().has("data between workers again"));
  const auto statement = test.gathering_statement();
  double sum = 0;
  test.cluster().run(statement, {}, whole_part(statement, &sum));
  EXPECT_EQ(sum, 264);
}

TEST(Cluster, APairOfWhichProbesKnowNothingIsKnownAfterTwoFailures) {
  TestCluster test(2);
  test.store_tensor();
  test.exchanges().break_first_ranks(false);
  EXPECT_FALSE(pair_is_known_after_a_failure(test));
  EXPECT_TRUE(pair_is_known_after_a_failure(test));
}

TEST(Cluster, APairThatDoesNotExchangeDataIsFoundWhenAWorkerJoins) {
  TestCluster test(2);
  test.kill_worker(1);
  ASSERT_TRUE(test.comes_to_be(1, WorkerState::Lost));
  test.exchanges().break_first_ranks(true);
  test.start_worker(1, 1);
  comes_true([&] { return !test.cluster().broken_pairs().empty(); });
  EXPECT_EQ(test.cluster().broken_pairs().size(), 1U);
  EXPECT_TRUE(test.log().has("open their ports between them"));
}

TEST(Cluster, CancellingReachesTheWorkers) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  Cancellation cancellation;
  const auto error = failure_of(
      test.cluster(), statement,
      [&](Exchange&, const Cancellation& own) -> ExecutionProfile {
        cancellation.request();
        wait_to_be_stopped(own);
      },
      cancellation);
  EXPECT_EQ(error.kind(), ErrorKind::Cancelled);
  for (std::size_t n = 0; n < 2; ++n) EXPECT_TRUE(comes_to_rest(test.worker(n))) << n;
}

TEST(Cluster, ADrainedWorkerFinishesAndLeaves) {
  TestCluster test(2);
  test.store_tensor();
  const auto statement = test.gathering_statement();
  double sum = 0;
  std::jthread leaving;
  test.cluster().run(statement, {}, [&](Exchange& exchange, const Cancellation& cancellation) {
    test.cluster().drain(TestCluster::address(1));
    EXPECT_TRUE(test.comes_to_be(1, WorkerState::Draining));
    leaving = std::jthread([&] { test.worker(1).wait_until_left(); });
    auto profile = run_own_part(statement, exchange, cancellation, &sum);
    std::this_thread::sleep_for(milliseconds(50));  // meanwhile the worker has ended, but others have not
    return profile;
  });
  EXPECT_EQ(sum, 264);
  leaving.join();
  EXPECT_TRUE(test.comes_to_be(1, WorkerState::Lost));
  EXPECT_TRUE(test.log().has("it left: it was drained"));
}

TEST(Cluster, ADrainingWorkerTakesNoStatement) {
  TestCluster test(2);
  test.store_tensor();
  test.worker(0).drain();
  const auto statement = test.gathering_statement();
  EXPECT_EQ(failure_of(test.cluster(), statement, whole_part(statement)).kind(), ErrorKind::WorkerLost);
  EXPECT_NE(test.cluster().workers()[0].state, WorkerState::Up) << "who plans again would ask it again";
}

TEST(Cluster, WorkersOfOnePoolShareItsMemory) {
  TestCluster test(3);
  const auto has_come_to_be = [&] {
    const auto workers = test.cluster().workers();
    return workers[0].memory_limit == TestCluster::kMemory / 2 && workers[1].memory_limit == TestCluster::kMemory / 2 &&
           test.worker(0).memory_limit() == TestCluster::kMemory / 2 &&
           test.worker(1).memory_limit() == TestCluster::kMemory / 2;
  };
  comes_true(has_come_to_be);
  EXPECT_TRUE(has_come_to_be());
  EXPECT_EQ(test.cluster().workers()[2].memory_limit, TestCluster::kMemory);
  EXPECT_EQ(test.worker(2).memory_limit(), TestCluster::kMemory);
}

TEST(Cluster, UndecidedTransactionsAreDecidedWhenAWorkerJoins) {
  TestCluster test(2);
  const auto access = test.cluster().shards();
  const ShardWorker worker{test.shards(0).id(), "w0"};
  const std::vector<std::byte> bytes(100, std::byte{1});
  for (const std::int64_t n : {11, 12}) {
    access->put(worker, ShardTransaction{n}, {ContentId{n}, "A", bytes, {}});
    const ShardParticipant participant{worker, 1};
    access->prepare(ShardTransaction{n}, std::span(&participant, 1));
  }
  test.kill_worker(0);
  ASSERT_TRUE(test.comes_to_be(0, WorkerState::Lost));
  test.decide_by([](ShardTransaction transaction) -> ShardDecision {
    if (transaction != ShardTransaction{11}) return {};
    return {true, {{ContentId{11}, ContentId{11}}}};
  });
  test.start_worker(0, 0);
  comes_true([&] { return test.shards(0).undecided().empty(); });
  EXPECT_TRUE(test.shards(0).undecided().empty());
  EXPECT_NE(test.shards(0).open(ContentId{11}), nullptr);
  EXPECT_EQ(test.shards(0).open(ContentId{12}), nullptr);
}

// The thread that settles decisions waits for SQLite and for all workers.
TEST(Cluster, AWorkerThatJoinsDoesNotWaitForWhoSettles) {
  TestCluster test(2);
  const auto access = test.cluster().shards();
  const ShardWorker worker{test.shards(0).id(), "w0"};
  const std::vector<std::byte> bytes(100, std::byte{1});
  access->put(worker, ShardTransaction{11}, {ContentId{11}, "A", bytes, {}});
  const ShardParticipant participant{worker, 1};
  access->prepare(ShardTransaction{11}, std::span(&participant, 1));
  test.kill_worker(0);
  ASSERT_TRUE(test.comes_to_be(0, WorkerState::Lost));
  test.decide_by([](ShardTransaction) -> ShardDecision { return {true, {{ContentId{11}, ContentId{11}}}}; });
  std::atomic<bool> settles = false;
  std::atomic<bool> is_over = false;
  test.settle_by([&](ShardAccess&) {
    settles = true;
    while (!is_over) std::this_thread::sleep_for(milliseconds(1));
    return true;
  });
  access->note_unsettled();
  comes_true([&] { return settles.load(); });
  test.start_worker(0, 0);
  comes_true([&] { return test.shards(0).undecided().empty(); });
  EXPECT_TRUE(test.shards(0).undecided().empty()) << "it was told of the commit";
  is_over = true;
}

TEST(Cluster, SeveralContentsAreFetchedTogether) {
  TestCluster test(3);
  test.store_tensor();
  const auto access = test.cluster().shards();
  const ShardWorker first{test.shards(0).id(), "w0"};
  const ShardWorker second{test.shards(1).id(), "w1"};
  const ShardWorker third{test.shards(2).id(), "w2"};
  const ShardWorker unknown{DataId{1}, "w9"};
  const std::vector<WantedContent> wanted{{second, ContentId{101}},
                                          {first, ContentId{100}},
                                          {first, ContentId{101}},
                                          {third, ContentId{100}},
                                          {unknown, ContentId{100}}};
  const auto found = access->fetch_all(wanted);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t n = 0; n < wanted.size(); ++n) EXPECT_EQ(found[n] != nullptr, n < 2) << n;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}}) {
    const auto alone = access->fetch(wanted[n].worker, wanted[n].content);
    std::vector<std::byte> bytes(alone->size());
    std::vector<std::byte> together(found[n]->size());
    alone->read(0, bytes);
    found[n]->read(0, together);
    EXPECT_EQ(bytes, together);
  }
  test.kill_worker(0);
  ASSERT_TRUE(test.comes_to_be(0, WorkerState::Lost));
  const auto rest = access->fetch_all(wanted);
  EXPECT_NE(rest[0], nullptr);
  EXPECT_EQ(rest[1], nullptr) << "fetch() tells why";
}

// Like two processes with one database: the remaining one does not reconnect.
TEST(Cluster, WhatAnotherCoordinatorLeftUndecidedIsDecidedByTheOneThatGoesOn) {
  TestCluster test(2);
  test.decide_by([](ShardTransaction transaction) -> ShardDecision {
    if (transaction != ShardTransaction{11}) return {};
    return {true, {{ContentId{11}, ContentId{11}}}};
  });
  {
    Cluster other({.workers = {"w0", "w1"}, .heartbeat = milliseconds(100)}, test.network(), test.exchanges(),
                  test.log());
    other.begin({});
    other.wait_for_workers(std::chrono::seconds(30));
    const ShardWorker worker{test.shards(0).id(), "w0"};
    const std::vector<std::byte> bytes(100, std::byte{1});
    for (const std::int64_t n : {11, 12}) {
      other.shards()->put(worker, ShardTransaction{n}, {ContentId{n}, "A", bytes, {}});
      const ShardParticipant participant{worker, 1};
      other.shards()->prepare(ShardTransaction{n}, std::span(&participant, 1));
    }
  }
  comes_true([&] { return test.shards(0).undecided().empty(); });
  EXPECT_TRUE(test.shards(0).undecided().empty());
  EXPECT_NE(test.shards(0).open(ContentId{11}), nullptr);
  EXPECT_EQ(test.shards(0).open(ContentId{12}), nullptr);
}

TEST(Cluster, ContentsThatWereNotPreparedGoWithTheConnection) {
  TestCluster test(1);
  const ShardWorker worker{test.shards(0).id(), "w0"};
  const auto access = test.cluster().shards();
  const std::vector<std::byte> bytes(100, std::byte{1});
  access->put(worker, ShardTransaction{5}, {ContentId{5}, "A", bytes, {}});
  ASSERT_NE(access->fetch(worker, ContentId{5}), nullptr) << "what was put can be fetched";
  test.network().cut("w0");
  comes_true([&] { return test.shards(0).open(ContentId{5}) == nullptr; });
  EXPECT_EQ(test.shards(0).open(ContentId{5}), nullptr);
  ASSERT_TRUE(test.comes_to_be(0, WorkerState::Up));
  const ShardParticipant participant{worker, 1};
  try {
    access->prepare(ShardTransaction{5}, std::span(&participant, 1));
    ADD_FAILURE() << "the worker has forgotten it";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "worker w0: the worker has 0 of the 1 tiles that were written: it was started anew meanwhile");
  }
}

TEST(Cluster, WhatWasLeftIsSettledThoughNobodyUsesTheDatabase) {
  TestCluster test(2);
  const auto comes_to = [&](int times) { return comes_true([&] { return test.times_settled() >= times; }); };
  ASSERT_TRUE(comes_to(2)) << "once for each that joins";
  test.cluster().shards()->note_unsettled();
  EXPECT_TRUE(comes_to(3));
}

/// A worker that sends the test's messages.
class FakeWorker {
 public:
  FakeWorker(MemoryNetwork& network, const std::string& address, std::vector<std::vector<std::byte>> messages) {
    network.listen(address, [this, messages](std::unique_ptr<Channel> channel) {
      for (const auto& message : messages) channel->send(message);
      const std::lock_guard lock(mutex_);
      channels_.push_back(std::move(channel));
    });
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

std::string reason_of(std::vector<std::vector<std::byte>> messages) {
  MemoryNetwork network;
  MemoryExchanges exchanges;
  TestLog log;
  const FakeWorker worker(network, "fake", std::move(messages));
  Cluster cluster({.workers = {"fake"}, .heartbeat = milliseconds(50)}, network, exchanges, log);
  cluster.begin({});
  std::string reason = "it is up";
  comes_true([&] {
    const auto status = cluster.wait_for_workers(kSoon)[0];
    if (status.state == WorkerState::Lost) reason = status.reason;
    return status.state == WorkerState::Lost;
  });
  return reason;
}

std::vector<std::byte> welcome(std::uint32_t version = kControlVersion) {
  return encode(ToCoordinator(control::Welcome{version, "fake", DataId{9}, "", 1, 1}));
}

TEST(Cluster, WorkersThatTalkNonsenseAreLost) {
  const auto nonsense = std::vector<std::byte>(10, std::byte{0xEE});
  EXPECT_NE(reason_of({}).find("does not answer"), std::string::npos);
  EXPECT_NE(reason_of({nonsense}).find("does not begin as nodes"), std::string::npos);
  EXPECT_NE(reason_of({welcome(kControlVersion + 1)}).find("version"), std::string::npos);
  EXPECT_NE(reason_of({welcome(), nonsense}).find("in a message"), std::string::npos);
  EXPECT_NE(reason_of({welcome(), welcome()}).find("says welcome again"), std::string::npos);
  EXPECT_NE(reason_of({welcome(), encode(control::Reply{77, control::Acknowledged{}})}).find("nobody has asked"),
            std::string::npos);
  EXPECT_NE(reason_of({encode(control::Refusal{{ErrorKind::Value, "it belongs to another", ""}})}).find("to another"),
            std::string::npos);
  EXPECT_NE(reason_of({welcome()}).find("nothing was heard"), std::string::npos) << "no heartbeat";
}

TEST(Cluster, WorkersAreNamedOnce) {
  MemoryNetwork network;
  MemoryExchanges exchanges;
  TestLog log;
  EXPECT_THROW(Cluster({.workers = {"a", "b", "a"}}, network, exchanges, log), Error);
}

/// A worker ends the channel of a coordinator that sends nonsense, and serves others.
TEST(Worker, CoordinatorsThatTalkNonsenseAreLetGo) {
  TestCluster test(1);
  const auto is_let_go = [&](const std::vector<std::vector<std::byte>>& messages) {
    const auto channel = test.network().connect("w0", kSoon);
    try {
      for (const auto& message : messages) channel->send(message);
      const auto end = Clock::now() + kSoon;
      while (Clock::now() < end) channel->receive(milliseconds(10));
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  const auto nonsense = std::vector<std::byte>(10, std::byte{0xEE});
  const auto hello = encode(control::Hello{kControlVersion, 1, milliseconds(1000)});
  EXPECT_TRUE(is_let_go({nonsense}));
  EXPECT_TRUE(is_let_go({hello, nonsense}));
  EXPECT_TRUE(is_let_go({hello, hello}));
  EXPECT_TRUE(is_let_go({encode(control::Hello{kControlVersion, 2, milliseconds(1000)})})) << "another database";
  EXPECT_TRUE(is_let_go({encode(control::Hello{kControlVersion, 1, milliseconds(0)})})) << "no heartbeat";
  EXPECT_TRUE(is_let_go({encode(control::Hello{kControlVersion, 1, milliseconds(50)})})) << "it says nothing more";
  EXPECT_EQ(test.cluster().workers()[0].state, WorkerState::Up);
}

TEST(Worker, APlanThatIsNoneIsRefused) {
  TestCluster test(1);
  const auto channel = test.network().connect("w0", kSoon);
  channel->send(encode(control::Hello{kControlVersion, 1, milliseconds(1000)}));
  control::Run run;
  run.statement = 3;
  run.plan = std::vector<std::byte>(20, std::byte{7});
  channel->send(encode(run));
  decode_welcome(*channel->receive(kSoon));
  for (auto end = Clock::now() + kSoon; Clock::now() < end;) {
    const auto message = channel->receive(kSoon);
    ASSERT_TRUE(message.has_value());
    const auto decoded = decode_to_coordinator(*message);
    const auto* done = std::get_if<control::Done>(&decoded);
    if (done == nullptr) continue;
    EXPECT_EQ(done->statement, 3U);
    EXPECT_EQ(std::get<RemoteError>(done->outcome).kind, ErrorKind::Corrupt);
    return;
  }
  FAIL() << "the worker does not answer";
}

}  // namespace
}  // namespace eindb

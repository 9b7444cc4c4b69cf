// A worker whose disk refuses to remove a transaction's contents removes them once the disk has recovered, even though
// its coordinator stays connected and knows of no prepared transaction.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/session.hpp"
#include "tests/faults/layer/fault_layer.hpp"
#include "tests/runner/line_log.hpp"
#include "tests/runner/local_cluster.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb::faults {
namespace {

constexpr ShardTransaction kTransaction{7};
constexpr ContentId kContent{70};

bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class RefusedEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_);
    watch(directory_);
    cluster_ = std::make_unique<runner::LocalCluster>(directory_, 1, log_, std::chrono::milliseconds(500));
    SessionOptions options;
    options.cluster = {std::shared_ptr<void>(), &cluster_->cluster()};
    options.small_statements = SmallStatements::Workers;
    session_ = std::make_unique<Session>(directory_ + "/my.db", options);
    cluster_->wait_for_workers();
    worker_ = access().workers().front();
    const std::vector<std::byte> bytes(100, std::byte{1});
    access().put(worker_, kTransaction, {kContent, "A", bytes, {}});
    ASSERT_NE(access().fetch(worker_, kContent), nullptr) << "what was put can be fetched";
    arm({.count = Fault::kForEver, .operations = bit(Operation::Write), .path_part = "/worker-0/", .error = EIO});
  }
  void TearDown() override { disarm(); }

  ShardAccess& access() { return *cluster_->cluster().shards(); }
  bool is_there() { return cluster_->shards(0).open(kContent) != nullptr; }

  ScratchDirectory scratch_;
  const std::string directory_ = scratch_.file("database");
  runner::LineLog log_;
  std::unique_ptr<runner::LocalCluster> cluster_;
  std::unique_ptr<Session> session_;
  ShardWorker worker_;
};

TEST_F(RefusedEnd, AnAbortIsTriedAgain) {
  access().abort(worker_, kTransaction);
  ASSERT_TRUE(comes_true([&] { return log_.has("contents not removed"); }));
  EXPECT_TRUE(is_there());
  EXPECT_GT(disarm().failed, 0);
  EXPECT_TRUE(comes_true([&] { return !is_there(); }));
  EXPECT_FALSE(log_.has("worker lost"));
}

TEST_F(RefusedEnd, ACommitOfWhatWasNotPreparedIsTriedAgain) {
  EXPECT_FALSE(access().commit(worker_, kTransaction, {}));
  EXPECT_TRUE(is_there());
  EXPECT_GT(disarm().failed, 0);
  EXPECT_TRUE(comes_true([&] { return !is_there(); }));
  EXPECT_FALSE(log_.has("worker lost"));
}

}  // namespace
}  // namespace eindb::faults

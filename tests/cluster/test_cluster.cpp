#include "tests/cluster/test_cluster.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "common/error.hpp"
#include "executor/executor.hpp"
#include "executor/scheduler.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kSide = 4;
constexpr ContentId kFirstContent{100};
constexpr ContentId kFirstResult{200};
constexpr ShardTransaction kLoading{1};
constexpr ShardTransaction kWriting{2};

TileGrid rows() { return {Shape({kSide, kSide}), {2, 1}}; }
TileGrid columns() { return {Shape({kSide, kSide}), {1, 2}}; }

PhysicalPlan moving_plan(const TileGrid& to, BlockPlacement placement) {
  PhysicalPlan plan;
  plan.ranks = TestCluster::kTensorWorkers + 1;
  plan.coordinator = static_cast<Rank>(plan.ranks - 1);
  plan.holder_lists = 1;
  const InputTensor tensor{"X", DType::Float64, rows()};
  plan.steps.push_back({ScanStep{tensor, 0}, VertexId(0), DType::Float64, rows(), std::size_t{0}});
  plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), DType::Float64, to, std::move(placement)});
  plan.results = {StepId(1)};
  return plan;
}

Tile tile_of_rows(std::int64_t half) {
  auto tile = Tile::zeros(DType::Float64, Shape({kSide / 2, kSide}));
  const std::int64_t first = half * kSide / 2;
  std::vector<double> values;
  for (std::int64_t i = first; i < first + kSide / 2; ++i)
    for (std::int64_t j = 0; j < kSide; ++j) values.push_back(static_cast<double>(10 * i + j));
  std::memcpy(tile.mutable_bytes().data(), values.data(), values.size() * sizeof(double));
  return tile;
}

// The coordinator has no tiles of its own.
class NoTiles final : public TileSource {
 public:
  TilePtr read(const std::string&, std::int64_t) override { throw Error(ErrorKind::Internal, "no tile lies here"); }
};

class SumSink final : public TileSink {
 public:
  void write(std::int64_t, TilePtr tile) override {
    if (tile == nullptr) return;
    for (std::size_t at = 0; at < tile->byte_size(); at += sizeof(double)) {
      double value = 0;
      std::memcpy(&value, tile->bytes().data() + at, sizeof value);
      sum += value;
    }
  }
  double sum = 0;
};

}  // namespace

void TestLog::write(Level, std::string_view event, std::string_view node, std::string_view detail) noexcept {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::string(event) + " " + std::string(node) + " " + std::string(detail));
}

bool TestLog::has(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(lines_.begin(), lines_.end(), [&](const auto& line) { return line.find(text) != line.npos; });
}

struct HungDisk::State {
  std::mutex mutex;
  std::condition_variable answers;
  bool hangs = true;
};

HungDisk::HungDisk(ShardFile& shards) : shards_(shards), state_(std::make_shared<State>()) {
  shards_.watch().intercept([state = state_] {
    std::unique_lock lock(state->mutex);
    state->answers.wait(lock, [&] { return !state->hangs; });
  });
}

HungDisk::~HungDisk() {
  shards_.watch().intercept(nullptr);
  const std::lock_guard lock(state_->mutex);
  state_->hangs = false;
  state_->answers.notify_all();
}

TestCluster::TestCluster(std::size_t workers, std::chrono::milliseconds heartbeat,
                         std::chrono::milliseconds disk_timeout)
    : disk_timeout_(disk_timeout),
      transposing_(moving_plan(columns(), {{1, 2}, {TileKey{0, 0}, TileKey{0, 1}, std::nullopt}})),
      gathering_(moving_plan({Shape({kSide, kSide}), {1, 1}}, {{1, 1}, {std::nullopt, std::nullopt, TileKey{0, 0}}})) {
  auto name = (std::filesystem::temp_directory_path() / "eindb-cluster-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::Io, "no directory for the test");
  folder_ = name;
  ClusterOptions options;
  options.heartbeat = heartbeat;
  for (std::size_t n = 0; n < workers; ++n) {
    start_worker(n, n);
    options.workers.push_back(address(n));
  }
  cluster_ = std::make_unique<Cluster>(options, network_, exchanges_, log_);
  const auto decider = [this](ShardTransaction transaction) {
    const std::lock_guard lock(mutex_);
    if (!decider_) throw Error(ErrorKind::Busy, "nobody knows");
    return decider_(transaction);
  };
  const auto settler = [this](ShardAccess& shards) {
    ++times_settled_;
    ShardSettler settle;
    {
      const std::lock_guard lock(mutex_);
      settle = settler_;
    }
    return !settle || settle(shards);
  };
  cluster_->begin({.identity = 1, .known = {}, .decider = decider, .settler = settler});
  cluster_->wait_for_workers(std::chrono::minutes(4));
  auto& holders = holders_.emplace_back();
  for (const Rank rank : {Rank{0}, Rank{1}}) holders.add({&rank, 1});
}

void TestCluster::decide_by(ShardDecider decider) {
  const std::lock_guard lock(mutex_);
  decider_ = std::move(decider);
}

void TestCluster::settle_by(ShardSettler settler) {
  const std::lock_guard lock(mutex_);
  settler_ = std::move(settler);
}

TestCluster::~TestCluster() {
  cluster_.reset();
  workers_.clear();
  std::filesystem::remove_all(folder_);
}

void TestCluster::start_worker(std::size_t n, std::size_t directory) {
  auto running = std::make_unique<RunningWorker>();
  running->shards = std::make_unique<ShardFile>((folder_ / std::to_string(directory)).string());
  WorkerOptions options;
  options.program = "test";
  options.threads = 2;
  options.memory_limit = kMemory;
  options.memory_pool = n < 2 ? "pool" : "";
  options.scratch_directory = folder_.string();
  options.disk_timeout = disk_timeout_;
  running->worker = std::make_unique<Worker>(options, *running->shards, exchanges_, log_);
  network_.listen(address(n), [worker = running->worker.get()](std::unique_ptr<Channel> channel) {
    worker->serve(std::move(channel));
  });
  workers_[n] = std::move(running);
}

void TestCluster::kill_worker(std::size_t n) {
  network_.close(address(n));
  network_.cut(address(n));
  workers_.erase(n);
}

bool TestCluster::comes_to_be(std::size_t n, WorkerState state) {
  for (int left = 24000; left > 0; --left) {
    if (cluster_->workers().at(n).state == state) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void TestCluster::store_tensor() {
  const auto access = cluster_->shards();
  std::vector<ShardParticipant> participants;
  for (std::size_t n = 0; n < kTensorWorkers; ++n) {
    const ShardWorker worker{shards(n).id(), address(n)};
    const auto tile = tile_of_rows(static_cast<std::int64_t>(n));
    const EncodedTile encoded(tile);
    const ContentId content{number(kFirstContent) + static_cast<std::int64_t>(n)};
    access->put(worker, kLoading, {content, "X", encoded.header(), encoded.values()});
    participants.push_back({worker, 1});
  }
  access->prepare(kLoading, participants);
  const ContentRange all{kFirstContent, ContentId{number(kFirstContent) + 1}};
  for (const auto& participant : participants)
    if (!access->commit(participant.worker, kLoading, std::span(&all, 1)))
      throw Error(ErrorKind::Internal, "a worker did not commit");
}

ClusterStatement TestCluster::statement(const PhysicalPlan& plan) {
  ClusterStatement statement{plan, holders_, {}, {}, {}, 0, 0};
  for (std::size_t n = 0; n < kTensorWorkers; ++n) statement.workers.push_back(cluster_->workers().at(n).data);
  contents_.assign(1, {});
  contents_.front().add({0, 1, kFirstContent});
  statement.contents = contents_;
  return statement;
}

ClusterStatement TestCluster::transposing_statement() {
  auto writing = statement(transposing_);
  writing.results = {ResultContents{"Z", kWriting, kFirstResult}};
  return writing;
}

ClusterStatement TestCluster::gathering_statement() { return statement(gathering_); }

std::vector<double> TestCluster::stored(std::size_t worker) {
  const ContentId content{number(kFirstResult) + static_cast<std::int64_t>(worker)};
  const auto tile = shards(worker).read(content, DType::Float64, Shape({kSide, kSide / 2}), "a tile of Z");
  if (tile == nullptr) return {};
  std::vector<double> values(tile->byte_size() / sizeof(double));
  std::memcpy(values.data(), tile->bytes().data(), tile->byte_size());
  return values;
}

ExecutionProfile run_own_part(const ClusterStatement& statement, Exchange& exchange, const Cancellation& cancellation,
                              double* sum) {
  Scheduler scheduler(1);
  NoTiles source;
  SumSink sink;
  ExecutionContext context{scheduler, cancellation, MemoryBudget::create(TestCluster::kMemory), source, {}};
  TileSink* const sinks[] = {&sink};
  auto profile = execute(statement.plan, statement.holders, exchange, context, sinks);
  if (sum != nullptr) *sum = sink.sum;
  return profile;
}

}  // namespace eindb

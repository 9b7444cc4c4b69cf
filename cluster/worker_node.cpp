#include "cluster/worker_node.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {

WorkerNode::Statement::Statement(WorkerNode& node) : node_(node) {
  const std::lock_guard lock(node_.mutex_);
  if (node_.draining_)
    throw Error(ErrorKind::WorkerLost, "the worker is being drained and takes no statements", std::nullopt,
                "run the statement again: it is then planned without that worker");
  node_.statements_.push_back(this);
}

WorkerNode::Statement::~Statement() {
  {
    const std::lock_guard lock(node_.mutex_);
    std::erase(node_.statements_, this);
  }
  node_.drained_.notify_all();
}

void WorkerNode::Statement::count_memory_of(std::shared_ptr<const MemoryBudget> budget) {
  const std::lock_guard lock(node_.mutex_);
  budget_ = std::move(budget);
}

void WorkerNode::Statement::count_bytes_of(const ExchangeCounters& counters) {
  node_.bytes_sent_ += counters.bytes_sent;
  node_.bytes_received_ += counters.bytes_received;
}

WorkerLoad WorkerNode::load() const {
  WorkerLoad load;
  load.tiles_stored = contents_stored_;
  load.bytes_stored = bytes_stored_;
  load.bytes_free = bytes_free_;
  load.bytes_sent = bytes_sent_;
  load.bytes_received = bytes_received_;
  load.draining = draining_;
  load.disk_silence = disk_silence();
  load.coordinator_left = coordinator_left_;
  const std::lock_guard lock(mutex_);
  load.statements = static_cast<std::uint32_t>(statements_.size());
  for (const auto* statement : statements_)
    if (statement->budget_ != nullptr) load.memory_used += statement->budget_->used();
  return load;
}

std::chrono::milliseconds WorkerNode::disk_silence() const {
  const auto silence = shards.watch().silence();
  return silence >= options.disk_timeout ? silence : std::chrono::milliseconds(0);
}

void WorkerNode::abort(ShardTransaction transaction, Abort how) noexcept {
  try {
    abort_now({transaction, how});
  } catch (const std::exception& error) {
    log.write(NodeLog::Level::Warning, "contents not removed", "", error.what());
    when_there_is_memory([&] {
      const std::lock_guard lock(mutex_);
      refused_aborts_.push_back({transaction, how});
    });
  }
  note_change();
}

void WorkerNode::abort_now(const RefusedAbort& abort) {
  if (abort.how == Abort::Always) shards.abort(abort.transaction);
  else shards.abort_unprepared({&abort.transaction, 1});
}

void WorkerNode::abort_what_was_refused() noexcept {
  std::vector<RefusedAbort> aborts;
  {
    const std::lock_guard lock(mutex_);
    aborts.swap(refused_aborts_);
  }
  try {
    for (; !aborts.empty(); aborts.pop_back()) abort_now(aborts.back());
  } catch (const std::exception&) {  // already logged at the first refusal
    when_there_is_memory([&] {
      const std::lock_guard lock(mutex_);
      refused_aborts_.insert(refused_aborts_.end(), aborts.begin(), aborts.end());
    });
    note_change();
  }
}

void WorkerNode::count_contents() {
  count_wanted_ = false;
  abort_what_was_refused();
  if (contents_changed_.exchange(false)) {
    const auto usage = shards.usage();
    contents_stored_ = usage.contents;
    bytes_stored_ = usage.bytes;
  }
  look_at_room();
}

void WorkerNode::look_at_room() {
  looked_ = Clock::now();
  bytes_free_ = shards.room();
  CHECK(bytes_free_ >= 0, "a disk has no less room than none");
  const bool is_full = bytes_free_ == 0;
  if (was_full_.exchange(is_full) == is_full) return;
  log.write(is_full ? NodeLog::Level::Warning : NodeLog::Level::Info, is_full ? "disk full" : "disk has room", "",
            is_full ? "no tiles are stored until there is room again; what is there can be read and dropped" : "");
}

void WorkerNode::note_damaged(ContentId content) {
  const std::lock_guard lock(mutex_);
  if (damaged_.insert(content).second) ++damage_changes_;
}

void WorkerNode::note_rewritten(ContentId content) {
  const std::lock_guard lock(mutex_);
  damaged_.erase(content);
}

std::vector<ContentId> WorkerNode::damaged() const {
  const std::lock_guard lock(mutex_);
  return {damaged_.begin(), damaged_.end()};
}

void WorkerNode::drain() noexcept {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  drained_.notify_all();
}

void WorkerNode::wait_until_drained() {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [this] { return draining_ && statements_.empty(); });
}

}  // namespace eindb

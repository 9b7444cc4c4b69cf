#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/node_log.hpp"
#include "cluster/worker_connection.hpp"
#include "common/cancellation.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/write_ahead_log.hpp"

namespace eindb {

/// Keeps a copy of the coordinator's file at a worker, the standby, up to date: each transaction is durable there
/// before its commit returns.
///
///     Copying --> Current <--> Behind
///
/// As long as it is Current, commits wait for the standby. One that cannot be sent, because the worker is lost or its
/// disk fails, makes it Behind: commits go on without it, and a thread catches up with the frames that it lacks, or
/// with the whole file where the log has begun anew meanwhile. Other processes that write the file are followed within
/// a second. Thread-safe.
class StandbyStream {
 public:
  /// `database` is the path of the coordinator's file. The worker's connection and the log must outlive it.
  StandbyStream(std::string database, WorkerConnection& worker, NodeLog& log);
  ~StandbyStream();
  StandbyStream(const StandbyStream&) = delete;
  StandbyStream& operator=(const StandbyStream&) = delete;

  /// As LogFollower::follow(). Several callers are served by one message.
  void follow() noexcept;
  const std::string& address() const { return worker_.address(); }
  StandbyState state() const;
  /// Why the last attempt to send something failed; empty if it has not.
  std::string failure() const;
  /// Waits at most so long until it is Current, or an attempt has failed; not at all for a worker that is not there,
  /// nor once somebody has waited.
  void wait_for_attempt(std::chrono::steady_clock::time_point at_most);

 private:
  void run() noexcept;
  void catch_up();
  bool resume(const LogPlace& there);
  void send_file();
  std::size_t send_rest();
  void begin_chain();
  std::size_t send_log(const LogEnd& end, bool of_new_copy);
  std::optional<std::uint32_t> count_transactions(const LogChain& chain, std::uint32_t from, std::uint32_t to);
  void fall_behind(std::string_view why) noexcept;

  const std::string database_;
  WorkerConnection& worker_;
  NodeLog& log_;
  Cancellation ending_;

  mutable std::mutex mutex_;  // guards the members below; while it is not Current, the thread alone uses the source
  std::condition_variable changed_;
  StandbyState state_ = StandbyState::Copying;
  bool ends_ = false;
  bool was_awaited_ = false;
  std::string failure_;  // in the log
  std::unique_ptr<SqliteConnection> source_;
  std::optional<LogChain> chain_;  // of the coordinator's log, at the end of the copy's
  LogPlace there_;                 // as the standby has it
  LogEnd seen_;                    // as the coordinator has it
  std::thread thread_;
};

/// All standbys of a file. Thread-safe.
class Standbys final : public LogFollower {
 public:
  using Streams = std::vector<std::unique_ptr<StandbyStream>>;

  /// Call once.
  void begin(Streams streams) {
    streams_ = std::move(streams);
    has_begun_ = true;
  }
  /// Nothing is followed afterwards. No follow() may be running.
  void end() {
    has_begun_ = false;
    streams_.clear();
  }
  void follow() noexcept override {
    if (has_begun_)
      for (const auto& stream : streams_) stream->follow();
  }
  /// That to the worker of this address; null if it is no standby.
  const StandbyStream* stream_to(const std::string& address) const {
    if (has_begun_)
      for (const auto& stream : streams_)
        if (stream->address() == address) return stream.get();
    return nullptr;
  }
  void wait_for_attempt(std::chrono::steady_clock::time_point at_most) {
    if (has_begun_)
      for (const auto& stream : streams_) stream->wait_for_attempt(at_most);
  }

 private:
  Streams streams_;
  std::atomic<bool> has_begun_{false};
};

}  // namespace eindb

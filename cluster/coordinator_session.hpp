#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "cluster/channel.hpp"
#include "cluster/control_link.hpp"
#include "cluster/control_message.hpp"
#include "cluster/prober.hpp"
#include "cluster/statement_run.hpp"
#include "cluster/worker_databases.hpp"
#include "cluster/worker_node.hpp"

namespace eindb {

/// A worker's end of the channel to one coordinator. It answers the handshake, runs the coordinator's statements, and
/// serves contents. Statements run concurrently; one thread serves contents in the order of the requests. When the
/// channel ends, its statements end, and contents that were put but not prepared are dropped.
///
///     greet --> (statements | contents)* --> the link ends --> statements end --> has_ended()
class CoordinatorSession final : private ControlLinkUser {
 public:
  /// Starts at once, in a thread of its own. `databases` must outlive it.
  CoordinatorSession(WorkerDatabases& databases, std::unique_ptr<Channel> channel);
  ~CoordinatorSession() override;
  CoordinatorSession(const CoordinatorSession&) = delete;
  CoordinatorSession& operator=(const CoordinatorSession&) = delete;

  /// Tells the coordinator that the worker is about to leave. The coordinator closes the channel when it no longer
  /// needs the worker.
  void announce_leave(const std::string& reason) noexcept;
  /// Waits until the coordinator has closed the channel, or for close_channel().
  void wait_until_link_ended() noexcept;
  /// Ends the session and its statements.
  void close_channel() noexcept;
  bool has_ended() const { return has_ended_; }

 private:
  using Task = std::function<void()>;
  class Waiting;

  // ControlLinkUser
  std::vector<std::byte> sign_of_life() override;
  void receive(std::span<const std::byte> message) override;
  void end(const Error& why) noexcept override;

  void run() noexcept;
  control::Hello greet();
  void claim(std::int64_t database, std::span<const std::int64_t> former);
  void serve_until_end();
  void forget_unprepared() noexcept;
  void count_contents() noexcept;
  void note_removal();
  void give_back() noexcept;
  void post(Task task);
  void send(const ToCoordinator& message) noexcept;
  void log(NodeLog::Level level, std::string_view event, std::string_view detail) noexcept;

  void take(const control::Hello& hello);
  void take(const control::Heartbeat&) {}
  void take(control::Run run);
  void take(const control::Stop& stop);
  void take(const control::Drain&) { databases_.drain(); }
  void take(control::Put put);
  void take(const control::Fetch& fetch);
  void take(const control::Prepare& prepare);
  void take(const control::Commit& commit);
  void take(const control::Abort& abort);
  void take(const control::Drop& drop);
  void take(const control::AskUndecided& ask);
  void take(control::Repair repair);
  void take(control::Probe probe);
  void take(const control::Advance& advance);
  void take(const control::AskContents& ask);
  void take(const control::ShareMemory& share);
  void take(const control::Claim& claim);
  void take(const control::AskStandby& ask);
  void take(const control::BeginStandby& begin);
  void take(control::StandbyBytes bytes);
  void take(control::StandbyFrames frames);
  void take(const control::FinishStandby& finish);
  template <class F>
  void answer(std::uint64_t request, F f);

  WorkerDatabases& databases_;
  WorkerNode* node_;  // of the coordinator's database, once it has said which that is
  const std::string peer_;
  Prober prober_{node_->exchanges};
  std::atomic<std::int64_t> database_{0};  // as stated by the coordinator; 0: none yet
  std::uint64_t damage_told_ = 0;          // WorkerNode::damage_changes(), used by the thread of heartbeats
  // Used by the thread of run():
  std::unique_ptr<Channel> greeted_;  // until the link takes it
  std::map<ShardTransaction, Error> failed_puts_;
  std::set<ShardTransaction> unprepared_;
  ShardEpoch epoch_;         // of the coordinator's requests
  bool gives_back_ = false;  // returns space to the disk

  std::mutex mutex_;  // guards the members below, up to has_ended_
  std::condition_variable changed_;
  Channel* channel_;  // null once it is gone
  std::shared_ptr<ControlLink> link_;
  std::deque<Task> tasks_;
  std::size_t waiting_bytes_ = 0;  // of received contents that are not stored yet
  std::map<std::uint64_t, std::unique_ptr<StatementRun>> statements_;
  bool link_ended_ = false;
  std::atomic<bool> has_ended_{false};
  std::thread thread_;  // last, since it uses the other members
};

}  // namespace eindb

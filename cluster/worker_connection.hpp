#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/connector.hpp"
#include "cluster/control_link.hpp"
#include "cluster/damaged_copies.hpp"
#include "cluster/node_log.hpp"
#include "cluster/statement_watch.hpp"
#include "cluster/worker_status.hpp"
#include "common/check.hpp"

namespace eindb {

class WorkerConnection;

/// The settings shared by all connections to the workers of a cluster.
struct ClusterContext {
  Connector& connector;
  NodeLog& log;
  DamagedCopies& damaged;
  std::chrono::milliseconds heartbeat{0};
  /// Admits the data directory at the address, or throws the reason for refusing it.
  std::function<void(const std::string& address, const control::Welcome& welcome)> admit;
  /// Called when a worker has joined, to test its data connections to the others. Does not wait.
  std::function<void(WorkerConnection& worker)> joined;
  /// Called while a worker is connected, to make up for what it missed. Returns false if it must be called again.
  /// Called by the connection's thread.
  std::function<bool(WorkerConnection& worker)> catch_up;
};

/// The coordinator's end of the channel to one worker. It connects, reconnects after a loss, reports the worker's
/// state, and carries requests and replies.
///
///     connect --> greet --> Up <--> Unwell --> the link ends --> Lost --> connect ...
///
/// While the worker is Unwell because its disk hangs, messages are still sent to it, but nobody waits for a reply.
/// Waiting functions poll for cancellation (poll_cancellation). Thread-safe.
class WorkerConnection final : private ControlLinkUser {
 public:
  /// `context` must outlive it.
  WorkerConnection(const ClusterContext& context, std::string address);
  ~WorkerConnection() override;
  WorkerConnection(const WorkerConnection&) = delete;
  WorkerConnection& operator=(const WorkerConnection&) = delete;

  /// Begins to connect. `database`: its identity; `former`: its earlier identities; `known`: the data directory that
  /// was here before, 0 if unknown; `transient`: as in control::Hello.
  void start(std::int64_t database, std::vector<std::int64_t> former, DataId known, bool transient = false);
  /// Ends the connection; the state is Lost for good. The destructor calls both functions.
  void close(std::string_view reason = "the coordinator ends") noexcept;
  void wait_until_closed() noexcept;
  const std::string& address() const { return address_; }
  /// The data directory that is, was, or is expected there; 0: unknown.
  DataId data() const;
  WorkerStatus status() const;
  bool is_up() const noexcept;
  /// The address of its exchanges for other ranks.
  std::string data_address() const;
  /// Waits until the worker has joined, or an attempt has failed.
  void wait_for_attempt(std::chrono::steady_clock::time_point at_most);

  /// Error{WorkerLost} that names the worker if it is not connected.
  void send(const ToWorker& message);
  /// A request in progress, and the storage of its reply. Must not outlive the connection.
  class Request {
   public:
    Request(WorkerConnection& connection, std::uint64_t number) : connection_(&connection), number_(number) {}
    Request(Request&& other) noexcept
        : connection_(std::exchange(other.connection_, nullptr)), number_(other.number_) {}
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    Request& operator=(Request&&) = delete;
    ~Request() {
      if (connection_ != nullptr) connection_->forget_request(number_);
    }

    /// Waits for the reply. Throws the worker's error; Error{WorkerLost} if there is no reply because the worker is
    /// lost, its disk hangs, or it has replied to nothing for kMostSilence; Error{Cancelled}.
    template <class Answer>
    Answer get() {
      CHECK(connection_ != nullptr, "a request that was moved waits elsewhere");
      auto answer = connection_->await(number_);
      if (auto* expected = std::get_if<Answer>(&answer)) return std::move(*expected);
      throw Error(ErrorKind::Corrupt, "worker " + connection_->address_ + " answers something else than was asked");
    }

   private:
    WorkerConnection* connection_;
    std::uint64_t number_;
  };

  /// Sends the message that `make` returns for the request's number.
  Request request(const std::function<ToWorker(std::uint64_t)>& make);
  template <class Answer, class Make>
  Answer ask(const Make& make) {
    return request(make).template get<Answer>();
  }
  /// Sends contents, once the worker has stored enough of the earlier ones. Throws the errors of Request::get().
  void put(ShardTransaction transaction, std::vector<control::NewContent> contents);
  /// As in Welcome; empty before it has joined.
  std::string memory_pool() const;
  /// Sets the worker's part of its pool's memory: one of `workers` equal parts. No effect if it is not connected.
  void share_memory_among(std::uint32_t workers);
  /// Records that the worker may have missed the end of a transaction, or may not have executed a request, for example
  /// after it joins. It catches up as soon as it is Up.
  void note_missed() noexcept;

  /// Later events of the statement's rank are reported to the watch. Error{WorkerLost} if the worker is not connected;
  /// the watch is not called then.
  void begin(std::uint64_t statement, Rank rank, StatementWatch& watch);
  void forget(std::uint64_t statement) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  using AnyAnswer = decltype(control::Reply::answer);
  struct Watched {
    Rank rank = 0;
    StatementWatch* watch = nullptr;
  };

  /// A worker whose disk answers replies to something within this time.
  static constexpr std::chrono::seconds kMostSilence{30};

  // ControlLinkUser
  std::vector<std::byte> sign_of_life() override;
  void receive(std::span<const std::byte> message) override;
  void end(const Error& why) noexcept override;

  void take(const control::Welcome&);
  void take(const control::Refusal&);
  void take(const control::Pulse& pulse);
  void take(control::Done done);
  void take(const control::Leave& leave);
  void take(control::Reply reply);
  void take(const control::Damaged& damaged);
  void note_draining();
  void note_disk(std::chrono::milliseconds silence);
  void fail_all(const Error& error);
  void note_room(std::int64_t bytes_free);

  class Greeted;

  void run() noexcept;
  /// Connects, and returns after the link has ended. Throws the reason if the worker could not join.
  void connect_once();
  control::Welcome greet(Channel& channel);
  void join(const control::Welcome& welcome, const std::shared_ptr<ControlLink>& link);
  std::shared_ptr<ControlLink> take_link();
  void catch_up_until_end();
  bool pause(std::chrono::milliseconds time);
  void note_failure(const std::string& reason);
  std::shared_ptr<ControlLink> link() const;
  AnyAnswer await(std::uint64_t request);
  void wait_for_answer(std::unique_lock<std::mutex>& lock, Clock::time_point since);
  bool counts_waiting_bytes() const;
  bool forget_put(std::uint64_t request);
  void check_is_well() const;
  void forget_request(std::uint64_t request) noexcept;
  Error lost(const std::string& reason) const;
  Error unwell_error() const;

  const ClusterContext& context_;
  const std::string address_;
  std::int64_t database_ = 0;         // set by start()
  std::vector<std::int64_t> former_;  // set by start()
  bool transient_ = false;            // set by start()
  Cancellation connecting_;           // requested at the end

  mutable std::mutex mutex_;  // guards the members below, up to the thread
  std::condition_variable changed_;
  WorkerStatus status_;
  std::string data_address_;
  std::string memory_pool_;
  std::int64_t whole_memory_ = 0;  // of the pool
  Clock::time_point since_ = Clock::now();
  bool was_tried_ = false;
  bool closing_ = false;
  bool is_full_ = false;
  Channel* greeted_ = nullptr;         // the channel before the link owns it, to be closed
  std::shared_ptr<ControlLink> link_;  // null unless a link is open
  std::string farewell_;               // message of a worker that is leaving
  std::string unwell_;                 // the reason while it is Unwell
  bool has_missed_ = false;            // the worker may have missed something
  std::map<std::uint64_t, Watched> statements_;
  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, std::optional<AnyAnswer>> requests_;  // nullopt: no reply yet
  Clock::time_point answered_;                                  // time of the last reply
  std::map<std::uint64_t, std::size_t> puts_;                   // bytes of puts that are not stored yet
  std::size_t waiting_bytes_ = 0;                               // sum of puts_
  std::thread thread_;
};

}  // namespace eindb

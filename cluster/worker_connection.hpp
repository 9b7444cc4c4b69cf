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

/// The settings that all connections to the workers of a cluster share.
struct ClusterContext {
  Connector& connector;
  NodeLog& log;
  DamagedCopies& damaged;
  std::chrono::milliseconds heartbeat{0};
  /// Lets the data directory join at the address, or throws why not.
  std::function<void(const std::string& address, const control::Welcome& welcome)> admit;
  /// It has just joined: whether it exchanges data with the others is to be found out. Does not wait.
  std::function<void(WorkerConnection& worker)> joined;
  /// It is there: what it missed is made up for. False if that is to be tried again. In the connection's thread.
  std::function<bool(WorkerConnection& worker)> catch_up;
};

/// The coordinator's end of the channel to one worker: connects, and again whenever it is lost; says what the worker
/// is; carries requests, and replies back.
///
///     connect --> greet --> Up <--> Unwell --> the link ends --> Lost --> connect ...
///
/// While it is unwell, as its disk hangs, it is sent what it is to know, and nobody waits for an answer. Whoever waits
/// looks for cancellation (poll_cancellation). Thread-safe.
class WorkerConnection final : private ControlLinkUser {
 public:
  /// `context` outlives it.
  WorkerConnection(const ClusterContext& context, std::string address);
  ~WorkerConnection() override;
  WorkerConnection(const WorkerConnection&) = delete;
  WorkerConnection& operator=(const WorkerConnection&) = delete;

  /// Begins to connect. `database`: its identity, and those that it had before; `known`: the data directory that was
  /// here before, 0 if none is known.
  void start(std::int64_t database, std::vector<std::int64_t> former, DataId known);
  /// Ends: it is Lost for good. The destructor does both.
  void close(std::string_view reason = "the coordinator ends") noexcept;
  void wait_until_closed() noexcept;
  const std::string& address() const { return address_; }
  /// The data directory that is, or was, or is expected there; 0: not known.
  DataId data() const;
  WorkerStatus status() const;
  bool is_up() const noexcept;
  /// Where other ranks reach its exchanges.
  std::string data_address() const;
  /// Waits until it has joined, or could not once.
  void wait_for_attempt(std::chrono::steady_clock::time_point at_most);

  /// Error{WorkerLost} that names the worker if it is not connected.
  void send(const ToWorker& message);
  /// A request on its way, and the place of its answer. Does not outlive the connection.
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

    /// Waits for it. Throws what the worker answers; Error{WorkerLost} if that is none: it is lost, its disk hangs, or
    /// it has answered nothing at all for kMostSilence; Error{Cancelled}.
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

  /// Sends what `make` gives for the number of a request.
  Request request(const std::function<ToWorker(std::uint64_t)>& make);
  template <class Answer, class Make>
  Answer ask(const Make& make) {
    return request(make).template get<Answer>();
  }
  /// Contents on their way, when the worker has stored enough of those before. Errors as of Request::get().
  void put(ShardTransaction transaction, std::vector<control::NewContent> contents);
  /// As of Welcome; empty before it has joined.
  std::string memory_pool() const;
  /// The worker has a part of its pool's memory: one of `workers`. Nothing if it is not connected.
  void share_memory_among(std::uint32_t workers);
  /// The worker may not have heard the end of something, or not have done what it was told: as when it has just joined,
  /// it is caught up with as soon as it is well.
  void note_missed() noexcept;

  /// From now on the watch is told of rank `rank` of the statement. Error{WorkerLost} if the worker is not connected,
  /// and the watch is told nothing.
  void begin(std::uint64_t statement, Rank rank, StatementWatch& watch);
  void forget(std::uint64_t statement) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  using AnyAnswer = decltype(control::Reply::answer);
  struct Watched {
    Rank rank = 0;
    StatementWatch* watch = nullptr;
  };

  /// A worker whose disk answers has something to say in this time.
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
  void note_draining();
  void note_disk(std::chrono::milliseconds silence);
  void fail_all(const Error& error);
  void note_room(std::int64_t bytes_free);

  class Greeted;

  void run() noexcept;
  /// Up to the end of the link. Throws what kept it from joining.
  void connect_once();
  control::Welcome greet(Channel& channel);
  void join(const control::Welcome& welcome, const std::shared_ptr<ControlLink>& link);
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
  std::int64_t database_ = 0;         // from start() on
  std::vector<std::int64_t> former_;  // likewise
  Cancellation connecting_;           // asked to stop by the end

  mutable std::mutex mutex_;  // guards what follows, up to the thread
  std::condition_variable changed_;
  WorkerStatus status_;
  std::string data_address_;
  std::string memory_pool_;
  std::int64_t whole_memory_ = 0;  // of the pool
  Clock::time_point since_ = Clock::now();
  bool was_tried_ = false;
  bool closing_ = false;
  bool is_full_ = false;
  Channel* greeted_ = nullptr;         // while it is not the link's yet, to be closed
  std::shared_ptr<ControlLink> link_;  // null while there is none that goes on
  std::string farewell_;               // of a worker that has said that it leaves
  std::string unwell_;                 // why, while it is
  bool has_missed_ = false;            // something, or may have
  std::map<std::uint64_t, Watched> statements_;
  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, std::optional<AnyAnswer>> requests_;  // without an answer: it has not come yet
  Clock::time_point answered_;                                  // when the last answer came
  std::map<std::uint64_t, std::size_t> puts_;                   // that are not stored yet, and their bytes
  std::size_t waiting_bytes_ = 0;                               // of these
  std::thread thread_;
};

}  // namespace eindb

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/peer_lost.hpp"
#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "executor/exchange.hpp"

namespace eindb {

/// The coordinator's record of a running statement: which ranks have ended, with which report or failure. The first
/// failure ends the coordinator's own part by aborting its exchange. Thread-safe.
class StatementWatch {
 public:
  /// The interval of checks for cancellation, since a request from a signal handler wakes no thread.
  static constexpr std::chrono::milliseconds kPoll{20};

  /// `cancellation` is the statement's and must outlive the watch.
  StatementWatch(std::size_t ranks, const Cancellation& cancellation, std::chrono::milliseconds poll = kPoll)
      : whole_(cancellation), cancellation_(&cancellation), poll_(poll), ended_(ranks), reports_(ranks) {
    CHECK(ranks > 0, "a statement has ranks");
  }

  /// Asks the coordinator's part to stop if the statement is cancelled or has failed.
  const Cancellation& cancellation() const { return cancellation_; }

  /// Sets the exchange that a failure aborts, until use(nullptr).
  void use(Exchange* exchange) noexcept;
  void ended(Rank rank, RankReport report);
  /// The rank has ended with an error; `unreachable` is from a PeerLost.
  void failed(Rank rank, const Error& error, const std::optional<UnreachablePeer>& unreachable = std::nullopt);
  /// The coordinator's own part has ended with an error. An earlier failure is its cause.
  void failed_here(Rank rank, const Error& error, const std::optional<UnreachablePeer>& unreachable = std::nullopt);
  /// The rank is lost. Fails the statement unless all ranks have ended, since others may wait for data that this rank
  /// sent before its part ended.
  void lost(Rank rank, const Error& error);

  bool has_failed() const;
  bool has_ended(Rank rank) const;
  /// Waits until all ranks have ended or one has failed. Throws Error{Cancelled} if the statement is cancelled.
  void wait();
  /// After a failure: waits for the ranks that were told to stop, at most `at_most`, or `cancelled` from the time the
  /// statement was cancelled.
  void wait_for_rest(std::chrono::milliseconds at_most, std::chrono::milliseconds cancelled);

  /// The failure of the statement; null if there is none. A lost worker is considered the cause of all other failures,
  /// and a rank's own failure precedes other ranks' reports that it is lost. Cancelled ranks are the cause only if the
  /// statement was cancelled: otherwise they stopped because of another failure, which is Error{WorkerLost} if nobody
  /// reported it.
  std::exception_ptr failure() const;
  std::vector<RankReport> reports() &&;
  /// Two ranks that could not exchange data, as reported by `rank`.
  struct LostPeer {
    Rank rank = 0;
    UnreachablePeer peer;
    std::string reason;
  };
  std::vector<LostPeer> lost_peers() const;

 private:
  enum class Cause : std::uint8_t { Lost, Failed, FailedByOther, FailedBefore, Stopped };
  struct Failure {
    Cause cause;
    Error error;
  };

  bool all_have_ended() const;
  bool is_cancelled() const;
  void fail(Rank rank, Cause cause, const Error& error);
  void note_failure(Rank rank, Cause cause, const Error& error);
  void note_lost_peer(Rank rank, const std::optional<UnreachablePeer>& peer, const Error& error);

  const Cancellation& whole_;  // the statement's; not requested by failures
  Cancellation cancellation_;
  const std::chrono::milliseconds poll_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  Exchange* exchange_ = nullptr;
  std::vector<bool> ended_;
  std::vector<RankReport> reports_;
  std::vector<LostPeer> lost_peers_;
  std::vector<Failure> failures_;  // in the order of their arrival
};

}  // namespace eindb

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

/// The coordinator's record of the ranks of a statement while it runs: which ranks have ended, how, and what failed.
/// The first failure ends the coordinator's own part, by its exchange. Thread-safe.
class StatementWatch {
 public:
  /// How soon a request to cancel is seen, which comes from a signal handler and wakes nobody.
  static constexpr std::chrono::milliseconds kPoll{20};

  /// `cancellation` of the statement outlives it.
  StatementWatch(std::size_t ranks, const Cancellation& cancellation, std::chrono::milliseconds poll = kPoll)
      : whole_(cancellation), cancellation_(&cancellation), poll_(poll), ended_(ranks), reports_(ranks) {
    CHECK(ranks > 0, "a statement has ranks");
  }

  /// Asks the coordinator's part to stop: when the statement is to, or has failed.
  const Cancellation& cancellation() const { return cancellation_; }

  /// The exchange to be aborted by a failure, until use(nullptr).
  void use(Exchange* exchange) noexcept;
  void ended(Rank rank, RankReport report);
  /// The rank has ended with an error; `unreachable`: as of PeerLost.
  void failed(Rank rank, const Error& error, const std::optional<UnreachablePeer>& unreachable = std::nullopt);
  /// The coordinator's own part has. If something had failed before, that is why.
  void failed_here(Rank rank, const Error& error, const std::optional<UnreachablePeer>& unreachable = std::nullopt);
  /// Nothing will be heard of the rank again. Fails the statement unless all ranks have ended: others may wait for what
  /// this one sent before its part had ended.
  void lost(Rank rank, const Error& error);

  bool has_failed() const;
  bool has_ended(Rank rank) const;
  /// Waits until all ranks have ended, or one has failed. Throws Error{Cancelled} if the statement is to end.
  void wait();
  /// After a failure: waits for the others, which were told to stop, at most so long, or `cancelled` from when the
  /// statement was asked to end.
  void wait_for_rest(std::chrono::milliseconds at_most, std::chrono::milliseconds cancelled);

  /// The failure of the statement; null if there is none. A lost worker is the reason of whatever else there is; and
  /// what a rank says of itself comes before what others say of it, which is that it is lost. That a rank was cancelled
  /// is the reason of nothing, unless the statement was: it has stopped for what failed elsewhere, and
  /// Error{WorkerLost} if nobody says what that was.
  std::exception_ptr failure() const;
  std::vector<RankReport> reports() &&;
  /// Two ranks that could not exchange data, as the first of them says.
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

  const Cancellation& whole_;  // the statement's; does not know of failures
  Cancellation cancellation_;
  const std::chrono::milliseconds poll_;
  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  Exchange* exchange_ = nullptr;
  std::vector<bool> ended_;
  std::vector<RankReport> reports_;
  std::vector<LostPeer> lost_peers_;
  std::vector<Failure> failures_;  // in the order in which they were known
};

}  // namespace eindb

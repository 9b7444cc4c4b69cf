#include "cluster/statement_watch.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/memory_wait.hpp"

namespace eindb {

void StatementWatch::use(Exchange* exchange) noexcept {
  const std::lock_guard lock(mutex_);
  exchange_ = exchange;
  if (exchange_ != nullptr && !failures_.empty()) exchange_->abort(std::make_exception_ptr(failures_.front().error));
}

void StatementWatch::ended(Rank rank, RankReport report) {
  CHECK(rank < reports_.size(), "who ends is a rank of the statement");
  {
    const std::lock_guard lock(mutex_);
    if (ended_[rank]) return;
    ended_[rank] = true;
    reports_[rank] = std::move(report);
  }
  changed_.notify_all();
}

bool StatementWatch::is_cancelled() const {
  try {
    whole_.check();
    return false;
  } catch (const Error&) {
    return true;
  }
}

void StatementWatch::failed(Rank rank, const Error& error, const std::optional<UnreachablePeer>& unreachable) {
  note_lost_peer(rank, unreachable, error);
  if (error.kind() == ErrorKind::WorkerLost) return fail(rank, Cause::FailedByOther, error);
  const bool was_stopped = error.kind() == ErrorKind::Cancelled && !is_cancelled();
  fail(rank, was_stopped ? Cause::Stopped : Cause::Failed, error);
}

void StatementWatch::failed_here(Rank rank, const Error& error, const std::optional<UnreachablePeer>& unreachable) {
  if (!has_failed()) return failed(rank, error, unreachable);
  note_lost_peer(rank, unreachable, error);
  fail(rank, Cause::FailedBefore, error);
}

void StatementWatch::note_lost_peer(Rank rank, const std::optional<UnreachablePeer>& peer, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!peer || peer->peer >= ended_.size()) return;
  when_there_is_memory([&] { lost_peers_.push_back({rank, *peer, error.message()}); });
}

std::vector<StatementWatch::LostPeer> StatementWatch::lost_peers() const {
  const std::lock_guard lock(mutex_);
  return lost_peers_;
}

// A lost rank fails the statement even if its own part has ended: others may still wait for data that it sent.
void StatementWatch::lost(Rank rank, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (all_have_ended()) return;
    note_failure(rank, Cause::Lost, error);
  }
  changed_.notify_all();
}

void StatementWatch::fail(Rank rank, Cause cause, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_[rank]) return;
    note_failure(rank, cause, error);
  }
  changed_.notify_all();
}

// Call with mutex_ held.
void StatementWatch::note_failure(Rank rank, Cause cause, const Error& error) {
  ended_[rank] = true;
  when_there_is_memory([&] { failures_.push_back({cause, error}); });
  if (exchange_ != nullptr) exchange_->abort(std::make_exception_ptr(error));
  cancellation_.request();
}

bool StatementWatch::has_failed() const {
  const std::lock_guard lock(mutex_);
  return !failures_.empty();
}

bool StatementWatch::has_ended(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return ended_[rank];
}

bool StatementWatch::all_have_ended() const {
  return std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; });
}

void StatementWatch::wait() {
  std::unique_lock lock(mutex_);
  // Under the mutex, since a failure also requests cancellation_, which must not be mistaken for a cancelled statement.
  while (!changed_.wait_for(lock, poll_, [this] { return all_have_ended() || !failures_.empty(); }))
    cancellation_.check();
}

void StatementWatch::wait_for_rest(std::chrono::milliseconds at_most, std::chrono::milliseconds cancelled) {
  auto end = std::chrono::steady_clock::now() + at_most;
  bool ends_soon = false;
  std::unique_lock lock(mutex_);
  while (std::chrono::steady_clock::now() < end &&
         !changed_.wait_for(lock, poll_, [this] { return all_have_ended(); })) {
    if (ends_soon || !is_cancelled()) continue;
    ends_soon = true;
    end = std::min(end, std::chrono::steady_clock::now() + cancelled);
  }
}

std::exception_ptr StatementWatch::failure() const {
  const std::lock_guard lock(mutex_);
  const auto first = std::min_element(failures_.begin(), failures_.end(),
                                      [](const Failure& a, const Failure& b) { return a.cause < b.cause; });
  if (first == failures_.end()) return nullptr;
  if (first->cause != Cause::Stopped) return std::make_exception_ptr(first->error);
  return std::make_exception_ptr(
      Error(ErrorKind::WorkerLost,
            "a rank has ended its part in the statement, and nobody says why: " + first->error.message(), std::nullopt,
            "run the statement again; the logs of the workers may tell more"));
}

std::vector<RankReport> StatementWatch::reports() && {
  const std::lock_guard lock(mutex_);
  CHECK(all_have_ended() && failures_.empty(), "there are reports when all ranks have ended well");
  return std::move(reports_);
}

}  // namespace eindb

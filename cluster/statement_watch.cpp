#include "cluster/statement_watch.hpp"

#include <algorithm>
#include <utility>

namespace eindb {
void StatementWatch::use(Exchange* exchange) noexcept {
  const std::lock_guard lock(mutex_);
  exchange_ = exchange;
  if (exchange_ != nullptr && !failures_.empty()) exchange_->abort(std::make_exception_ptr(failures_.front().error));
}

void StatementWatch::ended(Rank rank, RankReport report) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_[rank]) return;
    ended_[rank] = true;
    reports_[rank] = std::move(report);
  }
  changed_.notify_all();
}

void StatementWatch::failed(Rank rank, const Error& error) {
  fail(rank, {error.kind() == ErrorKind::WorkerLost ? Cause::FailedByOther : Cause::Failed, error});
}

void StatementWatch::failed_here(Rank rank, const Error& error) {
  if (has_failed()) fail(rank, {Cause::FailedBefore, error});
  else failed(rank, error);
}

// What it has sent, others may still wait for: that its own part has ended does not say that all of that arrives.
void StatementWatch::lost(Rank rank, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (all_have_ended()) return;
    note_failure(rank, {Cause::Lost, error});
  }
  changed_.notify_all();
}

void StatementWatch::fail(Rank rank, Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_[rank]) return;
    note_failure(rank, std::move(failure));
  }
  changed_.notify_all();
}

// With the mutex.
void StatementWatch::note_failure(Rank rank, Failure failure) {
  ended_[rank] = true;
  if (exchange_ != nullptr) exchange_->abort(std::make_exception_ptr(failure.error));
  failures_.push_back(std::move(failure));
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
  // With the mutex: a failure asks the coordinator's part to stop, too, and is no cancellation.
  while (!changed_.wait_for(lock, poll_, [this] { return all_have_ended() || !failures_.empty(); }))
    cancellation_.check();
}

void StatementWatch::wait_for_rest(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return all_have_ended(); });
}

std::exception_ptr StatementWatch::failure() const {
  const std::lock_guard lock(mutex_);
  const auto first = std::min_element(failures_.begin(), failures_.end(),
                                      [](const Failure& a, const Failure& b) { return a.cause < b.cause; });
  return first == failures_.end() ? nullptr : std::make_exception_ptr(first->error);
}

std::vector<RankReport> StatementWatch::reports() && {
  const std::lock_guard lock(mutex_);
  return std::move(reports_);
}

}  // namespace eindb

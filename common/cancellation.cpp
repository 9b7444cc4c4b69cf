#include "common/cancellation.hpp"

#include "common/error.hpp"

namespace eindb {

void Cancellation::reset(std::chrono::milliseconds timeout) noexcept {
  requested_.store(false, std::memory_order_relaxed);
  const auto deadline = (Clock::now() + timeout).time_since_epoch().count();
  deadline_.store(timeout.count() > 0 ? deadline : 0, std::memory_order_relaxed);
}

void Cancellation::check() const {
  if (whole_ != nullptr) whole_->check();
  if (requested_.load(std::memory_order_relaxed)) throw Error(ErrorKind::Cancelled, "the statement was cancelled");
  const auto deadline = deadline_.load(std::memory_order_relaxed);
  if (deadline != 0 && Clock::now().time_since_epoch().count() > deadline)
    throw Error(ErrorKind::Cancelled, "the statement ran longer than statement_timeout", std::nullopt,
                "SET statement_timeout = 0 lifts the limit");
}

}  // namespace eindb

#include "cluster/memory_shares.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {

std::shared_ptr<MemoryShares::Share> MemoryShares::take(std::int64_t wanted) {
  const std::lock_guard lock(mutex_);
  CHECK(taken_ >= 0, "no more memory is given back than was taken");
  const auto left = std::max<std::int64_t>(limit_ - taken_, 0);
  const auto bytes = std::max(wanted > 0 ? std::min(wanted, left) : left / 2, std::min(kLeast, limit_));
  auto share = std::make_shared<Share>(*this, bytes);
  taken_ += bytes;
  return share;
}

std::int64_t MemoryShares::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

void MemoryShares::share_among(std::uint32_t processes) {
  const std::lock_guard lock(mutex_);
  limit_ = part_of(whole_, processes);
}

void MemoryShares::give_back(std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
}

}  // namespace eindb

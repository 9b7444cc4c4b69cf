#include "cluster/memory_shares.hpp"

#include <algorithm>
#include <string>

#include "common/error.hpp"

namespace eindb {

std::shared_ptr<MemoryShares::Share> MemoryShares::take(std::int64_t wanted) {
  const std::lock_guard lock(mutex_);
  const auto left = limit_ - taken_;
  const auto bytes = wanted > 0 ? std::min(wanted, left) : left / 2;
  if (bytes < (wanted > 0 ? std::min(wanted, kLeast) : kLeast)) {
    throw Error(ErrorKind::MemoryLimit,
                "of the worker's memory, " + std::to_string(limit_ >> 20U) +
                    " MiB, the statements that run there have left " + std::to_string(left >> 20U) + " MiB",
                std::nullopt, "run fewer statements at a time, or start workers with a larger --memory-limit");
  }
  auto share = std::make_shared<Share>(*this, bytes);
  taken_ += bytes;
  return share;
}

void MemoryShares::give_back(std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
}

}  // namespace eindb

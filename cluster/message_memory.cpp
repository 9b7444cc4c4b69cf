#include "cluster/message_memory.hpp"

namespace eindb {

std::optional<MessageMemory::Part> MessageMemory::take(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (held_ > 0 && bytes > limit_ - held_) return std::nullopt;
  held_ += bytes;
  return Part(shared_from_this(), bytes);
}

std::int64_t MessageMemory::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void MessageMemory::share_among(std::uint32_t processes) {
  const std::lock_guard lock(mutex_);
  limit_ = whole_ / processes;
}

void MessageMemory::give_back(std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  held_ -= bytes;
}

}  // namespace eindb

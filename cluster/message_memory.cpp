#include "cluster/message_memory.hpp"

#include "common/check.hpp"

namespace eindb {

std::optional<MessageMemory::Part> MessageMemory::take(std::int64_t bytes) {
  CHECK(bytes >= 0, "a message has no fewer bytes than none");
  const std::lock_guard lock(mutex_);
  CHECK(held_ >= 0, "no more is given back than messages have taken");
  if (held_ > 0 && bytes > limit_ - held_) return std::nullopt;
  held_ += bytes;
  return Part(shared_from_this(), bytes);
}

std::int64_t MessageMemory::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void MessageMemory::share_among(std::uint32_t processes) {
  CHECK(processes > 0, "there is somebody who shares the memory");
  const std::lock_guard lock(mutex_);
  limit_ = whole_ / processes;
}

void MessageMemory::give_back(std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  held_ -= bytes;
}

}  // namespace eindb

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace eindb {

/// The memory for received messages that nobody has taken yet, over all channels of a node. A message reserves its
/// memory before its first byte is stored, so that every message that has begun can be completed. Thread-safe.
class MessageMemory : public std::enable_shared_from_this<MessageMemory> {
 public:
  explicit MessageMemory(std::int64_t limit = std::numeric_limits<std::int64_t>::max())
      : whole_(limit), limit_(limit) {}

  /// The destructor returns the memory.
  class Part {
   public:
    Part() = default;
    Part(std::shared_ptr<MessageMemory> of, std::int64_t bytes) : of_(std::move(of)), bytes_(bytes) {}
    Part(Part&& other) noexcept : of_(std::move(other.of_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Part& operator=(Part&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() {
      if (of_ != nullptr) of_->give_back(bytes_);
    }

   private:
    std::shared_ptr<MessageMemory> of_;
    std::int64_t bytes_ = 0;
  };

  /// nullopt if the message must wait for others. A single message always gets its memory; its size is limited
  /// elsewhere.
  std::optional<Part> take(std::int64_t bytes);
  std::int64_t held() const;
  /// The limit before it was shared among processes.
  std::int64_t whole() const { return whole_; }
  /// Sets the limit to MemoryShares::part_of(whole(), processes).
  void share_among(std::uint32_t processes);

 private:
  void give_back(std::int64_t bytes) noexcept;

  const std::int64_t whole_;
  mutable std::mutex mutex_;  // guards the members below
  std::int64_t limit_;
  std::int64_t held_ = 0;
};

}  // namespace eindb

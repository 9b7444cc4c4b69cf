#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace eindb {

/// The memory of messages that a node receives and nobody has taken yet, of all its channels together. A message has
/// its part before its first byte is kept, so that those that have begun can end whatever the others do. Thread-safe.
class MessageMemory : public std::enable_shared_from_this<MessageMemory> {
 public:
  explicit MessageMemory(std::int64_t limit = std::numeric_limits<std::int64_t>::max())
      : whole_(limit), limit_(limit) {}

  /// Given back when it is destroyed.
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

  /// nullopt if it has to wait for others. Whoever is alone gets what it wants: there is no larger message than that.
  std::optional<Part> take(std::int64_t bytes);
  std::int64_t held() const;
  /// The limit before it was shared among processes.
  std::int64_t whole() const { return whole_; }
  /// Makes the limit what MemoryShares::part_of gives of whole().
  void share_among(std::uint32_t processes);

 private:
  void give_back(std::int64_t bytes) noexcept;

  const std::int64_t whole_;
  mutable std::mutex mutex_;  // guards what follows
  std::int64_t limit_;
  std::int64_t held_ = 0;
};

}  // namespace eindb

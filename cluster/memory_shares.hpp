#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

#include "common/check.hpp"

namespace eindb {

/// The memory of a process, in shares of the statements that run at the same time. Nobody waits for a share: statements
/// that wait for each other's at two workers would wait forever. Thread-safe.
class MemoryShares {
 public:
  /// The least share that is of use to a statement.
  static constexpr std::int64_t kLeast = std::int64_t{4} << 20U;

  explicit MemoryShares(std::int64_t limit) : whole_(limit), limit_(limit) {}

  /// Given back when it is destroyed; the shares outlive it.
  class Share {
   public:
    Share(MemoryShares& of, std::int64_t bytes) : of_(of), bytes_(bytes) {}
    ~Share() { of_.give_back(bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    std::int64_t bytes() const { return bytes_; }

   private:
    MemoryShares& of_;
    const std::int64_t bytes_;
  };

  /// At most `wanted` bytes, as far as there are any; 0: half of what is left, so that something is left for others.
  /// At least kLeast in any case, beyond the limit if need be: no statement fails because others run. A coordinator
  /// begins few at a time (Cluster::run), so that it takes several coordinators to get there.
  std::shared_ptr<Share> take(std::int64_t wanted);
  /// What take(0) gives to a statement that is alone: for those who plan it.
  static std::int64_t share_of_one(std::int64_t limit) { return std::max(limit / 2, std::min(kLeast, limit)); }
  std::int64_t limit() const;
  /// The limit before it was shared among processes.
  std::int64_t whole() const { return whole_; }
  /// Makes the limit one of `processes` equal parts of whole(), but not less than kLeast.
  void share_among(std::uint32_t processes);
  static std::int64_t part_of(std::int64_t limit, std::uint32_t processes) {
    CHECK(processes > 0, "memory is shared among somebody");
    return std::max(limit / processes, std::min(kLeast, limit));
  }

 private:
  void give_back(std::int64_t bytes) noexcept;

  const std::int64_t whole_;
  mutable std::mutex mutex_;  // guards what follows
  std::int64_t limit_;
  std::int64_t taken_ = 0;
};

}  // namespace eindb

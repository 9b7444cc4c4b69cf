#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

#include "common/check.hpp"

namespace eindb {

/// Divides the memory of a process into shares for concurrent statements. take() never waits: statements that waited
/// for each other's shares at two workers would deadlock. Thread-safe.
class MemoryShares {
 public:
  /// The smallest useful share of a statement.
  static constexpr std::int64_t kLeast = std::int64_t{4} << 20U;

  explicit MemoryShares(std::int64_t limit) : whole_(limit), limit_(limit) {}

  /// The destructor returns the share. `MemoryShares` must outlive it.
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

  /// Takes at most `wanted` bytes of the remaining memory; 0: half of it, so that others get some too. Every share has
  /// at least kLeast, even beyond the limit, so that no statement fails because of others. A coordinator limits its
  /// concurrent statements (Cluster::run), so only several coordinators can exceed the limit.
  std::shared_ptr<Share> take(std::int64_t wanted);
  /// The size of take(0) for a statement that runs alone, for planning.
  static std::int64_t share_of_one(std::int64_t limit) { return std::max(limit / 2, std::min(kLeast, limit)); }
  std::int64_t limit() const;
  /// The limit before it was shared among processes.
  std::int64_t whole() const { return whole_; }
  /// Sets the limit to one of `processes` equal parts of whole(), but at least kLeast.
  void share_among(std::uint32_t processes);
  static std::int64_t part_of(std::int64_t limit, std::uint32_t processes) {
    CHECK(processes > 0, "memory is shared among somebody");
    return std::max(limit / processes, std::min(kLeast, limit));
  }

 private:
  void give_back(std::int64_t bytes) noexcept;

  const std::int64_t whole_;
  mutable std::mutex mutex_;  // guards the members below
  std::int64_t limit_;
  std::int64_t taken_ = 0;
};

}  // namespace eindb

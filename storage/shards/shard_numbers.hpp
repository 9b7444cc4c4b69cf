#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <mutex>
#include <tuple>

namespace eindb {

/// A content of sharded tensors: an encoded tile at workers. It never changes, and its number is never reused.
enum class ContentId : std::int64_t {};
/// A change to contents that happens at all workers or at none. Its number is never reused.
enum class ShardTransaction : std::int64_t {};
/// A worker's data directory, by the number assigned at its creation.
enum class DataId : std::int64_t {};

template <class Id>
constexpr std::int64_t number(Id id) {
  return static_cast<std::int64_t>(id);
}

/// A range of contents with consecutive numbers, `last` included.
struct ContentRange {
  ContentId first{};
  ContentId last{};

  friend bool operator==(const ContentRange&, const ContentRange&) = default;
};

/// A point in a database's history, which workers remember to recognise outdated files: `number` grows with every
/// transaction that changes the set of tiles; `stamp` is a random number of the process that made the change. Two files
/// with a common past that both continued have different stamps for the same number.
struct ShardEpoch {
  std::int64_t number = 0;  ///< 0: before all transactions
  std::int64_t stamp = 0;

  friend bool operator==(const ShardEpoch&, const ShardEpoch&) = default;
  static auto fields(auto& self) { return std::tie(self.number, self.stamp); }
};

/// As the epoch of a drop: it concerns the contents whenever they came, since nothing ever referred to them.
inline constexpr std::int64_t kAnyEpoch = INT64_MAX;

/// A random positive number that identifies something uniquely.
std::int64_t random_identity();

/// Gives numbers that no process has given before or will give: each process takes blocks of 2^32 by counting up the
/// database's blocks. Transactions that are rolled back waste their numbers. Thread-safe.
class ShardNumbers {
 public:
  /// Makes numbers available if there are none. `next_block` counts the database's blocks up (ShardLog::take_block()).
  void reserve(const std::function<std::int64_t()>& next_block);

  /// The first of `count` consecutive contents.
  ContentId contents(std::int64_t count) { return ContentId{take(count)}; }
  ShardTransaction transaction() { return ShardTransaction{take(1)}; }
  /// The stamp of the epochs that this process makes.
  std::int64_t stamp() const { return stamp_; }

 private:
  std::int64_t take(std::int64_t count);

  const std::int64_t stamp_ = random_identity();
  std::mutex mutex_;  // guards both members below
  std::int64_t next_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace eindb

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <mutex>
#include <tuple>

namespace eindb {

/// A content of sharded tensors: an encoded tile that lies at workers. It never changes, and no other has its number,
/// ever.
enum class ContentId : std::int64_t {};
/// A change to contents that happens at all workers or at none. No other has its number, ever.
enum class ShardTransaction : std::int64_t {};
/// A worker's data directory, by the number that it was given when it was made.
enum class DataId : std::int64_t {};

template <class Id>
constexpr std::int64_t number(Id id) {
  return static_cast<std::int64_t>(id);
}

/// Contents that were numbered one after the other, the last included.
struct ContentRange {
  ContentId first{};
  ContentId last{};

  friend bool operator==(const ContentRange&, const ContentRange&) = default;
};

/// How far a database has gone, as workers remember it of the one that their tiles belong to: `number` goes up with
/// every transaction that changes what tiles there are; `stamp` is a random number of the process that was at work. Two
/// files that were one and have both gone on have different stamps for the same number.
struct ShardEpoch {
  std::int64_t number = 0;  ///< 0: before everything
  std::int64_t stamp = 0;

  friend bool operator==(const ShardEpoch&, const ShardEpoch&) = default;
  static auto fields(auto& self) { return std::tie(self.number, self.stamp); }
};

/// A number for something that must not be mistaken for another: random, positive.
std::int64_t random_identity();

/// Gives numbers that no process has given before, nor will: a block of 2^32 belongs to whoever has counted the
/// database's blocks up. Transactions that are rolled back waste theirs. Thread-safe.
class ShardNumbers {
 public:
  /// Makes numbers available, where there are none yet. `next_block` counts the database's blocks up
  /// (ShardLog::take_block()).
  void reserve(const std::function<std::int64_t()>& next_block);

  /// The first of `count` contents in a row.
  ContentId contents(std::int64_t count) { return ContentId{take(count)}; }
  ShardTransaction transaction() { return ShardTransaction{take(1)}; }
  /// Of the epochs that this process makes.
  std::int64_t stamp() const { return stamp_; }

 private:
  std::int64_t take(std::int64_t count);

  const std::int64_t stamp_ = random_identity();
  std::mutex mutex_;  // guards both
  std::int64_t next_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace eindb

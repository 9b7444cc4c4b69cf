#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "engine/statement_text.hpp"

namespace eindb {

/// A counter that only increases. Thread-safe and lock-free.
class Counter {
 public:
  void add(std::int64_t count = 1) noexcept { value_.fetch_add(count, std::memory_order_relaxed); }
  std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// A histogram of durations. Thread-safe and lock-free; a concurrent reader may see the last durations in only some of
/// the numbers.
class DurationHistogram {
 public:
  /// Upper bounds, in seconds; the last bucket has none.
  static constexpr std::array kBounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                      0.25,   0.5,     1.0,    2.5,   5.0,    10.0,  30.0, 60.0,  300.0};

  void add(double seconds) noexcept;
  /// The count of bucket n alone, without those below it.
  std::int64_t count(std::size_t bucket) const {
    CHECK(bucket < counts_.size(), "a bucket is one of those that there are");
    return counts_[bucket].value();
  }
  double sum() const;

 private:
  std::array<Counter, kBounds.size() + 1> counts_;
  Counter nanoseconds_;
};

enum class StatementOutcome : std::uint8_t { Ok, Error, Cancelled };
inline constexpr std::array<std::string_view, 3> kStatementOutcomeNames{"ok", "error", "cancelled"};

/// Counts errors by the class of their SQLSTATE, the first two characters: digits and capital letters.
class ErrorCounters {
 public:
  struct Entry {
    std::string sqlstate_class;
    std::int64_t count = 0;
  };

  void add(std::string_view sqlstate) noexcept;
  /// The classes with at least one error, in order.
  std::vector<Entry> entries() const;

 private:
  static constexpr std::size_t kCharacters = 36;
  std::array<Counter, kCharacters * kCharacters> counts_;
};

/// The counters of a server since its start. Thread-safe.
struct Metrics {
  Counter connections_accepted;
  Counter logins_refused;
  Counter cancel_requests;
  std::array<std::array<Counter, kStatementOutcomeNames.size()>, kStatementKindNames.size()> statements;
  DurationHistogram statement_seconds;
  Counter rows_sent;
  Counter bytes_received;
  Counter bytes_sent;
  ErrorCounters errors;
};

}  // namespace eindb

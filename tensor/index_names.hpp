#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The names of the indices of one dimension: distinct texts, one per index. Either they are listed, or they are the
/// days or times of a calendar, at even steps from a first one on:
///
///     listed({"Oslo", "Bergen"})                     0 is Oslo, 1 is Bergen
///     calendar("2024-01-01", "1 month", 12)          0 is 2024-01-01, 11 is 2024-12-01
///     calendar("2024-01-01 00:00:00", "6 hours", 4)  3 is 2024-01-01 18:00:00
///
/// Immutable, and shared between threads. Lists take memory for their texts, calendars none.
class IndexNames {
 public:
  using Ptr = std::shared_ptr<const IndexNames>;

  /// Longest name, in bytes.
  static constexpr std::size_t kLongest = 1024;

  /// Error{Value} if a name is empty, longer than kLongest, has a zero byte, or occurs twice.
  static Ptr listed(std::vector<std::string> names);

  /// `count` days or times, in the proleptic Gregorian calendar without time zones or leap seconds. `first` is
  /// YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, as the names are then; `step` is a number from 1 on and a unit: seconds,
  /// minutes, hours, days, weeks, months or years, in the singular or the plural. Error{Value} if either is something
  /// else, if a day takes steps of less than a day, or months from a 29th on, or if the last one is beyond the year
  /// 9999.
  static Ptr calendar(std::string_view first, std::string_view step, std::int64_t count);

  /// How many steps lead from `first` to the last day or time that is not behind `last`, plus one: the `count` of a
  /// calendar that ends there; 0 where `last` is before `first`. Throws the errors of calendar().
  static std::int64_t count_until(std::string_view first, std::string_view last, std::string_view step);

  std::int64_t size() const { return size_; }
  /// Of an index below size().
  std::string name(std::int64_t index) const;
  /// The bytes of the longest name.
  std::size_t longest() const { return longest_; }
  /// The index that is called exactly so; -1 if there is none.
  std::int64_t find(std::string_view name) const;
  /// Whether it is the day or time of a calendar that follows the last one; false for listed names.
  bool is_behind_last(std::string_view name) const;
  /// Whether the names of higher indices are greater, compared byte by byte, as SQLite compares texts.
  bool ascend() const { return order_.empty(); }
  /// How many names are below `name`, or not above it; of ascending names the first index whose name is not.
  std::int64_t count_below(std::string_view name, bool or_equal) const;
  /// Those of the indices begin, begin + step, begin + 2 * step and so on, which are `count` and all below size().
  Ptr slice(std::int64_t begin, std::int64_t step, std::int64_t count) const;
  /// Whether the first of these names are all of `other`, which then may grow to these.
  bool begin_with(const IndexNames& other) const;

  bool is_calendar() const { return step_ > 0; }
  /// Those of a calendar, as calendar() takes them.
  std::string first() const { return moment(0); }
  std::string step() const;

  /// The nearest name, for a hint; empty if none is near.
  std::string nearest(std::string_view name) const;

  friend bool operator==(const IndexNames& a, const IndexNames& b);

 private:
  IndexNames() = default;

  std::string moment(std::int64_t index) const;
  std::optional<std::int64_t> step_called(std::string_view name) const;

  std::int64_t size_ = 0;
  std::size_t longest_ = 0;
  std::vector<std::string> list_;
  std::vector<std::int64_t> order_;  // indices by ascending name; empty if that is the order of the list
  // Of a calendar: seconds since 1970, or months since the year 0 with the day and the seconds that all have.
  std::int64_t first_ = 0;
  std::int64_t step_ = 0;
  bool by_months_ = false;
  std::int64_t rest_ = 0;  // by months: seconds since the first of the month
  bool has_time_ = false;
};

/// The names of the dimensions of a tensor, in their order. Equal where the names are, whoever holds them.
class DimensionNames {
 public:
  DimensionNames() = default;
  explicit DimensionNames(std::vector<IndexNames::Ptr> names);

  /// Whether no dimension has names.
  bool empty() const { return names_.empty(); }
  /// Those of dimension `d`; null if its indices have none.
  IndexNames::Ptr at(std::size_t d) const { return d < names_.size() ? names_[d] : nullptr; }
  void set(std::size_t d, IndexNames::Ptr names);

  friend bool operator==(const DimensionNames& a, const DimensionNames& b);

 private:
  std::vector<IndexNames::Ptr> names_;  // the last one is not null
};

/// Whether both are of the same names; null is the same as null.
bool same_names(const IndexNames::Ptr& a, const IndexNames::Ptr& b);

}  // namespace eindb

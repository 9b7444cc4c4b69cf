#include "tensor/index_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kMonthsOfYear = 12;
constexpr std::int64_t kLastYear = 9999;
constexpr std::int64_t kDaysOfAllMonths = 28;
constexpr std::size_t kMostSuggested = 10'000;

[[noreturn]] void refuse(std::string message, std::string remedy = {}) {
  throw Error(ErrorKind::Value, std::move(message), std::nullopt, std::move(remedy));
}

/// A day, or a day with a time.
struct Moment {
  std::chrono::year_month_day day;
  std::int64_t seconds = 0;  // since midnight
  bool has_time = false;

  std::int64_t since_1970() const { return std::chrono::sys_days(day).time_since_epoch().count() * kDay + seconds; }
  std::int64_t months() const {
    return static_cast<int>(day.year()) * kMonthsOfYear + static_cast<unsigned>(day.month()) - 1;
  }
  std::int64_t rest() const {
    return (static_cast<std::int64_t>(static_cast<unsigned>(day.day())) - 1) * kDay + seconds;
  }
};

/// The number that the digits at `position` are; nullopt if there are others.
std::optional<int> digits(std::string_view text, std::size_t position, std::size_t count) {
  int number = 0;
  for (const char c : text.substr(position, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// Reads YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, and nothing else.
std::optional<Moment> moment_of(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  constexpr std::size_t kLength = 19;
  const bool has_time = text.size() == kLength;
  if (!has_time && text.size() != kDateLength) return std::nullopt;
  if (text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day) return std::nullopt;
  const auto date = std::chrono::year(*year) / *month / *day;
  if (!date.ok()) return std::nullopt;
  if (!has_time) return Moment{date, 0, false};
  if (text[10] != ' ' || text[13] != ':' || text[16] != ':') return std::nullopt;
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return Moment{date, (*hour * 60 + *minute) * 60 + *second, true};
}

Moment read_moment(std::string_view text) {
  if (const auto moment = moment_of(text)) return *moment;
  refuse("'" + std::string(text) + "' is no day or time", "write YYYY-MM-DD or YYYY-MM-DD HH:MM:SS");
}

struct Unit {
  std::string_view name;
  std::int64_t size;  // in seconds or months
  bool is_months;
};
constexpr std::array kUnits{Unit{"year", kMonthsOfYear, true}, Unit{"month", 1, true},    Unit{"week", 7 * kDay, false},
                            Unit{"day", kDay, false},          Unit{"hour", 3600, false}, Unit{"minute", 60, false},
                            Unit{"second", 1, false}};

struct Step {
  std::int64_t size = 0;
  bool is_months = false;
};

Step read_step(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t count = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc{} && count > 0 && count <= kMost && rest != end && *rest == ' ') {
    auto unit = to_lower(std::string_view(rest + 1, static_cast<std::size_t>(end - rest - 1)));
    if (unit.ends_with('s')) unit.pop_back();
    for (const auto& known : kUnits)
      if (known.name == unit) return {count * known.size, known.is_months};
  }
  refuse("'" + std::string(text) + "' is no step",
         "write a number and a unit, such as '1 day', '6 hours' or '3 months'");
}

/// The step of a calendar that begins at `first`.
Step checked_step(const Moment& first, std::string_view text) {
  const auto step = read_step(text);
  if (!first.has_time && !step.is_months && step.size % kDay != 0) {
    refuse("a calendar of days cannot take steps of " + std::string(text),
           "write a time behind the first day: 'YYYY-MM-DD 00:00:00'");
  }
  if (step.is_months && static_cast<unsigned>(first.day.day()) > kDaysOfAllMonths) {
    refuse("not every month has a day " + std::to_string(static_cast<unsigned>(first.day.day())),
           "begin at a day from 1 to 28, or list the days: IN (SELECT ...)");
  }
  return step;
}

void check_name(std::string_view name, std::size_t longest) {
  if (name.empty()) refuse("a name of an index cannot be empty");
  if (name.find('\0') != std::string_view::npos) refuse("a name of an index cannot have a zero byte");
  if (name.size() > longest) {
    refuse("a name of an index has " + std::to_string(name.size()) + " bytes",
           "names have at most " + std::to_string(longest) + " bytes");
  }
}

}  // namespace

IndexNames::Ptr IndexNames::listed(std::vector<std::string> names) {
  const std::shared_ptr<IndexNames> made(new IndexNames());
  for (const auto& name : names) {
    check_name(name, kLongest);
    made->longest_ = std::max(made->longest_, name.size());
  }
  made->size_ = static_cast<std::int64_t>(names.size());
  std::vector<std::int64_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  const auto name_of = [&](std::int64_t index) -> const std::string& { return names[static_cast<std::size_t>(index)]; };
  if (!std::is_sorted(names.begin(), names.end())) {
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return std::pair(std::string_view(name_of(a)), a) < std::pair(std::string_view(name_of(b)), b);
    });
    made->order_ = order;
  }
  const auto same = std::adjacent_find(order.begin(), order.end(),
                                       [&](std::int64_t a, std::int64_t b) { return name_of(a) == name_of(b); });
  if (same != order.end()) {
    refuse("'" + name_of(*same) + "' is the name of index " + std::to_string(*same) + " and of index " +
               std::to_string(*(same + 1)),
           "names of indices are distinct: SELECT DISTINCT ... ORDER BY ...");
  }
  made->list_ = std::move(names);
  return made;
}

IndexNames::Ptr IndexNames::calendar(std::string_view first, std::string_view step_text, std::int64_t count) {
  CHECK(count >= 0, "a calendar has no fewer days than none");
  const auto begin = read_moment(first);
  const auto step = checked_step(begin, step_text);
  const std::shared_ptr<IndexNames> made(new IndexNames());
  made->size_ = count;
  made->step_ = step.size;
  made->by_months_ = step.is_months;
  made->first_ = step.is_months ? begin.months() : begin.since_1970();
  made->rest_ = step.is_months ? begin.rest() : 0;
  made->has_time_ = begin.has_time;
  made->longest_ = made->moment(0).size();
  const auto last_moment = read_moment("9999-12-31 23:59:59");
  const auto last = step.is_months ? last_moment.months() : last_moment.since_1970();
  if (count > (last - made->first_) / step.size + 1)
    refuse(std::to_string(count) + " steps of " + std::string(step_text) + " from " + std::string(first) +
           " lead beyond the year " + std::to_string(kLastYear));
  return made;
}

std::int64_t IndexNames::count_until(std::string_view first, std::string_view last, std::string_view step_text) {
  const auto begin = read_moment(first);
  const auto end = read_moment(last);
  const auto step = checked_step(begin, step_text);
  const auto seconds = end.since_1970() - begin.since_1970();
  if (seconds < 0) return 0;
  if (!step.is_months) return seconds / step.size + 1;
  const auto months = end.months() - begin.months() - (end.rest() < begin.rest() ? 1 : 0);
  return months / step.size + 1;
}

std::string IndexNames::moment(std::int64_t index) const {
  auto seconds = first_ + index * step_;
  if (by_months_) {
    const auto months = seconds;
    const auto month =
        std::chrono::year(static_cast<int>(months / kMonthsOfYear)) / static_cast<int>(months % kMonthsOfYear + 1) / 1;
    seconds = std::chrono::sys_days(month).time_since_epoch().count() * kDay + rest_;
  }
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day day(midnight);
  const auto rest = static_cast<int>((time - midnight).count());
  std::array<char, 40> text{};
  const auto year = static_cast<int>(day.year());
  const auto month = static_cast<unsigned>(day.month());
  const auto of_month = static_cast<unsigned>(day.day());
  if (has_time_) {
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d", year, month, of_month, rest / 3600,
                  rest / 60 % 60, rest % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", year, month, of_month);
  }
  return text.data();
}

std::string IndexNames::name(std::int64_t index) const {
  DCHECK(index >= 0 && index < size_, "an index that has a name");
  return is_calendar() ? moment(index) : list_[static_cast<std::size_t>(index)];
}

std::int64_t IndexNames::count_below(std::string_view name, bool or_equal) const {
  const auto is_before = [&](std::int64_t position) {
    if (is_calendar()) {
      const auto other = moment(position);
      return or_equal ? other <= name : other < name;
    }
    const auto index = order_.empty() ? position : order_[static_cast<std::size_t>(position)];
    const std::string_view other = list_[static_cast<std::size_t>(index)];
    return or_equal ? other <= name : other < name;
  };
  std::int64_t low = 0;
  std::int64_t high = size_;
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (is_before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The index that a calendar without end has for a day or time; nullopt for what is none of its steps.
std::optional<std::int64_t> IndexNames::step_called(std::string_view name) const {
  const auto moment = moment_of(name);
  if (!moment || moment->has_time != has_time_) return std::nullopt;
  if (by_months_ && moment->rest() != rest_) return std::nullopt;
  const auto distance = (by_months_ ? moment->months() : moment->since_1970()) - first_;
  return distance >= 0 && distance % step_ == 0 ? std::optional(distance / step_) : std::nullopt;
}

bool IndexNames::is_behind_last(std::string_view name) const { return is_calendar() && step_called(name) == size_; }

std::int64_t IndexNames::find(std::string_view name) const {
  if (is_calendar()) {
    const auto index = step_called(name);
    return index && *index < size_ ? *index : -1;
  }
  const auto position = count_below(name, false);
  if (position == size_) return -1;
  const auto index = order_.empty() ? position : order_[static_cast<std::size_t>(position)];
  return list_[static_cast<std::size_t>(index)] == name ? index : -1;
}

IndexNames::Ptr IndexNames::slice(std::int64_t begin, std::int64_t step, std::int64_t count) const {
  if (is_calendar() && step > 0) {
    const std::shared_ptr<IndexNames> made(new IndexNames(*this));
    made->size_ = count;
    made->first_ = first_ + begin * step_;
    // The step between single days matters only to who extends them.
    if (count > 1) made->step_ = step_ * step;
    return made;
  }
  std::vector<std::string> names;
  for (std::int64_t n = 0; n < count; ++n) names.push_back(name(begin + n * step));
  return listed(std::move(names));
}

bool IndexNames::begin_with(const IndexNames& other) const {
  if (other.size_ > size_ || is_calendar() != other.is_calendar()) return false;
  if (!is_calendar()) return std::equal(other.list_.begin(), other.list_.end(), list_.begin());
  return first_ == other.first_ && step_ == other.step_ && by_months_ == other.by_months_ && rest_ == other.rest_ &&
         has_time_ == other.has_time_;
}

std::string IndexNames::step() const {
  for (const auto& unit : kUnits) {
    if (unit.is_months != by_months_ || step_ % unit.size != 0 || unit.name == "week") continue;
    const auto count = step_ / unit.size;
    return std::to_string(count) + " " + std::string(unit.name) + (count == 1 ? "" : "s");
  }
  CHECK(false, "a step is a number of seconds or of months");
}

std::string IndexNames::nearest(std::string_view name) const {
  if (is_calendar() || list_.size() > kMostSuggested) return {};
  return nearest_name(name, std::span<const std::string>(list_)).value_or("");
}

bool operator==(const IndexNames& a, const IndexNames& b) { return a.size_ == b.size_ && a.begin_with(b); }

bool same_names(const IndexNames::Ptr& a, const IndexNames::Ptr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

DimensionNames::DimensionNames(std::vector<IndexNames::Ptr> names) : names_(std::move(names)) {
  while (!names_.empty() && names_.back() == nullptr) names_.pop_back();
}

void DimensionNames::set(std::size_t d, IndexNames::Ptr names) {
  if (d >= names_.size() && names == nullptr) return;
  if (d >= names_.size()) names_.resize(d + 1);
  names_[d] = std::move(names);
  while (!names_.empty() && names_.back() == nullptr) names_.pop_back();
}

bool operator==(const DimensionNames& a, const DimensionNames& b) {
  return std::equal(a.names_.begin(), a.names_.end(), b.names_.begin(), b.names_.end(), same_names);
}

}  // namespace eindb

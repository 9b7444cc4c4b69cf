#include "engine/dialect/moments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "common/letter_case.hpp"

namespace eindb::dialect {
namespace {

constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kLastYear = 9999;

/// Reads digits and signs from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    while (text_.ends_with(' ')) text_.remove_suffix(1);
    skip_spaces();
  }

  bool at_end() const { return text_.empty(); }
  bool out_of_range() const { return out_of_range_; }
  /// Notes that the text has the form of a moment, but a field is too large.
  std::nullopt_t too_large() {
    out_of_range_ = true;
    return std::nullopt;
  }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool accept(char c) {
    if (peek() != c || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_spaces() {
    while (accept(' ')) {
    }
  }
  bool at_digit() const { return peek() >= '0' && peek() <= '9'; }
  /// At least `least` and at most `most` digits.
  std::optional<std::int64_t> digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9') ++count;
    if (count < least) return std::nullopt;
    std::int64_t value = 0;
    std::from_chars(text_.data(), text_.data() + count, value);
    text_.remove_prefix(count);
    return value;
  }
  /// The digits after a point, as microseconds, rounded.
  std::int64_t fraction() {
    double scale = 0.1;
    double value = 0;
    for (; at_digit(); text_.remove_prefix(1), scale /= 10) value += scale * (peek() - '0');
    return std::llround(value * static_cast<double>(kSecond));
  }
  std::string_view word() {
    std::size_t count = 0;
    while (count < text_.size() && ((text_[count] | 0x20) >= 'a' && (text_[count] | 0x20) <= 'z')) ++count;
    const auto out = text_.substr(0, count);
    text_.remove_prefix(count);
    return out;
  }

 private:
  std::string_view text_;
  bool out_of_range_ = false;
};

/// Returns `read`, and sets *out_of_range if a field of the text was too large.
template <class T>
std::optional<T> read_by(const Reader& reader, std::optional<T> read, bool* out_of_range) {
  if (out_of_range != nullptr && reader.out_of_range()) *out_of_range = true;
  return read;
}

std::optional<std::int64_t> date_at(Reader& reader) {
  const auto year = reader.digits(4, 8);
  if (!year) return std::nullopt;
  CivilDate date{.year = *year};
  if (reader.accept('-')) {
    const auto month = reader.digits(1, 2);
    if (!month || !reader.accept('-')) return std::nullopt;
    const auto day = reader.digits(1, 2);
    if (!day) return std::nullopt;
    date.month = static_cast<int>(*month);
    date.day = static_cast<int>(*day);
  } else if (*year > kLastYear * 1000) {
    date = {*year / 10000, static_cast<int>(*year / 100 % 100), static_cast<int>(*year % 100)};
  } else {
    return std::nullopt;
  }
  const bool exists = date.year >= 1 && date.year <= kLastYear && date.month >= 1 && date.month <= 12 &&
                      date.day >= 1 && date.day <= days_in_month(date.year, date.month);
  if (!exists) return reader.too_large();
  return days_of(date);
}

std::optional<std::int64_t> time_at(Reader& reader) {
  const auto hour = reader.digits(1, 2);
  if (!hour || !reader.accept(':')) return std::nullopt;
  const auto minute = reader.digits(2, 2);
  if (!minute) return std::nullopt;
  std::int64_t second = 0;
  std::int64_t fraction = 0;
  if (reader.accept(':')) {
    const auto read = reader.digits(2, 2);
    if (!read) return std::nullopt;
    second = *read;
    if (reader.accept('.')) fraction = reader.fraction();
  }
  const auto time = *hour * kHour + *minute * kMinute + second * kSecond + fraction;
  if (*hour > 24 || *minute > 59 || second > 60 || time > kDay) return reader.too_large();
  return time;
}

// Z, UTC, +02, -03:30: microseconds east of Greenwich.
std::optional<std::int64_t> zone_at(Reader& reader) {
  reader.skip_spaces();
  if (reader.at_end()) return 0;
  const auto name = to_lower(reader.word());
  if (name == "z" || name == "utc" || name == "gmt")
    return reader.at_end() ? std::optional<std::int64_t>(0) : std::nullopt;
  if (!name.empty()) return std::nullopt;
  const bool west = reader.accept('-');
  if (!west && !reader.accept('+')) return std::nullopt;
  const auto hours = reader.digits(1, 2);
  if (!hours) return std::nullopt;
  std::int64_t minutes = 0;
  if (reader.accept(':') || reader.at_digit()) {
    const auto read = reader.digits(2, 2);
    if (!read) return std::nullopt;
    minutes = *read;
  }
  if (!reader.at_end()) return std::nullopt;
  if (*hours > 15 || minutes > 59) return reader.too_large();
  const auto offset = *hours * kHour + minutes * kMinute;
  return west ? -offset : offset;
}

std::string two_digits(std::int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); }

}  // namespace

std::int64_t day_of(std::int64_t microseconds) {
  return microseconds >= 0 ? microseconds / kDay : -((-microseconds + kDay - 1) / kDay);
}

std::int64_t time_of_day(std::int64_t microseconds) { return microseconds - day_of(microseconds) * kDay; }

bool is_valid_day(std::int64_t day) {
  return day >= days_of({.year = 1, .month = 1, .day = 1}) &&
         day <= days_of({.year = kLastYear, .month = 12, .day = 31});
}

int days_in_month(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays.at(static_cast<std::size_t>(month - 1));
}

// Years begin in March here, so that leap days are the last of a year; 400 years have 146,097 days.
std::int64_t days_of(const CivilDate& date) {
  const auto year = date.year - (date.month <= 2 ? 1 : 0);
  const auto era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = year - era * 400;
  const auto day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

CivilDate civil_of(std::int64_t days) {
  days += 719468;
  const auto era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = days - era * 146097;
  const auto year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const auto day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto month = (5 * day_of_year + 2) / 153;
  const auto civil_month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  return {year_of_era + era * 400 + (civil_month <= 2 ? 1 : 0), civil_month,
          static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1)};
}

std::optional<std::int64_t> read_date(std::string_view text, bool* out_of_range) {
  const auto moment = read_timestamp(text, false, out_of_range);
  return moment ? std::optional(day_of(*moment)) : std::nullopt;
}

std::optional<std::int64_t> read_timestamp(std::string_view text, bool zoned, bool* out_of_range) {
  Reader reader(text);
  const auto read = [&]() -> std::optional<std::int64_t> {
    const auto days = date_at(reader);
    if (!days) return std::nullopt;
    if (reader.at_end()) return *days * kDay;
    if (!reader.accept('T') && !reader.accept('t') && !reader.accept(' ')) return std::nullopt;
    reader.skip_spaces();
    const auto time = time_at(reader);
    if (!time) return std::nullopt;
    const auto zone = zone_at(reader);
    if (!zone) return std::nullopt;
    return *days * kDay + *time - (zoned ? *zone : 0);
  };
  return read_by(reader, read(), out_of_range);
}

std::optional<std::int64_t> read_time(std::string_view text, bool* out_of_range) {
  Reader reader(text);
  auto time = time_at(reader);
  if (time && !zone_at(reader)) time.reset();
  return read_by(reader, time, out_of_range);
}

std::string date_text(std::int64_t days) {
  const auto [year, month, day] = civil_of(days);
  auto digits = std::to_string(year);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return digits + "-" + two_digits(month) + "-" + two_digits(day);
}

std::string time_text(std::int64_t microseconds) {
  auto out = two_digits(microseconds / kHour) + ":" + two_digits(microseconds / kMinute % 60) + ":" +
             two_digits(microseconds / kSecond % 60);
  auto fraction = std::to_string(microseconds % kSecond);
  if (fraction == "0") return out;
  fraction.insert(0, 6 - fraction.size(), '0');
  while (fraction.ends_with('0')) fraction.pop_back();
  return out + "." + fraction;
}

std::string timestamp_text(std::int64_t microseconds, bool zoned) {
  const auto days = day_of(microseconds);
  return date_text(days) + " " + time_text(microseconds - days * kDay) + (zoned ? "+00" : "");
}

std::optional<std::int64_t> add_months(std::int64_t microseconds, std::int64_t months) {
  const auto days = day_of(microseconds);
  auto date = civil_of(days);
  const auto index = date.year * 12 + (date.month - 1) + months;
  date.year = index >= 0 ? index / 12 : -((-index + 11) / 12);
  date.month = static_cast<int>(index - date.year * 12) + 1;
  if (date.year < 1 || date.year > kLastYear) return std::nullopt;
  date.day = std::min(date.day, days_in_month(date.year, date.month));
  return days_of(date) * kDay + (microseconds - days * kDay);
}

}  // namespace eindb::dialect

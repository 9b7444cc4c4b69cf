#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eindb::dialect {

/// Dates and times as PostgreSQL has them, in the Gregorian calendar without leap seconds. Dates are days, and
/// timestamps microseconds, since 1970-01-01; those with a time zone are in UTC. Years 1 to 9999.
struct CivilDate {
  std::int64_t year = 1970;
  int month = 1;
  int day = 1;
};

struct Interval {
  std::int64_t months = 0;
  std::int64_t days = 0;
  std::int64_t microseconds = 0;
};

inline constexpr std::int64_t kSecond = 1000000;
inline constexpr std::int64_t kDay = 86400 * kSecond;
inline constexpr std::int64_t kDaysOfMonth = 30;  // where months are converted to days

std::int64_t days_of(const CivilDate& date);
CivilDate civil_of(std::int64_t days);
/// The day of a timestamp, and the microseconds since it began.
std::int64_t day_of(std::int64_t microseconds);
std::int64_t time_of_day(std::int64_t microseconds);
/// Whether the day is in the years 1 to 9999.
bool is_valid_day(std::int64_t day);
int days_in_month(std::int64_t year, int month);

// The functions that read give nullopt for other texts. `out_of_range`, if it is given, is set to true where the text
// has the form, and a field of it is too large: 2024-02-30, 25:00.

/// Reads 2024-02-29, 20240229, 2024-2-9, and a date with a time behind it.
std::optional<std::int64_t> read_date(std::string_view text, bool* out_of_range = nullptr);
/// Reads a date alone or with a time: 2024-02-29 12:30, 2024-02-29T12:30:00.5, 2024-02-29 12:30+02. A zone is
/// subtracted if `zoned`, and ignored otherwise, as in PostgreSQL.
std::optional<std::int64_t> read_timestamp(std::string_view text, bool zoned, bool* out_of_range = nullptr);
/// Reads 12:30, 12:30:59.25: microseconds of the day.
std::optional<std::int64_t> read_time(std::string_view text, bool* out_of_range = nullptr);
/// Reads PostgreSQL's forms: '1 year 2 mons 3 days 04:05:06', '90 minutes', '1.5 hours', '1 day ago', '-1 days +02:00',
/// '3 4:05' (days and a time), '1-2' (years and months), '10' (seconds), 'P1Y2M3DT4H5M6S'. No unit occurs twice.
std::optional<Interval> read_interval(std::string_view text, bool* out_of_range = nullptr);

std::string date_text(std::int64_t days);
/// 2024-02-29 12:30:00.5, with +00 behind it if `zoned`.
std::string timestamp_text(std::int64_t microseconds, bool zoned);
std::string time_text(std::int64_t microseconds);
/// 1 year 2 mons 3 days 04:05:06, -1 days +02:00:00, as PostgreSQL writes intervals.
std::string interval_text(const Interval& interval);

/// Fractions of months become days, and those of days become time, as in PostgreSQL.
Interval scaled(const Interval& interval, double factor);
/// nullopt if the result is not a date of the years 1 to 9999. A day that the month lacks becomes its last one.
std::optional<std::int64_t> add_months(std::int64_t microseconds, std::int64_t months);

}  // namespace eindb::dialect

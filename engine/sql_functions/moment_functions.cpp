// Dates, times and intervals, which are texts in SQLite.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/dialect/moments.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"
#include "engine/sql_functions/timestamp.hpp"

namespace eindb {
namespace pg_moments {  // names that other groups of functions have, too
namespace {

using dialect::kDay;
using dialect::kDaysOfMonth;
using dialect::kSecond;

[[noreturn]] void refuse(std::string_view sqlstate, std::string message) {
  throw CodedError(sqlstate, ErrorKind::Value, std::move(message));
}
[[noreturn]] void bad_input(std::string_view type, const std::string& text, bool out_of_range = false) {
  if (out_of_range) refuse("22008", "date/time field value out of range: \"" + text + "\"");
  refuse("22007", "invalid input syntax for type " + std::string(type) + ": \"" + text + "\"");
}

bool is_zoned(const std::string& text) { return text.find('+', 10) != std::string::npos; }

std::int64_t date_of(const SqliteValue& value) {
  const auto text = text_of(value);
  bool out_of_range = false;
  const auto days = dialect::read_date(text, &out_of_range);
  if (!days) bad_input("date", text, out_of_range);
  return *days;
}

std::int64_t moment_of(const SqliteValue& value, bool zoned) {
  const auto text = text_of(value);
  bool out_of_range = false;
  const auto moment = dialect::read_timestamp(text, zoned, &out_of_range);
  if (!moment) bad_input("timestamp", text, out_of_range);
  return *moment;
}

dialect::Interval interval_of(const SqliteValue& value) {
  const auto text = text_of(value);
  const auto interval = dialect::read_interval(text);
  if (!interval) bad_input("interval", text);
  return *interval;
}

SqliteValue date_value(std::int64_t days) {
  if (!dialect::is_valid_day(days)) refuse("22008", "date out of range");
  return dialect::date_text(days);
}

SqliteValue to_date(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(dialect::date_from(text_of(values[0])));
}
SqliteValue to_time(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(dialect::time_from(text_of(values[0])));
}
SqliteValue to_timestamp(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(dialect::timestamp_from(text_of(values[0]), false));
}
SqliteValue to_timestamptz(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(dialect::timestamp_from(text_of(values[0]), true));
}
SqliteValue to_interval(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(dialect::interval_from(text_of(values[0])));
}
SqliteValue timestamp_of_seconds(PgValues values) {
  if (is_null(values[0])) return kNull;
  const double seconds = std::get<double>(values[0]);
  if (!(std::fabs(seconds) < 2.5e11)) refuse("22008", "timestamp out of range");
  return dialect::timestamp_text(std::llround(seconds * static_cast<double>(kSecond)), true);
}

/// A time or timestamp with so many digits of its seconds, up to six: timestamp(0).
SqliteValue with_precision(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  std::int64_t unit = 1;
  for (auto digits = integer_of(values[1]); digits < 6; ++digits) unit *= 10;
  const auto rounded = [&](std::int64_t moment) {
    return (moment < 0 ? moment - unit / 2 : moment + unit / 2) / unit * unit;
  };
  if (const auto time = dialect::read_time(text)) return dialect::time_text(rounded(*time));
  const bool zoned = is_zoned(text);
  const auto moment = rounded(moment_of(values[0], zoned));
  date_value(dialect::day_of(moment));
  return dialect::timestamp_text(moment, zoned);
}

std::int64_t days_argument(const SqliteValue& value) {
  const auto days = integer_of(value);
  if (days > 10000000 || days < -10000000) refuse("22008", "date out of range");
  return days;
}
SqliteValue date_plus(PgValues values) {
  return any_null(values) ? kNull : date_value(date_of(values[0]) + days_argument(values[1]));
}
SqliteValue date_minus(PgValues values) {
  return any_null(values) ? kNull : date_value(date_of(values[0]) - days_argument(values[1]));
}
SqliteValue days_between(PgValues values) {
  return any_null(values) ? kNull : integer_value(date_of(values[0]) - date_of(values[1]));
}

SqliteValue shifted(PgValues values, int sign) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const bool zoned = is_zoned(text);
  const auto interval = interval_of(values[1]);
  const auto moved = dialect::add_months(moment_of(values[0], zoned), sign * interval.months);
  if (!moved) refuse("22008", "timestamp out of range");
  const auto moment = *moved + sign * (interval.days * kDay + interval.microseconds);
  date_value(dialect::day_of(moment));
  return dialect::timestamp_text(moment, zoned);
}
SqliteValue timestamp_plus(PgValues values) { return shifted(values, 1); }
SqliteValue timestamp_minus(PgValues values) { return shifted(values, -1); }

SqliteValue time_between(PgValues values) {
  if (any_null(values)) return kNull;
  const auto difference = moment_of(values[0], true) - moment_of(values[1], true);
  return dialect::interval_text({.months = 0, .days = difference / kDay, .microseconds = difference % kDay});
}

/// age(): years, months and days counted by the calendar.
SqliteValue age(PgValues values) {
  if (any_null(values)) return kNull;
  auto later = moment_of(values[0], true);
  auto earlier = moment_of(values[1], true);
  const int sign = later < earlier ? -1 : 1;
  if (sign < 0) std::swap(later, earlier);
  const auto parts = [](std::int64_t moment) {
    const auto days = dialect::day_of(moment);
    return std::pair(dialect::civil_of(days), moment - days * kDay);
  };
  const auto [a, a_time] = parts(later);
  const auto [b, b_time] = parts(earlier);
  auto months = (a.year - b.year) * 12 + (a.month - b.month);
  std::int64_t days = a.day - b.day;
  auto time = a_time - b_time;
  if (time < 0) {
    time += kDay;
    --days;
  }
  if (days < 0) {
    days += dialect::days_in_month(b.year, b.month);
    --months;
  }
  return dialect::interval_text({sign * months, sign * days, sign * time});
}

SqliteValue interval_sum(PgValues values, int sign) {
  if (any_null(values)) return kNull;
  const auto a = interval_of(values[0]);
  const auto b = interval_of(values[1]);
  return dialect::interval_text(
      {a.months + sign * b.months, a.days + sign * b.days, a.microseconds + sign * b.microseconds});
}
SqliteValue interval_plus(PgValues values) { return interval_sum(values, 1); }
SqliteValue interval_minus(PgValues values) { return interval_sum(values, -1); }

/// The length by which PostgreSQL compares intervals: months have thirty days. In microseconds.
SqliteValue interval_span(PgValues values) {
  if (any_null(values)) return kNull;
  const auto interval = interval_of(values[0]);
  std::int64_t span = 0;
  if (__builtin_mul_overflow(interval.months * kDaysOfMonth + interval.days, kDay, &span) ||
      __builtin_add_overflow(span, interval.microseconds, &span))
    refuse("22008", "interval out of range");
  return span;
}

/// generate_series(first, last, step) of moments, as an array of JSON.
SqliteValue moment_series(PgValues values) {
  if (any_null(values)) return kNull;
  constexpr std::size_t kLongest = 1'000'000;
  const bool zoned = text_of(values[0]).ends_with("+00");
  const auto last = moment_of(values[1], true);
  const auto step = interval_of(values[2]);
  const auto span = std::get<std::int64_t>(interval_span(values.subspan(2, 1)));
  if (span == 0) refuse("22023", "step size cannot equal zero");
  const auto first = moment_of(values[0], true);
  std::string json = "[";
  std::size_t count = 0;
  for (std::int64_t n = 0;; ++n) {
    const auto moved = dialect::add_months(first, n * step.months);
    if (!moved) break;
    const auto at = *moved + n * (step.days * kDay + step.microseconds);
    if ((span > 0 ? at > last : at < last) || !dialect::is_valid_day(dialect::day_of(at))) break;
    if (++count > kLongest) refuse("0A000", "generate_series of more than a million moments");
    json += (json.size() > 1 ? ",\"" : "\"") + dialect::timestamp_text(at, zoned) + "\"";
  }
  return json + "]";
}

SqliteValue interval_scaled(PgValues values, bool divides) {
  if (any_null(values)) return kNull;
  const auto interval = interval_of(values[0]);
  double factor = std::holds_alternative<double>(values[1]) ? std::get<double>(values[1])
                                                            : static_cast<double>(integer_of(values[1]));
  if (divides && factor == 0) refuse("22012", "division by zero");
  if (divides) factor = 1 / factor;
  if (!(std::fabs(factor) < 1e6)) refuse("22008", "interval out of range");
  return dialect::interval_text(dialect::scaled(interval, factor));
}
SqliteValue interval_times(PgValues values) { return interval_scaled(values, false); }
SqliteValue interval_by(PgValues values) { return interval_scaled(values, true); }

// justify_hours(), justify_days() and justify_interval(): 24 hours are a day, and 30 days a month.

/// Gives both parts one sign, where `whole` counts so many of `rest`.
void give_one_sign(std::int64_t& whole, std::int64_t& rest, std::int64_t size) {
  if (whole > 0 && rest < 0) {
    rest += size;
    --whole;
  } else if (whole < 0 && rest > 0) {
    rest -= size;
    ++whole;
  }
}
void carry(std::int64_t& whole, std::int64_t& rest, std::int64_t size) {
  whole += rest / size;
  rest %= size;
}

SqliteValue justified(PgValues values, std::int64_t dialect::Interval::*whole, std::int64_t dialect::Interval::*rest,
                      std::int64_t size) {
  if (any_null(values)) return kNull;
  auto interval = interval_of(values[0]);
  carry(interval.*whole, interval.*rest, size);
  give_one_sign(interval.*whole, interval.*rest, size);
  return dialect::interval_text(interval);
}
SqliteValue justify_hours(PgValues values) {
  return justified(values, &dialect::Interval::days, &dialect::Interval::microseconds, kDay);
}
SqliteValue justify_days(PgValues values) {
  return justified(values, &dialect::Interval::months, &dialect::Interval::days, kDaysOfMonth);
}
SqliteValue justify_interval(PgValues values) {
  if (any_null(values)) return kNull;
  auto [months, days, time] = interval_of(values[0]);
  carry(days, time, kDay);
  carry(months, days, kDaysOfMonth);
  const bool is_behind = days < 0 || (days == 0 && time < 0);
  const bool is_ahead = days > 0 || (days == 0 && time > 0);
  if (months > 0 && is_behind) {
    days += kDaysOfMonth;
    --months;
  } else if (months < 0 && is_ahead) {
    days -= kDaysOfMonth;
    ++months;
  }
  give_one_sign(days, time, kDay);
  return dialect::interval_text({months, days, time});
}

SqliteValue make_date(PgValues values) {
  if (any_null(values)) return kNull;
  const auto year = integer_of(values[0]);
  const auto month = integer_of(values[1]);
  const auto day = integer_of(values[2]);
  const bool exists = year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
                      day <= dialect::days_in_month(year, static_cast<int>(month));
  if (!exists)
    refuse("22008", "date field value out of range: " + std::to_string(year) + "-" + std::to_string(month) + "-" +
                        std::to_string(day));
  return date_value(dialect::days_of({year, static_cast<int>(month), static_cast<int>(day)}));
}

std::int64_t weekday(std::int64_t days) { return ((days + 4) % 7 + 7) % 7; }  // Sunday is 0

std::pair<std::int64_t, std::int64_t> iso_week(std::int64_t days) {
  const auto thursday = days + 4 - (weekday(days) == 0 ? 7 : weekday(days));
  const auto year = dialect::civil_of(thursday).year;
  return {year, (thursday - dialect::days_of({year, 1, 1})) / 7 + 1};
}

SqliteValue date_part(PgValues values) {
  if (any_null(values)) return kNull;
  const auto part = to_lower(text_of(values[0]));
  const auto moment = moment_of(values[1], true);
  const auto days = dialect::day_of(moment);
  const auto time = moment - days * kDay;
  const auto date = dialect::civil_of(days);
  const auto number = [](std::int64_t value) { return SqliteValue(static_cast<double>(value)); };
  if (part == "year") return number(date.year);
  if (part == "month") return number(date.month);
  if (part == "day") return number(date.day);
  if (part == "hour") return number(time / (3600 * kSecond));
  if (part == "minute") return number(time / (60 * kSecond) % 60);
  if (part == "second") return static_cast<double>(time % (60 * kSecond)) / static_cast<double>(kSecond);
  if (part == "milliseconds") return static_cast<double>(time % (60 * kSecond)) / 1000;
  if (part == "microseconds") return number(time % (60 * kSecond));
  if (part == "epoch") return static_cast<double>(moment) / static_cast<double>(kSecond);
  if (part == "dow") return number(weekday(days));
  if (part == "isodow") return number(weekday(days) == 0 ? 7 : weekday(days));
  if (part == "doy") return number(days - dialect::days_of({date.year, 1, 1}) + 1);
  if (part == "quarter") return number((date.month - 1) / 3 + 1);
  if (part == "week") return number(iso_week(days).second);
  if (part == "isoyear") return number(iso_week(days).first);
  if (part == "decade") return number(date.year / 10);
  if (part == "century") return number((date.year + 99) / 100);
  if (part == "millennium") return number((date.year + 999) / 1000);
  refuse("22023", "unit \"" + part + "\" not recognized for type timestamp");
}

SqliteValue interval_part(PgValues values) {
  if (any_null(values)) return kNull;
  const auto part = to_lower(text_of(values[0]));
  const auto [months, days, time] = interval_of(values[1]);
  const auto number = [](std::int64_t value) { return SqliteValue(static_cast<double>(value)); };
  if (part == "year") return number(months / 12);
  if (part == "month") return number(months % 12);
  if (part == "day") return number(days);
  if (part == "hour") return number(time / (3600 * kSecond));
  if (part == "minute") return number(time / (60 * kSecond) % 60);
  if (part == "second") return static_cast<double>(time % (60 * kSecond)) / static_cast<double>(kSecond);
  if (part == "epoch") {
    const std::int64_t years = months / 12;
    return static_cast<double>(years) * 31557600 + static_cast<double>(months % 12) * 2592000 +
           static_cast<double>(days) * 86400 + static_cast<double>(time) / static_cast<double>(kSecond);
  }
  refuse("22023", "unit \"" + part + "\" not recognized for type interval");
}

SqliteValue date_trunc(PgValues values) {
  if (any_null(values)) return kNull;
  const auto unit = to_lower(text_of(values[0]));
  const auto text = text_of(values[1]);
  const bool zoned = is_zoned(text);
  const auto moment = moment_of(values[1], zoned);
  const auto days = dialect::day_of(moment);
  const auto time = moment - days * kDay;
  const auto date = dialect::civil_of(days);
  const auto of_date = [&](std::int64_t year, int month) {
    return SqliteValue(dialect::timestamp_text(dialect::days_of({year, month, 1}) * kDay, zoned));
  };
  const auto of_time = [&](std::int64_t step) {
    return SqliteValue(dialect::timestamp_text(days * kDay + time / step * step, zoned));
  };
  if (unit == "microseconds") return of_time(1);
  if (unit == "milliseconds") return of_time(1000);
  if (unit == "second") return of_time(kSecond);
  if (unit == "minute") return of_time(60 * kSecond);
  if (unit == "hour") return of_time(3600 * kSecond);
  if (unit == "day") return of_time(kDay);
  if (unit == "week")
    return dialect::timestamp_text((days - (weekday(days) == 0 ? 6 : weekday(days) - 1)) * kDay, zoned);
  if (unit == "month") return of_date(date.year, date.month);
  if (unit == "quarter") return of_date(date.year, (date.month - 1) / 3 * 3 + 1);
  if (unit == "year") return of_date(date.year, 1);
  if (unit == "decade") return of_date(std::max<std::int64_t>(date.year / 10 * 10, 1), 1);
  if (unit == "century") return of_date((date.year - 1) / 100 * 100 + 1, 1);
  if (unit == "millennium") return of_date((date.year - 1) / 1000 * 1000 + 1, 1);
  refuse("22023", "unit \"" + unit + "\" not recognized for type timestamp");
}

constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};

std::string padded(std::int64_t value, std::size_t width, bool fill) {
  auto text = std::to_string(value);
  if (fill && text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

/// A name in the case of its pattern: MONTH, Month, month.
std::string cased(std::string_view name, std::string_view pattern, std::size_t width) {
  std::string out(name);
  if (pattern[0] >= 'a') out = to_lower(out);
  else if (pattern[1] < 'a') out = to_upper(out);
  if (out.size() < width) out.append(width - out.size(), ' ');
  return out;
}

SqliteValue to_char(PgValues values) {
  if (any_null(values)) return kNull;
  const auto moment = moment_of(values[0], true);
  const auto format = text_of(values[1]);
  const auto days = dialect::day_of(moment);
  const auto time = moment - days * kDay;
  const auto date = dialect::civil_of(days);
  const auto hour = time / (3600 * kSecond);
  std::string out;
  bool fill = true;
  for (std::size_t at = 0; at < format.size();) {
    const auto rest = std::string_view(format).substr(at);
    const auto upper = to_upper(rest.substr(0, 5));
    const auto is = [&](std::string_view pattern) { return upper.starts_with(pattern); };
    const auto take = [&](std::size_t count, const std::string& text) {
      out += text;
      at += count;
      fill = true;
    };
    if (rest[0] == '"') {
      const auto close = rest.find('"', 1);
      const auto count = close == std::string_view::npos ? rest.size() : close + 1;
      out += rest.substr(1, count - (close == std::string_view::npos ? 1 : 2));
      at += count;
    } else if (is("FM")) {
      fill = false;
      at += 2;
    } else if (is("YYYY")) take(4, padded(date.year, 4, fill));
    else if (is("YY")) take(2, padded(date.year % 100, 2, fill));
    else if (is("MONTH")) take(5, cased(kMonths.at(static_cast<std::size_t>(date.month - 1)), rest, fill ? 9 : 0));
    else if (is("MON")) take(3, cased(kMonths.at(static_cast<std::size_t>(date.month - 1)).substr(0, 3), rest, 0));
    else if (is("MM")) take(2, padded(date.month, 2, fill));
    else if (is("MI")) take(2, padded(time / (60 * kSecond) % 60, 2, fill));
    else if (is("MS")) take(2, padded(time % kSecond / 1000, 3, true));
    else if (is("US")) take(2, padded(time % kSecond, 6, true));
    else if (is("DDD")) take(3, padded(days - dialect::days_of({date.year, 1, 1}) + 1, 3, fill));
    else if (is("DD")) take(2, padded(date.day, 2, fill));
    else if (is("DAY")) take(3, cased(kWeekdays.at(static_cast<std::size_t>(weekday(days))), rest, fill ? 9 : 0));
    else if (is("DY")) take(2, cased(kWeekdays.at(static_cast<std::size_t>(weekday(days))).substr(0, 3), rest, 0));
    else if (is("D")) take(1, padded(weekday(days) + 1, 1, false));
    else if (is("HH24")) take(4, padded(hour, 2, fill));
    else if (is("HH12")) take(4, padded(hour % 12 == 0 ? 12 : hour % 12, 2, fill));
    else if (is("HH")) take(2, padded(hour % 12 == 0 ? 12 : hour % 12, 2, fill));
    else if (is("SS")) take(2, padded(time / kSecond % 60, 2, fill));
    else if (is("AM") || is("PM")) take(2, cased(hour < 12 ? "AM" : "PM", rest, 0));
    else if (is("IW")) take(2, padded(iso_week(days).second, 2, fill));
    else if (is("Q")) take(1, padded((date.month - 1) / 3 + 1, 1, false));
    else if (is("TZ")) take(2, "UTC");
    else if ((rest[0] >= 'a' && rest[0] <= 'z') || (rest[0] >= 'A' && rest[0] <= 'Z'))
      refuse("0A000", "to_char does not know the pattern at \"" + std::string(rest.substr(0, 8)) + "\"");
    else take(1, std::string(1, rest[0]));
  }
  return out;
}

/// extract() of a date, which has no time of the day.
SqliteValue part_of_date(PgValues values) {
  if (any_null(values)) return kNull;
  const auto part = to_lower(text_of(values[0]));
  constexpr std::array<std::string_view, 5> kTimes{"hour", "microseconds", "milliseconds", "minute", "second"};
  if (std::find(kTimes.begin(), kTimes.end(), part) != kTimes.end())
    refuse("0A000", "unit \"" + part + "\" not supported for type date");
  return date_part(values);
}

constexpr std::array kMomentFunctions{
    PgFunction{"pg_date", 1, "DATE", &to_date},
    PgFunction{"pg_time", 1, "TIME", &to_time},
    PgFunction{"pg_timestamp", 1, "TIMESTAMP", &to_timestamp},
    PgFunction{"pg_timestamptz", 1, "TIMESTAMPTZ", &to_timestamptz},
    PgFunction{"pg_interval", 1, "TEXT", &to_interval},
    PgFunction{"pg_to_timestamp", 1, "TIMESTAMPTZ", &timestamp_of_seconds},
    PgFunction{"pg_date_plus", 2, "DATE", &date_plus},
    PgFunction{"pg_date_minus", 2, "DATE", &date_minus},
    PgFunction{"pg_days_between", 2, "INTEGER", &days_between},
    PgFunction{"pg_moment_precision", 2, "", &with_precision},
    PgFunction{"pg_timestamp_plus", 2, "TIMESTAMP", &timestamp_plus},
    PgFunction{"pg_timestamp_minus", 2, "TIMESTAMP", &timestamp_minus},
    PgFunction{"pg_time_between", 2, "TEXT", &time_between},
    PgFunction{"pg_age", 2, "TEXT", &age},
    PgFunction{"pg_interval_span", 1, "INTEGER", &interval_span},
    PgFunction{"pg_moment_series", 3, "TEXT", &moment_series},
    PgFunction{"pg_interval_plus", 2, "TEXT", &interval_plus},
    PgFunction{"pg_interval_minus", 2, "TEXT", &interval_minus},
    PgFunction{"pg_interval_times", 2, "TEXT", &interval_times},
    PgFunction{"pg_interval_by", 2, "TEXT", &interval_by},
    PgFunction{"pg_justify_days", 1, "TEXT", &justify_days},
    PgFunction{"pg_justify_hours", 1, "TEXT", &justify_hours},
    PgFunction{"pg_justify_interval", 1, "TEXT", &justify_interval},
    PgFunction{"pg_make_date", 3, "DATE", &make_date},
    PgFunction{"pg_date_part", 2, "REAL", &date_part},
    PgFunction{"pg_part_of_date", 2, "REAL", &part_of_date},
    PgFunction{"pg_interval_part", 2, "REAL", &interval_part},
    PgFunction{"pg_date_trunc", 2, "TIMESTAMP", &date_trunc},
    PgFunction{"pg_to_char", 2, "TEXT", &to_char},
};

SqliteValue now(PgValues) { return timestamp_text(std::chrono::system_clock::now()); }

constexpr std::array kClockFunctions{
    PgFunction{"clock_timestamp", 0, "TIMESTAMPTZ", &now},
};

}  // namespace
}  // namespace pg_moments

std::vector<SqlFunction> moment_functions() {
  auto functions = sql_functions(pg_moments::kMomentFunctions, true);
  for (auto& function : sql_functions(pg_moments::kClockFunctions, false)) functions.push_back(std::move(function));
  return functions;
}

}  // namespace eindb

// Texts of intervals, by the rules of PostgreSQL's DecodeInterval: fields are read from the right, since a number has
// the unit behind it.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "common/letter_case.hpp"
#include "engine/dialect/moments.hpp"

namespace eindb::dialect {
namespace {

constexpr std::int64_t kMonthsOfYear = 12;
constexpr std::int64_t kDaysOfWeek = 7;

enum class IntervalUnit : std::uint8_t {
  None,
  Microsecond,
  Millisecond,
  Second,
  Minute,
  Hour,
  Day,
  Week,
  Month,
  Year,
  Decade,
  Century,
  Millennium
};

constexpr unsigned bit_of(IntervalUnit unit) { return 1U << static_cast<unsigned>(unit); }
constexpr unsigned kSeconds =
    bit_of(IntervalUnit::Microsecond) | bit_of(IntervalUnit::Millisecond) | bit_of(IntervalUnit::Second);
constexpr unsigned kTime = kSeconds | bit_of(IntervalUnit::Minute) | bit_of(IntervalUnit::Hour);

struct UnitName {
  std::string_view name;
  IntervalUnit unit;
};
constexpr std::array kUnitNames{
    UnitName{"c", IntervalUnit::Century},
    UnitName{"cent", IntervalUnit::Century},
    UnitName{"centuries", IntervalUnit::Century},
    UnitName{"century", IntervalUnit::Century},
    UnitName{"d", IntervalUnit::Day},
    UnitName{"day", IntervalUnit::Day},
    UnitName{"days", IntervalUnit::Day},
    UnitName{"dec", IntervalUnit::Decade},
    UnitName{"decade", IntervalUnit::Decade},
    UnitName{"decades", IntervalUnit::Decade},
    UnitName{"decs", IntervalUnit::Decade},
    UnitName{"h", IntervalUnit::Hour},
    UnitName{"hour", IntervalUnit::Hour},
    UnitName{"hours", IntervalUnit::Hour},
    UnitName{"hr", IntervalUnit::Hour},
    UnitName{"hrs", IntervalUnit::Hour},
    UnitName{"m", IntervalUnit::Minute},
    UnitName{"microsecond", IntervalUnit::Microsecond},
    UnitName{"microseconds", IntervalUnit::Microsecond},
    UnitName{"mil", IntervalUnit::Millennium},
    UnitName{"millennia", IntervalUnit::Millennium},
    UnitName{"millennium", IntervalUnit::Millennium},
    UnitName{"millisecond", IntervalUnit::Millisecond},
    UnitName{"milliseconds", IntervalUnit::Millisecond},
    UnitName{"mils", IntervalUnit::Millennium},
    UnitName{"min", IntervalUnit::Minute},
    UnitName{"mins", IntervalUnit::Minute},
    UnitName{"minute", IntervalUnit::Minute},
    UnitName{"minutes", IntervalUnit::Minute},
    UnitName{"mon", IntervalUnit::Month},
    UnitName{"mons", IntervalUnit::Month},
    UnitName{"month", IntervalUnit::Month},
    UnitName{"months", IntervalUnit::Month},
    UnitName{"ms", IntervalUnit::Millisecond},
    UnitName{"msec", IntervalUnit::Millisecond},
    UnitName{"mseconds", IntervalUnit::Millisecond},
    UnitName{"msecs", IntervalUnit::Millisecond},
    UnitName{"s", IntervalUnit::Second},
    UnitName{"sec", IntervalUnit::Second},
    UnitName{"second", IntervalUnit::Second},
    UnitName{"seconds", IntervalUnit::Second},
    UnitName{"secs", IntervalUnit::Second},
    UnitName{"us", IntervalUnit::Microsecond},
    UnitName{"usec", IntervalUnit::Microsecond},
    UnitName{"useconds", IntervalUnit::Microsecond},
    UnitName{"usecs", IntervalUnit::Microsecond},
    UnitName{"w", IntervalUnit::Week},
    UnitName{"week", IntervalUnit::Week},
    UnitName{"weeks", IntervalUnit::Week},
    UnitName{"y", IntervalUnit::Year},
    UnitName{"year", IntervalUnit::Year},
    UnitName{"years", IntervalUnit::Year},
    UnitName{"yr", IntervalUnit::Year},
    UnitName{"yrs", IntervalUnit::Year},
};

IntervalUnit unit_named(std::string_view name) {
  const auto lower = to_lower(name);
  const auto* const found =
      std::find_if(kUnitNames.begin(), kUnitNames.end(), [&](const UnitName& unit) { return unit.name == lower; });
  return found == kUnitNames.end() ? IntervalUnit::None : found->unit;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

/// Thrown by what reads an interval, and caught by read_interval().
struct BadInterval {
  bool out_of_range = false;
};

struct IntervalField {
  enum class Kind : std::uint8_t { Number, Time, Word } kind = Kind::Number;
  bool negative = false;
  std::string_view text = {};
};

template <class Belongs>
std::string_view take_while(std::string_view text, std::size_t& at, Belongs belongs) {
  const auto begin = at;
  while (at < text.size() && belongs(text[at])) ++at;
  return text.substr(begin, at - begin);
}

std::vector<IntervalField> fields_of(std::string_view text) {
  std::vector<IntervalField> fields;
  const auto belongs = [](char c) { return is_digit(c) || c == ':' || c == '.' || c == '-' || c == '/'; };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is_letter(c)) {
      fields.push_back({IntervalField::Kind::Word, false, take_while(text, at, is_letter)});
      continue;
    }
    const bool is_signed = c == '+' || c == '-';
    if (is_signed) take_while(text, ++at, [](char next) { return next == ' '; });
    const bool is_number = at < text.size() && (is_digit(text[at]) || text[at] == '.');
    if (is_signed && !is_number) throw BadInterval();
    if (is_number) {
      const auto field = take_while(text, at, belongs);
      const bool is_time = field.find(':') != std::string_view::npos;
      fields.push_back({is_time ? IntervalField::Kind::Time : IntervalField::Kind::Number, c == '-', field});
      continue;
    }
    if (c != ' ' && c != '\t' && c != '\n' && c != '@' && c != ',') throw BadInterval();
    ++at;
  }
  return fields;
}

/// A sum of units. Numbers have 32 bits, as in PostgreSQL.
class IntervalSum {
 public:
  Interval interval(bool negated) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (std::abs(out_.months) > kMost || std::abs(out_.days) > kMost) throw BadInterval{true};
    return negated ? Interval{-out_.months, -out_.days, -out_.microseconds} : out_;
  }

  void add(IntervalUnit unit, std::int64_t count, double part) {
    switch (unit) {
      case IntervalUnit::Microsecond: add_time(count, 1, part); break;
      case IntervalUnit::Millisecond: add_time(count, kSecond / 1000, part); break;
      case IntervalUnit::Second: add_time(count, kSecond, part); break;
      case IntervalUnit::Minute: add_time(count, 60 * kSecond, part); break;
      case IntervalUnit::Hour: add_time(count, 3600 * kSecond, part); break;
      case IntervalUnit::Day: add_days(count, part); break;
      case IntervalUnit::Week: add_days(count * kDaysOfWeek, part * static_cast<double>(kDaysOfWeek)); break;
      case IntervalUnit::Month:
        out_.months += count;
        add_days(0, part * static_cast<double>(kDaysOfMonth));
        break;
      case IntervalUnit::Year: add_years(count, part, 1); break;
      case IntervalUnit::Decade: add_years(count, part, 10); break;
      case IntervalUnit::Century: add_years(count, part, 100); break;
      case IntervalUnit::Millennium: add_years(count, part, 1000); break;
      case IntervalUnit::None: throw BadInterval();
    }
  }

 private:
  void add_time(std::int64_t count, std::int64_t unit, double part) {
    std::int64_t whole = 0;
    if (__builtin_mul_overflow(count, unit, &whole) ||
        __builtin_add_overflow(out_.microseconds, whole, &out_.microseconds) ||
        __builtin_add_overflow(out_.microseconds, std::llrint(part * static_cast<double>(unit)), &out_.microseconds))
      throw BadInterval{true};
  }
  void add_days(std::int64_t count, double part) {
    const double whole = std::trunc(part);
    out_.days += count + static_cast<std::int64_t>(whole);
    add_time(0, kDay, part - whole);
  }
  void add_years(std::int64_t count, double part, std::int64_t years) {
    out_.months += count * years * kMonthsOfYear +
                   std::llrint(part * static_cast<double>(years) * static_cast<double>(kMonthsOfYear));
  }

  Interval out_;
};

/// A number with its sign: 12, 1.5, .5
struct IntervalNumber {
  std::int64_t count = 0;
  double part = 0;
};

std::int64_t count_of(std::string_view digits) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (digits.empty() || end != digits.data() + digits.size()) throw BadInterval();
  if (error != std::errc() || count > std::numeric_limits<std::int32_t>::max()) throw BadInterval{true};
  return count;
}

IntervalNumber number_of(std::string_view text, bool negative) {
  const auto point = std::min(text.find('.'), text.size());
  IntervalNumber out;
  if (point > 0) out.count = count_of(text.substr(0, point));
  const auto digits = text.substr(std::min(point + 1, text.size()));
  if (!std::all_of(digits.begin(), digits.end(), is_digit) || text == ".") throw BadInterval();
  double scale = 0.1;
  for (const char digit : digits) {
    out.part += scale * (digit - '0');
    scale /= 10;
  }
  return negative ? IntervalNumber{-out.count, -out.part} : out;
}

/// 4:05, 4:05:06.5, and 5:06.5, which are minutes and seconds: adds them.
void add_time_of(const IntervalField& field, IntervalSum& sum) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= field.text.size();) {
    const auto end = std::min(field.text.find(':', begin), field.text.size());
    parts.push_back(field.text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() == 2 && parts[1].find('.') != std::string_view::npos) parts.insert(parts.begin(), "0");
  if (parts.size() == 2) parts.emplace_back("0");
  if (parts.size() != 3) throw BadInterval();
  const auto hours = count_of(parts[0]);
  const auto minutes = count_of(parts[1]);
  const auto seconds = number_of(parts[2], false);
  if (minutes > 59 || seconds.count > 60) throw BadInterval{true};
  const auto sign = field.negative ? -1 : 1;
  sum.add(IntervalUnit::Hour, sign * hours, 0);
  sum.add(IntervalUnit::Minute, sign * minutes, 0);
  sum.add(IntervalUnit::Second, sign * seconds.count, sign * seconds.part);
}

/// 1-2, years and months; false for another number.
bool add_years_and_months(const IntervalField& field, IntervalSum& sum) {
  const auto hyphen = field.text.find('-');
  if (hyphen == std::string_view::npos) return false;
  const auto months = count_of(field.text.substr(hyphen + 1));
  if (months >= kMonthsOfYear) throw BadInterval{true};
  const auto sign = field.negative ? -1 : 1;
  sum.add(IntervalUnit::Month, sign * (count_of(field.text.substr(0, hyphen)) * kMonthsOfYear + months), 0);
  return true;
}

Interval interval_of_fields(std::string_view text) {
  IntervalSum sum;
  unsigned seen = 0;
  bool negated = false;
  auto unit = IntervalUnit::None;
  const auto note = [&](unsigned units) {
    if ((seen & units) != 0) throw BadInterval();
    seen |= units;
  };
  const auto fields = fields_of(text);
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (field->kind == IntervalField::Kind::Word) {
      const bool is_ago = to_lower(field->text) == "ago";
      negated = negated || is_ago;
      unit = is_ago ? IntervalUnit::None : unit_named(field->text);
      if (!is_ago && unit == IntervalUnit::None) throw BadInterval();
    } else if (field->kind == IntervalField::Kind::Time) {
      note(kTime);
      add_time_of(*field, sum);
      unit = IntervalUnit::Day;
    } else if (add_years_and_months(*field, sum)) {
      note(bit_of(IntervalUnit::Month));
    } else {
      if (unit == IntervalUnit::None) unit = IntervalUnit::Second;
      const auto number = number_of(field->text, field->negative);
      note(unit == IntervalUnit::Second && number.part != 0 ? kSeconds : bit_of(unit));
      sum.add(unit, number.count, number.part);
      if (unit == IntervalUnit::Hour) unit = IntervalUnit::Day;
    }
  }
  if (seen == 0) throw BadInterval();
  return sum.interval(negated);
}

/// P1Y2M3W4DT5H6M7.5S
Interval interval_of_iso(std::string_view text) {
  IntervalSum sum;
  bool in_time = false;
  bool any = false;
  for (std::size_t at = 1; at < text.size();) {
    if (text[at] == 'T' && !in_time) {
      in_time = true;
      ++at;
      continue;
    }
    const bool negative = text[at] == '-';
    if (negative || text[at] == '+') ++at;
    const auto digits = take_while(text, at, [](char c) { return is_digit(c) || c == '.'; });
    if (digits.empty() || at == text.size()) throw BadInterval();
    const auto number = number_of(digits, negative);
    auto unit = IntervalUnit::None;
    switch (text[at++]) {
      case 'Y': unit = in_time ? unit : IntervalUnit::Year; break;
      case 'M': unit = in_time ? IntervalUnit::Minute : IntervalUnit::Month; break;
      case 'W': unit = in_time ? unit : IntervalUnit::Week; break;
      case 'D': unit = in_time ? unit : IntervalUnit::Day; break;
      case 'H': unit = in_time ? IntervalUnit::Hour : unit; break;
      case 'S': unit = in_time ? IntervalUnit::Second : unit; break;
      default: break;
    }
    sum.add(unit, number.count, number.part);
    any = true;
  }
  if (!any) throw BadInterval();
  return sum.interval(false);
}

}  // namespace

std::optional<Interval> read_interval(std::string_view text, bool* out_of_range) {
  try {
    return text.starts_with('P') ? interval_of_iso(text) : interval_of_fields(text);
  } catch (const BadInterval& bad) {
    if (out_of_range != nullptr && bad.out_of_range) *out_of_range = true;
    return std::nullopt;
  }
}

Interval scaled(const Interval& interval, double factor) {
  const double months = static_cast<double>(interval.months) * factor;
  const double days =
      static_cast<double>(interval.days) * factor + (months - std::trunc(months)) * static_cast<double>(kDaysOfMonth);
  const double rest = static_cast<double>(interval.microseconds) * factor +
                      std::round((days - std::trunc(days)) * static_cast<double>(kDay));
  return {static_cast<std::int64_t>(months), static_cast<std::int64_t>(days), std::llround(rest)};
}

std::string interval_text(const Interval& interval) {
  std::string out;
  bool negative = false;  // whether the part before is
  const auto sign = [&](std::int64_t count) { return negative && count > 0 ? "+" : ""; };
  const auto part = [&](std::int64_t count, const char* unit) {
    if (count == 0) return;
    if (!out.empty()) out += ' ';
    out += sign(count) + std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
    negative = count < 0;
  };
  part(interval.months / kMonthsOfYear, "year");
  part(interval.months % kMonthsOfYear, "mon");
  part(interval.days, "day");
  const auto time = interval.microseconds;
  if (time != 0 || out.empty()) {
    if (!out.empty()) out += ' ';
    out += (time < 0 ? "-" : sign(time)) + time_text(time < 0 ? -time : time);
  }
  return out;
}

}  // namespace eindb::dialect

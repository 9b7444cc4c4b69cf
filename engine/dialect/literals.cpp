#include "engine/dialect/literals.hpp"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/moments.hpp"

namespace eindb::dialect {
namespace {

constexpr std::string_view kNoNumber = "22P02";
constexpr std::string_view kNoMoment = "22007";
constexpr std::size_t kUuidDigits = 32;

[[noreturn]] void refuse_literal(std::string_view sqlstate, std::string_view type, std::string_view text) {
  throw CodedError(sqlstate, ErrorKind::Value,
                   "invalid input syntax for type " + std::string(type) + ": \"" + std::string(text) + "\"");
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const auto begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

template <class Number>
Number number_from(std::string_view text, std::string_view type) {
  auto rest = without_space(text);
  if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const bool whole = end == rest.data() + rest.size() && !rest.empty();
  if (whole && error == std::errc::result_out_of_range)
    throw CodedError("22003", ErrorKind::Value,
                     (std::is_integral_v<Number> ? "value \"" : "\"") + std::string(text) +
                         "\" is out of range for type " + std::string(type));
  if (!whole || error != std::errc()) refuse_literal(kNoNumber, type, text);
  return value;
}

template <class T>
T value_of(std::optional<T> read, std::string_view type, std::string_view text, bool out_of_range) {
  if (!read && out_of_range)
    throw CodedError("22008", ErrorKind::Value,
                     (type == "interval" ? "interval" : "date/time") + std::string(" field value out of range: \"") +
                         std::string(text) + "\"");
  if (!read) refuse_literal(kNoMoment, type, text);
  return *std::move(read);
}

}  // namespace

std::int64_t integer_from(std::string_view text) { return number_from<std::int64_t>(text, "bigint"); }

double real_from(std::string_view text, std::string_view type) { return number_from<double>(text, type); }

bool truth_from(std::string_view text) {
  const auto word = to_lower(without_space(text));
  // Beginnings of words will do, except "o".
  const auto begins = [&](std::string_view name) { return !word.empty() && word != "o" && name.starts_with(word); };
  for (const std::string_view name : std::array<std::string_view, 4>{"true", "yes", "on", "1"})
    if (begins(name)) return true;
  for (const std::string_view name : std::array<std::string_view, 4>{"false", "no", "off", "0"})
    if (begins(name)) return false;
  refuse_literal(kNoNumber, "boolean", text);
}

std::string uuid_from(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '-' && c != '{' && c != '}') digits += c;
  const bool hex = digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!hex || digits.size() != kUuidDigits) refuse_literal(kNoNumber, "uuid", text);
  for (const std::size_t at : std::array<std::size_t, 4>{20, 16, 12, 8}) digits.insert(at, "-");
  return to_lower(digits);
}

std::string json_from(std::string_view text) {
  if (!nlohmann::json::accept(text))
    throw CodedError(kNoNumber, ErrorKind::Value, "invalid input syntax for type json",
                     "texts and names stand in double quotes");
  return std::string(text);
}

std::string date_from(std::string_view text) {
  bool out_of_range = false;
  const auto days = read_date(without_space(text), &out_of_range);
  return date_text(value_of(days, "date", text, out_of_range));
}

std::string time_from(std::string_view text) {
  bool out_of_range = false;
  const auto time = read_time(without_space(text), &out_of_range);
  if (time) return time_text(*time);
  const auto moment = read_timestamp(without_space(text), false, &out_of_range);
  return time_text(time_of_day(value_of(moment, "time", text, out_of_range)));
}

std::string timestamp_from(std::string_view text, bool zoned) {
  bool out_of_range = false;
  const auto moment = read_timestamp(without_space(text), zoned, &out_of_range);
  const auto type = zoned ? "timestamp with time zone" : "timestamp";
  return timestamp_text(value_of(moment, type, text, out_of_range), zoned);
}

std::string interval_from(std::string_view text) {
  bool out_of_range = false;
  const auto interval = read_interval(without_space(text), &out_of_range);
  return interval_text(value_of(interval, "interval", text, out_of_range));
}

std::string kept_text(std::string_view text, SqlType type) {
  switch (type) {
    case SqlType::Bool: return truth_from(text) ? "t" : "f";
    case SqlType::Integer: return std::to_string(integer_from(text));
    case SqlType::Numeric:
    case SqlType::Float: real_from(text, name_of(type)); return std::string(without_space(text));
    case SqlType::Date: return date_from(text);
    case SqlType::Time: return time_from(text);
    case SqlType::Timestamp: return timestamp_from(text, false);
    case SqlType::TimestampTz: return timestamp_from(text, true);
    case SqlType::Interval: return interval_from(text);
    case SqlType::Uuid: return uuid_from(text);
    case SqlType::Json: return json_from(text);
    default: return std::string(text);
  }
}

}  // namespace eindb::dialect

#include "engine/dialect/literals.hpp"

#include <array>
#include <charconv>
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
                     "value \"" + std::string(text) + "\" is out of range for type " + std::string(type));
  if (!whole || error != std::errc()) refuse_literal(kNoNumber, type, text);
  return value;
}

template <class T>
T value_of(std::optional<T> read, std::string_view type, std::string_view text) {
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

std::string date_from(std::string_view text) {
  return date_text(value_of(read_date(without_space(text)), "date", text));
}

std::string time_from(std::string_view text) {
  const auto time = read_time(without_space(text));
  if (time) return time_text(*time);
  return time_text(time_of_day(value_of(read_timestamp(without_space(text), false), "time", text)));
}

std::string timestamp_from(std::string_view text, bool zoned) {
  const auto type = zoned ? "timestamp with time zone" : "timestamp";
  return timestamp_text(value_of(read_timestamp(without_space(text), zoned), type, text), zoned);
}

std::string interval_from(std::string_view text) {
  return interval_text(value_of(read_interval(without_space(text)), "interval", text));
}

}  // namespace eindb::dialect

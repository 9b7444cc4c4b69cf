#include "server/values/numeric_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "common/check.hpp"
#include "engine/dialect/literals.hpp"
#include "server/protocol/big_endian.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

/// A binary numeric has four numbers of two bytes, then its digits.
constexpr std::size_t kHeader = 8;
constexpr double kBase = 10000;
constexpr std::size_t kDigitsOfBase = 4;
constexpr std::uint16_t kNegative = 0x4000;
constexpr std::uint16_t kNan = 0xC000;
constexpr std::uint16_t kInfinite = 0xD000;
constexpr std::uint16_t kMinusInfinite = 0xF000;

/// The largest double has 309 digits before the point, the smallest one 1,074 behind it; a scale has up to 1,000.
constexpr std::size_t kMostText = 2048;

[[noreturn]] void fail_numeric_size(std::string_view value, std::size_t size) {
  throw ProtocolError(
      "a binary parameter has " + std::to_string(value.size()) + " bytes instead of " + std::to_string(size), "22P03");
}

template <class T>
T field_of(std::string_view value, std::size_t at) {
  DCHECK(at + sizeof(T) <= value.size(), "a part lies in the value");
  return load_big_endian<T>(value.substr(at, sizeof(T)));
}

}  // namespace

void append_numeric(std::string& out, double value, int scale) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  std::array<char, kMostText> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  auto* const begin = text.data();
  const auto written = scale < 0 ? std::to_chars(begin, begin + text.size(), value, std::chars_format::fixed)
                                 : std::to_chars(begin, begin + text.size(), value, std::chars_format::fixed, scale);
  CHECK(written.ec == std::errc(), "the text of a double has room");
  std::string_view digits(begin, static_cast<std::size_t>(written.ptr - begin));
  // PostgreSQL's numeric has no negative zero.
  if (digits.starts_with('-') && digits.find_first_not_of("-0.") == std::string_view::npos) digits.remove_prefix(1);
  out += digits;
}

void append_numeric(std::string& out, std::int64_t value, int scale) {
  out += std::to_string(value);
  if (scale > 0) out.append(1, '.').append(static_cast<std::size_t>(scale), '0');
}

void append_binary_numeric(std::string& out, std::string_view text) {
  const auto head = [&](std::size_t digits, int weight, std::uint16_t sign, std::size_t scale) {
    append_big_endian(out, static_cast<std::int16_t>(digits));
    append_big_endian(out, static_cast<std::int16_t>(weight));
    append_big_endian(out, static_cast<std::int16_t>(sign));
    append_big_endian(out, static_cast<std::int16_t>(scale));
  };
  if (text == "NaN") return head(0, 0, kNan, 0);
  if (text == "Infinity") return head(0, 0, kInfinite, 0);
  if (text == "-Infinity") return head(0, 0, kMinusInfinite, 0);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto point = std::min(text.find('.'), text.size());
  std::string whole(text.substr(0, point));
  std::string fraction(point < text.size() ? text.substr(point + 1) : std::string_view());
  const auto scale = fraction.size();
  // Both in whole groups of four digits.
  whole.insert(0, (kDigitsOfBase - whole.size() % kDigitsOfBase) % kDigitsOfBase, '0');
  fraction.append((kDigitsOfBase - fraction.size() % kDigitsOfBase) % kDigitsOfBase, '0');
  const auto all = whole + fraction;
  std::vector<std::int16_t> digits;
  for (std::size_t n = 0; n + kDigitsOfBase <= all.size(); n += kDigitsOfBase) {
    std::int16_t digit = 0;
    for (std::size_t c = n; c < n + kDigitsOfBase; ++c) digit = static_cast<std::int16_t>(10 * digit + (all[c] - '0'));
    digits.push_back(digit);
  }
  auto weight = static_cast<int>(whole.size() / kDigitsOfBase) - 1;
  const auto first = std::find_if(digits.begin(), digits.end(), [](std::int16_t digit) { return digit != 0; });
  weight -= static_cast<int>(first - digits.begin());
  digits.erase(digits.begin(), first);
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
  if (digits.empty()) return head(0, 0, 0, scale);
  head(digits.size(), weight, negative ? kNegative : std::uint16_t{0}, scale);
  for (const auto digit : digits) append_big_endian(out, digit);
}

double read_binary_numeric(std::string_view value) {
  if (value.size() < kHeader) fail_numeric_size(value, kHeader);
  const auto digits = field_of<std::uint16_t>(value, 0);
  const auto weight = field_of<std::int16_t>(value, 2);
  const auto sign = field_of<std::uint16_t>(value, 4);
  if (value.size() != kHeader + std::size_t{2} * digits) fail_numeric_size(value, kHeader + std::size_t{2} * digits);
  if (sign == kInfinite) return std::numeric_limits<double>::infinity();
  if (sign == kMinusInfinite) return -std::numeric_limits<double>::infinity();
  if (sign == kNan) return std::numeric_limits<double>::quiet_NaN();
  // As a text, so that the double is the nearest one.
  std::string text = "0";
  for (std::size_t n = 0; n < digits; ++n) {
    const auto digit = field_of<std::uint16_t>(value, kHeader + 2 * n);
    if (digit >= kBase) throw ProtocolError("a binary numeric has a digit of " + std::to_string(digit), "22P03");
    auto written = std::to_string(digit);
    text += written.insert(0, 4 - written.size(), '0');
  }
  text += "e" + std::to_string(4 * (weight + 1 - static_cast<int>(digits)));
  const auto size = dialect::real_from(text, "numeric");
  return sign == kNegative ? -size : size;
}

}  // namespace eindb

#include "engine/arrow/arrow_column.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

constexpr std::size_t kInlineView = 12;

/// How many buffers an array of this kind has; -1: any number from 3 on.
std::int64_t buffer_count(ArrowKind kind) {
  switch (kind) {
    case ArrowKind::Null: return 0;
    case ArrowKind::List:
    case ArrowKind::Struct: return 1;
    case ArrowKind::Text:
    case ArrowKind::LargeText: return 3;
    case ArrowKind::TextView: return -1;
    default: return 2;
  }
}

template <class T>
T loaded(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

float half_value(std::uint16_t bits) {
  const auto exponent = static_cast<int>(bits >> 10U & 31U);
  const auto fraction = static_cast<float>(bits & 1023U);
  float value = 0;
  if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0) value = std::ldexp(fraction, -24);
  else value = std::ldexp(fraction + 1024.0F, exponent - 25);
  return (bits & 0x8000U) != 0 ? -value : value;
}

std::string padded(std::int64_t value, std::size_t digits) {
  auto text = std::to_string(value);
  return text.size() >= digits ? text : std::string(digits - text.size(), '0') + text;
}

}  // namespace

ArrowColumn::ArrowColumn(const ArrowType& type, const ArrowValues& values, std::int64_t parent_offset,
                         std::optional<std::int64_t> length)
    : type_(&type) {
  if (values.length < 0 || values.offset < 0) fail("has a negative length or offset");
  // Positions of texts are one more than the values, and bits are counted in bytes.
  constexpr std::int64_t kMost = std::int64_t{1} << 56U;
  if (values.length > kMost || values.offset > kMost || parent_offset > kMost) fail("has a length that overflows");
  length_ = length.value_or(values.length);
  if (parent_offset + length_ > values.length) fail("has fewer values than the table has rows");
  offset_ = values.offset + parent_offset;
  if (values.null_count < -1 || values.null_count > values.length)
    fail("has a number of missing values that cannot be");
  const auto count = std::ssize(values.buffers);
  const auto wanted = buffer_count(type.kind);
  if (wanted >= 0 ? count != wanted : count < 2) fail("has " + std::to_string(count) + " buffers");
  take_buffers(values);
  take_parts(values);
}

void ArrowColumn::fail(const std::string& what) const { bad_arrow(type_->name, what); }

void ArrowColumn::check_size(const ArrowBytes& buffer, std::int64_t wanted) const {
  if (buffer.size == ArrowBytes::kUnknown || wanted <= buffer.size) return;
  fail("has a buffer of " + std::to_string(buffer.size) + " bytes, and its values take " + std::to_string(wanted));
}

void ArrowColumn::take_buffers(const ArrowValues& values) {
  if (values.buffers.empty()) return;
  const auto bytes_of = [](const ArrowBytes& buffer) { return static_cast<const std::byte*>(buffer.data); };
  const auto end = offset_ + length_;
  const auto& valid = values.buffers[0];
  if (values.null_count != 0) valid_ = bytes_of(valid);
  if (values.null_count > 0 && valid_ == nullptr) fail("has missing values, and does not say which");
  if (valid_ != nullptr) check_size(valid, (end + 7) / 8);
  if (values.buffers.size() < 2) return;
  const auto& numbers = values.buffers[1];
  values_ = bytes_of(numbers);
  if (values_ == nullptr && length_ > 0) fail("has no buffer of values");
  const bool is_text = type_->kind == ArrowKind::Text || type_->kind == ArrowKind::LargeText;
  if (length_ > 0)
    check_size(numbers, type_->kind == ArrowKind::Bool ? (end + 7) / 8 : (end + (is_text ? 1 : 0)) * type_->size);
  if (is_text) bytes_ = values.buffers[2];
  if (type_->kind == ArrowKind::TextView) more_.assign(values.buffers.begin() + 2, values.buffers.end());
}

void ArrowColumn::take_parts(const ArrowValues& values) {
  const bool has_parts = type_->kind == ArrowKind::Struct || type_->kind == ArrowKind::List;
  if (values.children.size() != (has_parts ? type_->parts.size() : 0))
    fail("has " + std::to_string(values.children.size()) + " children");
  std::int64_t begin = offset_;
  std::int64_t count = length_;
  if (type_->kind == ArrowKind::List && (__builtin_mul_overflow(begin, type_->list_size, &begin) ||
                                         __builtin_mul_overflow(count, type_->list_size, &count)))
    fail("has lists that overflow");
  for (std::size_t n = 0; n < values.children.size(); ++n)
    parts_.emplace_back(type_->parts[n], values.children[n], begin, count);
  if (type_->kind != ArrowKind::Dictionary) return;
  if (values.dictionary.empty()) fail("has no dictionary");
  parts_.emplace_back(type_->parts.front(), values.dictionary.front());
}

bool ArrowColumn::is_null(std::int64_t row) const {
  if (type_->kind == ArrowKind::Null) return true;
  if (valid_ == nullptr) return false;
  const auto at = offset_ + row;
  return (valid_[at / 8] >> static_cast<unsigned>(at % 8) & std::byte{1}) == std::byte{};
}

std::int64_t ArrowColumn::integer(std::int64_t row) const {
  const auto* at = values_ + (offset_ + row) * type_->size;
  const bool is_unsigned =
      type_->format[0] == 'C' || type_->format[0] == 'S' || type_->format[0] == 'I' || type_->format[0] == 'L';
  switch (type_->size) {
    case 1: return is_unsigned ? loaded<std::uint8_t>(at) : std::int64_t{loaded<std::int8_t>(at)};
    case 2: return is_unsigned ? loaded<std::uint16_t>(at) : std::int64_t{loaded<std::int16_t>(at)};
    case 4: return is_unsigned ? loaded<std::uint32_t>(at) : std::int64_t{loaded<std::int32_t>(at)};
    default: break;
  }
  if (is_unsigned && loaded<std::uint64_t>(at) > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    throw Error(ErrorKind::Value, "Arrow's column '" + type_->name + "' has an unsigned integer beyond INT64");
  return loaded<std::int64_t>(at);
}

double ArrowColumn::real(std::int64_t row) const {
  const auto* at = values_ + (offset_ + row) * type_->size;
  if (type_->size == 2) return half_value(loaded<std::uint16_t>(at));
  return type_->size == 4 ? loaded<float>(at) : loaded<double>(at);
}

// An integer where no digit stands behind the point, else FLOAT64, the nearest one of up to 15 digits.
Cell ArrowColumn::decimal(std::int64_t row) const {
  const auto value = loaded<__int128>(values_ + (offset_ + row) * type_->size);
  if (type_->per_unit != 1) return static_cast<double>(value) / static_cast<double>(type_->per_unit);
  if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min())
    throw Error(ErrorKind::Value, "Arrow's column '" + type_->name + "' has an integer beyond INT64");
  return static_cast<std::int64_t>(value);
}

std::string_view ArrowColumn::text(std::int64_t row) const {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const auto at = (offset_ + row) * type_->size;
  if (type_->kind == ArrowKind::Text) {
    begin = loaded<std::int32_t>(values_ + at);
    end = loaded<std::int32_t>(values_ + at + 4);
  } else {
    begin = loaded<std::int64_t>(values_ + at);
    end = loaded<std::int64_t>(values_ + at + 8);
  }
  if (begin < 0 || end < begin) fail("has texts whose positions are not in order");
  if (end > begin && bytes_.data == nullptr) fail("has no buffer of texts");
  if (end == begin) return {};
  check_size(bytes_, end);
  return {static_cast<const char*>(bytes_.data) + begin, static_cast<std::size_t>(end - begin)};
}

// A view has the length of a text and up to 12 bytes of it, or its first 4 bytes, a buffer and a position in it.
std::string_view ArrowColumn::text_view(std::int64_t row) const {
  const auto* view = values_ + (offset_ + row) * 16;
  const auto size = loaded<std::int32_t>(view);
  if (size < 0) fail("has a text of negative length");
  if (std::cmp_less_equal(size, kInlineView))
    return {reinterpret_cast<const char*>(view) + 4, static_cast<std::size_t>(size)};
  const auto buffer = loaded<std::int32_t>(view + 8);
  const auto begin = loaded<std::int32_t>(view + 12);
  if (buffer < 0 || std::cmp_greater_equal(buffer, more_.size()) || begin < 0)
    fail("has a text that lies in no buffer");
  const auto& bytes = more_[static_cast<std::size_t>(buffer)];
  if (bytes.data == nullptr) fail("has a text that lies in no buffer");
  check_size(bytes, std::int64_t{begin} + size);
  return {static_cast<const char*>(bytes.data) + begin, static_cast<std::size_t>(size)};
}

// "2024-01-31", "2024-01-31 18:00:00" and parts of a second behind a point, as eindb's calendars have them.
std::string ArrowColumn::date(std::int64_t row) const {
  const auto* at = values_ + (offset_ + row) * type_->size;
  const auto units = type_->size == 4 ? loaded<std::int32_t>(at) : loaded<std::int64_t>(at);
  const auto floor_divide = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
  const bool is_date = type_->kind == ArrowKind::Date;
  const auto seconds = is_date ? 0 : floor_divide(units, type_->per_unit);
  const auto days = is_date ? floor_divide(units, type_->per_unit) : floor_divide(seconds, 86400);
  constexpr std::int64_t kMostDays = 2'932'896;  // until the end of the year 9999
  constexpr std::int64_t kLeastDays = -719'528;  // from the year 0 on
  if (days < kLeastDays || days > kMostDays)
    throw Error(ErrorKind::Value, "Arrow's column '" + type_->name + "' has a day outside the years 0 to 9999");
  const std::chrono::year_month_day day{std::chrono::sys_days(std::chrono::days(days))};
  auto text = padded(static_cast<int>(day.year()), 4) + "-" + padded(static_cast<unsigned>(day.month()), 2) + "-" +
              padded(static_cast<unsigned>(day.day()), 2);
  if (is_date) return text;
  const auto rest = seconds - days * 86400;
  text += " " + padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2);
  const auto part = units - seconds * type_->per_unit;
  if (part == 0) return text;
  auto digits = padded(part, std::to_string(type_->per_unit).size() - 1);
  while (digits.ends_with('0')) digits.pop_back();
  return text + "." + digits;
}

Cell ArrowColumn::cell(std::int64_t row) const {
  if (is_null(row)) return {};
  const auto checked = [&](std::string_view text) {
    if (!is_utf8(text)) fail("has text that is not UTF-8");
    return Cell{std::string(text)};
  };
  switch (type_->kind) {
    case ArrowKind::Bool: {
      const auto at = offset_ + row;
      return std::int64_t{(values_[at / 8] >> static_cast<unsigned>(at % 8) & std::byte{1}) != std::byte{}};
    }
    case ArrowKind::Signed:
    case ArrowKind::Unsigned: return integer(row);
    case ArrowKind::Float: return real(row);
    case ArrowKind::Decimal: return decimal(row);
    case ArrowKind::Text:
    case ArrowKind::LargeText: return checked(text(row));
    case ArrowKind::TextView: return checked(text_view(row));
    case ArrowKind::Date:
    case ArrowKind::Timestamp: return date(row);
    case ArrowKind::Dictionary: {
      const auto key = integer(row);
      if (key < 0 || key >= parts_.front().length()) fail("has a key that its dictionary lacks");
      return parts_.front().cell(key);
    }
    default: break;
  }
  throw Error(ErrorKind::Type, "Arrow's column '" + type_->name + "' has lists or structs, and a cell is one value");
}

std::vector<std::string> arrow_columns(const ArrowType& rows) {
  if (rows.kind != ArrowKind::Struct)
    throw Error(ErrorKind::Type, "Arrow has single values here, not rows of columns", std::nullopt,
                "hand over a table or record batches");
  std::vector<std::string> names;
  for (const auto& part : rows.parts) names.push_back(part.name);
  return names;
}

void load_batches(ArrowBatchSource& batches, RowLoader& loader) {
  const auto type = arrow_type(batches.schema());
  const auto names = arrow_columns(type);
  std::vector<std::size_t> places;
  for (const auto& column : loader.columns()) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return equal_ignoring_case(name, column.name); });
    CHECK(found != names.end(), "a loader has the columns that it was asked for");
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  Row row(places.size());
  while (const auto batch = batches.next()) {
    const ArrowColumn table(type, *batch);
    for (std::int64_t n = 0; n < table.length(); ++n) {
      if (table.is_null(n)) throw Error(ErrorKind::NullValue, "a batch of Arrow has a row that is missing as a whole");
      for (std::size_t c = 0; c < places.size(); ++c) row[c] = table.parts()[places[c]].cell(n);
      loader.add(row);
    }
  }
}

}  // namespace eindb

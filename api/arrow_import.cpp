#include "api/arrow_import.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

constexpr int kDeepestArrow = 16;
constexpr std::int64_t kMostArrowColumns = 100'000;
constexpr std::int64_t kMostViewBuffers = 1'000'000;
constexpr std::size_t kInlineView = 12;

[[noreturn]] void bad_arrow(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::Corrupt, "Arrow's column '" + name.substr(0, 80) + "' " + what);
}

struct NumberFormat {
  char format;
  ArrowKind kind;
  int size;
};

constexpr std::array kNumberFormats{
    NumberFormat{'n', ArrowKind::Null, 0},     NumberFormat{'b', ArrowKind::Bool, 0},
    NumberFormat{'c', ArrowKind::Signed, 1},   NumberFormat{'C', ArrowKind::Unsigned, 1},
    NumberFormat{'s', ArrowKind::Signed, 2},   NumberFormat{'S', ArrowKind::Unsigned, 2},
    NumberFormat{'i', ArrowKind::Signed, 4},   NumberFormat{'I', ArrowKind::Unsigned, 4},
    NumberFormat{'l', ArrowKind::Signed, 8},   NumberFormat{'L', ArrowKind::Unsigned, 8},
    NumberFormat{'e', ArrowKind::Float, 2},    NumberFormat{'f', ArrowKind::Float, 4},
    NumberFormat{'g', ArrowKind::Float, 8},    NumberFormat{'u', ArrowKind::Text, 4},
    NumberFormat{'U', ArrowKind::LargeText, 8}};

bool read_time_format(std::string_view format, ArrowType& type) {
  const auto unit_of = [](char unit) -> std::int64_t {
    return unit == 's' ? 1 : unit == 'm' ? 1'000 : unit == 'u' ? 1'000'000 : unit == 'n' ? 1'000'000'000 : 0;
  };
  if (format == "tdD" || format == "tdm") {
    type.kind = ArrowKind::Date;
    type.size = format == "tdD" ? 4 : 8;
    type.per_unit = format == "tdD" ? 1 : 86'400'000;
    return true;
  }
  if (format.size() < 4 || !format.starts_with("ts") || format[3] != ':' || unit_of(format[2]) == 0) return false;
  type.kind = ArrowKind::Timestamp;
  type.size = 8;
  type.per_unit = unit_of(format[2]);
  return true;
}

/// Decimal numbers of 128 bits, "d:38,2".
bool read_decimal_format(std::string_view format, ArrowType& type) {
  if (!format.starts_with("d:")) return false;
  int digits = 0;
  int behind_point = 0;
  const auto* end = format.data() + format.size();
  const auto [comma, error] = std::from_chars(format.data() + 2, end, digits);
  if (error != std::errc{} || comma == end || *comma != ',') return false;
  const auto [rest, other_error] = std::from_chars(comma + 1, end, behind_point);
  const std::string_view bits(rest, static_cast<std::size_t>(end - rest));
  if (other_error != std::errc{} || !(bits.empty() || bits == ",128")) return false;
  if (behind_point < 0 || behind_point > 18 || digits < 1 || digits > 38) return false;
  type.kind = ArrowKind::Decimal;
  type.size = 16;
  for (int n = 0; n < behind_point; ++n) type.per_unit *= 10;
  return true;
}

bool read_list_format(std::string_view format, ArrowType& type) {
  if (!format.starts_with("+w:")) return false;
  const auto* end = format.data() + format.size();
  const auto [stop, error] = std::from_chars(format.data() + 3, end, type.list_size);
  if (error != std::errc{} || stop != end || type.list_size < 0) bad_arrow(type.name, "has a list of no size");
  type.kind = ArrowKind::List;
  return true;
}

void read_format(ArrowType& type) {
  const std::string_view format = type.format;
  for (const auto& known : kNumberFormats) {
    if (format.size() != 1 || format[0] != known.format) continue;
    type.kind = known.kind;
    type.size = known.size;
    return;
  }
  if (format == "vu") {
    type.kind = ArrowKind::TextView;
    type.size = 16;
  } else if (format == "+s") {
    type.kind = ArrowKind::Struct;
  } else if (!read_time_format(format, type) && !read_decimal_format(format, type) && !read_list_format(format, type)) {
    if (format.empty()) bad_arrow(type.name, "has an empty format");
    throw Error(ErrorKind::Unsupported,
                "Arrow's column '" + type.name.substr(0, 80) + "' has the format '" + type.format.substr(0, 40) + "'",
                std::nullopt, "columns are numbers, truth values, texts, days, times and dictionaries of them");
  }
}

std::int32_t metadata_number(const char*& at) {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

/// The extension of a dense tensor says its shape.
void read_extension(const char* metadata, ArrowType& type) {
  if (metadata == nullptr || type.kind != ArrowKind::List) return;
  const auto count = metadata_number(metadata);
  if (count < 0 || count > 1000) bad_arrow(type.name, "has metadata of no sensible length");
  std::string extension;
  std::string about;
  for (std::int32_t n = 0; n < count; ++n) {
    const auto next = [&] {
      const auto size = metadata_number(metadata);
      if (size < 0 || size > (1 << 20)) bad_arrow(type.name, "has metadata of no sensible length");
      std::string text(metadata, static_cast<std::size_t>(size));
      metadata += size;
      return text;
    };
    const auto key = next();
    auto value = next();
    if (key == "ARROW:extension:name") extension = std::move(value);
    else if (key == "ARROW:extension:metadata") about = std::move(value);
  }
  if (extension != "arrow.fixed_shape_tensor") return;
  const auto parsed = nlohmann::json::parse(about, nullptr, false);
  const auto shape = parsed.is_object() ? parsed.find("shape") : parsed.end();
  if (!parsed.is_object() || shape == parsed.end() || !shape->is_array())
    bad_arrow(type.name, "is a tensor without a shape");
  if (parsed.contains("permutation"))
    throw Error(ErrorKind::Unsupported, "Arrow's tensor '" + type.name + "' has its dimensions in another order",
                std::nullopt, "hand it over in row-major order");
  std::int64_t elements = 1;
  for (const auto& extent : *shape) {
    if (!extent.is_number_unsigned()) bad_arrow(type.name, "is a tensor whose shape is none");
    type.shape.push_back(extent.get<std::int64_t>());
    if (type.shape.back() < 0 || __builtin_mul_overflow(elements, type.shape.back(), &elements))
      bad_arrow(type.name, "is a tensor whose shape overflows");
  }
  if (elements != type.list_size) bad_arrow(type.name, "is a tensor with another number of elements than its shape");
  if (parsed.contains("dim_names") && parsed["dim_names"].is_array() && parsed["dim_names"].size() == type.shape.size())
    for (const auto& one : parsed["dim_names"]) type.dim_names.push_back(one.is_string() ? one.get<std::string>() : "");
}

ArrowType type_of(const ArrowSchema& schema, int depth) {
  ArrowType type;
  type.name = schema.name == nullptr ? "" : schema.name;
  if (schema.release == nullptr) bad_arrow(type.name, "has a schema that was released");
  if (schema.format == nullptr) bad_arrow(type.name, "has no format");
  if (depth > kDeepestArrow) bad_arrow(type.name, "is nested more than 16 deep");
  type.format = schema.format;
  read_format(type);
  const bool has_parts = type.kind == ArrowKind::List || type.kind == ArrowKind::Struct;
  if (schema.n_children < 0 || schema.n_children > kMostArrowColumns || (!has_parts && schema.n_children != 0) ||
      (type.kind == ArrowKind::List && schema.n_children != 1) || (schema.n_children > 0 && schema.children == nullptr))
    bad_arrow(type.name, "has " + std::to_string(schema.n_children) + " children");
  for (std::int64_t n = 0; n < schema.n_children; ++n) {
    if (schema.children[n] == nullptr) bad_arrow(type.name, "has no child where it must have one");
    type.parts.push_back(type_of(*schema.children[n], depth + 1));
  }
  if (schema.dictionary != nullptr) {
    if (type.kind != ArrowKind::Signed && type.kind != ArrowKind::Unsigned)
      bad_arrow(type.name, "has a dictionary whose keys are no integers");
    type.parts.push_back(type_of(*schema.dictionary, depth + 1));
    if (!type.parts.back().parts.empty()) bad_arrow(type.name, "has a dictionary of no plain values");
    type.kind = ArrowKind::Dictionary;
  }
  read_extension(schema.metadata, type);
  return type;
}

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

ArrowType arrow_type(const ArrowSchema& schema) { return type_of(schema, 0); }

ArrowColumn::ArrowColumn(const ArrowType& type, const ArrowArray& array, std::int64_t parent_offset,
                         std::optional<std::int64_t> length)
    : type_(&type) {
  if (array.release == nullptr) fail("was released");
  if (array.length < 0 || array.offset < 0) fail("has a negative length or offset");
  // Positions of texts are one more than the values, and bits are counted in bytes.
  constexpr std::int64_t kMost = std::int64_t{1} << 56U;
  if (array.length > kMost || array.offset > kMost || parent_offset > kMost) fail("has a length that overflows");
  length_ = length.value_or(array.length);
  if (parent_offset + length_ > array.length) fail("has fewer values than the table has rows");
  offset_ = array.offset + parent_offset;
  if (array.null_count < -1 || array.null_count > array.length) fail("has a number of missing values that cannot be");
  const auto buffers = buffer_count(type.kind);
  if ((buffers >= 0 && array.n_buffers != buffers) ||
      (buffers < 0 && (array.n_buffers < 3 || array.n_buffers > kMostViewBuffers)))
    fail("has " + std::to_string(array.n_buffers) + " buffers");
  if (array.n_buffers > 0 && array.buffers == nullptr) fail("has no buffers where it must have some");
  take_buffers(array);
}

void ArrowColumn::fail(const std::string& what) const { bad_arrow(type_->name, what); }

void ArrowColumn::take_buffers(const ArrowArray& array) {
  const auto buffer = [&](std::int64_t n) { return static_cast<const std::byte*>(array.buffers[n]); };
  if (array.n_buffers > 0 && array.null_count != 0) valid_ = buffer(0);
  if (array.null_count > 0 && array.n_buffers > 0 && valid_ == nullptr)
    fail("has missing values, and does not say which");
  const bool has_values = array.n_buffers > 1;
  if (has_values) values_ = buffer(1);
  if (has_values && values_ == nullptr && length_ > 0) fail("has no buffer of values");
  if (type_->kind == ArrowKind::Text || type_->kind == ArrowKind::LargeText) bytes_ = buffer(2);
  if (type_->kind == ArrowKind::TextView)
    for (std::int64_t n = 2; n + 1 < array.n_buffers; ++n) more_.push_back(buffer(n));
  const bool has_parts = type_->kind == ArrowKind::Struct || type_->kind == ArrowKind::List;
  if (array.n_children != (has_parts ? static_cast<std::int64_t>(type_->parts.size()) : 0) ||
      (array.n_children > 0 && array.children == nullptr))
    fail("has " + std::to_string(array.n_children) + " children");
  for (std::int64_t n = 0; n < array.n_children; ++n) {
    if (array.children[n] == nullptr) fail("has no child where it must have one");
    std::int64_t begin = offset_;
    std::int64_t count = length_;
    if (type_->kind == ArrowKind::List && (__builtin_mul_overflow(begin, type_->list_size, &begin) ||
                                           __builtin_mul_overflow(count, type_->list_size, &count)))
      fail("has lists that overflow");
    parts_.emplace_back(type_->parts[static_cast<std::size_t>(n)], *array.children[n], begin, count);
  }
  if (type_->kind == ArrowKind::Dictionary) {
    if (array.dictionary == nullptr) fail("has no dictionary");
    parts_.emplace_back(type_->parts.front(), *array.dictionary, 0, std::nullopt);
  }
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
  if (end > begin && bytes_ == nullptr) fail("has no buffer of texts");
  if (end == begin) return {};
  return {reinterpret_cast<const char*>(bytes_) + begin, static_cast<std::size_t>(end - begin)};
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
  if (buffer < 0 || std::cmp_greater_equal(buffer, more_.size()) || begin < 0 ||
      more_[static_cast<std::size_t>(buffer)] == nullptr)
    fail("has a text that lies in no buffer");
  return {reinterpret_cast<const char*>(more_[static_cast<std::size_t>(buffer)]) + begin,
          static_cast<std::size_t>(size)};
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

ArrowBatches::ArrowBatches(ArrowArrayStream& stream) : stream_(stream) {
  if (!stream_) throw Error(ErrorKind::Value, "a stream of Arrow was released, or read by others");
  if (stream_->get_schema == nullptr || stream_->get_next == nullptr)
    throw Error(ErrorKind::Corrupt, "a stream of Arrow lacks a callback");
  ArrowSchema schema{};
  if (const int code = stream_->get_schema(stream_.get(), &schema); code != 0) fail(code);
  const ArrowOwned<ArrowSchema> owned(schema);
  if (!owned) throw Error(ErrorKind::Corrupt, "a stream of Arrow has no schema");
  type_ = arrow_type(*owned);
}

void ArrowBatches::fail(int code) {
  const auto* text = stream_->get_last_error == nullptr ? nullptr : stream_->get_last_error(stream_.get());
  throw Error(ErrorKind::Io,
              "a stream of Arrow failed: " + std::string(text == nullptr ? std::strerror(code) : text).substr(0, 1000));
}

ArrowOwned<ArrowArray> ArrowBatches::next() {
  ArrowArray array{};
  if (const int code = stream_->get_next(stream_.get(), &array); code != 0) fail(code);
  return ArrowOwned<ArrowArray>(array);
}

std::vector<std::string> columns_of_batches(const ArrowBatches& batches) {
  if (batches.type().kind != ArrowKind::Struct)
    throw Error(ErrorKind::Type, "a stream of Arrow has single values, not rows of columns", std::nullopt,
                "hand over a table or record batches");
  std::vector<std::string> names;
  for (const auto& part : batches.type().parts) names.push_back(part.name);
  return names;
}

void load_batches(ArrowBatches& batches, RowLoader& loader) {
  const auto names = columns_of_batches(batches);
  std::vector<std::size_t> places;
  for (const auto& column : loader.columns()) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return equal_ignoring_case(name, column.name); });
    CHECK(found != names.end(), "a loader has the columns that it was asked for");
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  Row row(places.size());
  while (auto batch = batches.next()) {
    const ArrowColumn table(batches.type(), *batch, 0, std::nullopt);
    for (std::int64_t n = 0; n < table.length(); ++n) {
      if (table.is_null(n)) throw Error(ErrorKind::NullValue, "a batch of Arrow has a row that is missing as a whole");
      for (std::size_t c = 0; c < places.size(); ++c) row[c] = table.parts()[places[c]].cell(n);
      loader.add(row);
    }
  }
}

}  // namespace eindb

#include "server/value_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "server/bytea_text.hpp"
#include "server/copy_text.hpp"
#include "server/protocol/body_reader.hpp"

namespace eindb {
namespace {

using frontend::Format;

// Digits of the exponent's range in which %.15g and %.6g write no exponent.
constexpr int kLeastFixed = -4;
constexpr int kMostFixed32 = 6;
constexpr int kMostFixed64 = 15;

// "-d.ddde-xx" of std::to_chars, whose digits are the fewest, in the form of %g.
template <class T>
void append_shortest(std::string& out, T value) {
  std::array<char, 40> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills it
  auto* const end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
  const std::string_view all(text.data(), static_cast<std::size_t>(end - text.data()));
  const auto e = all.find('e');
  int exponent = 0;
  const auto sign_and_digits = all.substr(e + 1);
  std::from_chars(sign_and_digits.data() + (sign_and_digits[0] == '+' ? 1 : 0), end, exponent);
  if (exponent < kLeastFixed || exponent >= (sizeof(T) == 4 ? kMostFixed32 : kMostFixed64)) {
    out += all;
    return;
  }
  auto mantissa = all.substr(0, e);
  if (mantissa[0] == '-') {
    out += '-';
    mantissa.remove_prefix(1);
  }
  std::string digits(1, mantissa[0]);
  if (mantissa.size() > 2) digits += mantissa.substr(2);
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  out += std::string_view(digits).substr(0, whole);
  if (digits.size() < whole) out.append(whole - digits.size(), '0');
  else if (digits.size() > whole) out.append(".").append(digits, whole);
}

template <class T>
void append_real(std::string& out, T value) {
  if (std::isnan(value)) out += "NaN";
  else if (std::isinf(value)) out += value < 0 ? "-Infinity" : "Infinity";
  else append_shortest(out, value);
}

void append_integer(std::string& out, std::int64_t value) {
  std::array<char, 24> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills it
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* single = std::get_if<float>(&cell)) return *single;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

[[noreturn]] void fail_value(const Cell& cell, DataType type) {
  std::string text;
  append_text(text, cell);
  constexpr std::size_t kMostShown = 40;
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
  throw Error(ErrorKind::Type,
              "the value '" + text + "' is no " + std::string(find_data_type(type)->name) +
                  ", which the client was told of its column",
              std::nullopt, "CAST the column to one type");
}

bool is_text(DataType type) {
  using enum DataType;
  return type == Text || type == Varchar || type == BpChar || type == Name || type == Unknown || type == Unspecified ||
         type == Json;
}

// Bytes of an integer of the type; 0: it is none.
std::size_t integer_bytes(DataType type) {
  using enum DataType;
  if (type == Bool || type == Int2 || type == Int4 || type == Oid || type == Int8)
    return static_cast<std::size_t>(find_data_type(type)->size);
  return 0;
}

// The least and the most that an integer of so many bytes holds; object ids have no sign.
bool fits(std::int64_t value, DataType type) {
  if (type == DataType::Oid) return value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
  const auto bits = 8 * integer_bytes(type) - 1;
  return type == DataType::Int8 || (value >= -(std::int64_t{1} << bits) && value < (std::int64_t{1} << bits));
}

// As an integer of the type; a number without a fraction is one.
std::int64_t integer_of(const Cell& cell, DataType type) {
  constexpr double kBeyond = 9223372036854775808.0;
  const auto* integer = std::get_if<std::int64_t>(&cell);
  std::optional<std::int64_t> value;
  if (integer != nullptr) value = *integer;
  else if (const auto real = number_of(cell); real && *real == std::floor(*real) && std::abs(*real) < kBeyond)
    value = static_cast<std::int64_t>(*real);
  if (value && type == DataType::Bool) return *value != 0 ? 1 : 0;
  if (!value || !fits(*value, type)) fail_value(cell, type);
  return *value;
}

double real_of(const Cell& cell, DataType type) {
  const auto number = number_of(cell);
  if (!number) fail_value(cell, type);
  return *number;
}

bool is_utf8(std::string_view text) {
  try {
    check_copy_text(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// As a value of type text. Bytes that are none, a blob's in a column of no type, are shown as a bytea is.
void append_characters(std::string& out, const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr || is_utf8(*text)) append_text(out, cell);
  else append_bytea(out, *text);
}

void append_as_text(std::string& out, const Cell& cell, DataType type) {
  if (type == DataType::Bool) {
    out += integer_of(cell, type) != 0 ? 't' : 'f';
  } else if (type == DataType::Bytea) {
    std::string bytes;
    append_text(bytes, cell);
    append_bytea(out, bytes);
  } else if (integer_bytes(type) > 0) {
    append_integer(out, integer_of(cell, type));
  } else if (type == DataType::Float4 || type == DataType::Float8) {
    real_of(cell, type);  // it must be one
    append_text(out, cell);
  } else {
    append_characters(out, cell);
  }
}

void append_binary(std::string& out, const Cell& cell, DataType type) {
  if (is_text(type)) return append_characters(out, cell);
  if (type == DataType::Bytea || type == DataType::Char) return append_text(out, cell);
  if (const auto size = integer_bytes(type); size > 0) {
    const auto bits = integer_of(cell, type);
    char bytes[sizeof bits];
    store_big_endian(bytes, bits);
    out.append(bytes + sizeof bits - size, size);
    return;
  }
  const auto number = real_of(cell, type);
  if (type == DataType::Float4) append_big_endian(out, std::bit_cast<std::int32_t>(static_cast<float>(number)));
  else append_big_endian(out, std::bit_cast<std::int64_t>(number));
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v";
  const auto begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

[[noreturn]] void fail_text(std::string_view text, DataType type) {
  throw Error(ErrorKind::Value,
              "the parameter '" + std::string(text) + "' is no " + std::string(find_data_type(type)->name));
}

ParameterInput read_text(std::string_view text, DataType type) {
  const auto word = trimmed(text);
  using enum DataType;
  switch (type) {
    case Int2:
    case Int4:
    case Int8:
    case Oid:
      if (const auto value = parsed<std::int64_t>(word)) return *value;
      fail_text(text, type);
    case Float4:
    case Float8:
    case Numeric:
      if (const auto value = parsed<double>(word)) return *value;
      fail_text(text, type);
    case Bool: {
      static constexpr std::array kTrue{"t", "true", "1", "on", "yes", "y"};
      static constexpr std::array kFalse{"f", "false", "0", "off", "no", "n"};
      if (std::find(kTrue.begin(), kTrue.end(), word) != kTrue.end()) return std::int64_t{1};
      if (std::find(kFalse.begin(), kFalse.end(), word) != kFalse.end()) return std::int64_t{0};
      fail_text(text, type);
    }
    case Bytea: return read_bytea(text);
    default: break;
  }
  return std::string(text);
}

template <class T>
T fixed(std::string_view value) {
  if (value.size() == sizeof(T)) return load_big_endian<T>(value);
  throw ProtocolError(
      "a binary parameter has " + std::to_string(value.size()) + " bytes instead of " + std::to_string(sizeof(T)),
      "22P03");
}

ParameterInput read_binary(std::string_view value, DataType type) {
  using enum DataType;
  switch (type) {
    case Bool: return std::int64_t{fixed<std::int8_t>(value) != 0};
    case Int2: return std::int64_t{fixed<std::int16_t>(value)};
    case Int4: return std::int64_t{fixed<std::int32_t>(value)};
    case Oid: return std::int64_t{fixed<std::uint32_t>(value)};
    case Int8: return fixed<std::int64_t>(value);
    case Float4: return double{std::bit_cast<float>(fixed<std::uint32_t>(value))};
    case Float8: return std::bit_cast<double>(fixed<std::uint64_t>(value));
    case Bytea: return bytes_of(value);
    default: break;
  }
  if (is_text(type)) return std::string(value);
  const auto* const info = find_data_type(type);
  throw Error(ErrorKind::Unsupported,
              "binary parameters of type " +
                  (info != nullptr ? std::string(info->name) : std::to_string(static_cast<std::int32_t>(type))) +
                  " are not read",
              std::nullopt, "send the parameter as text, or as int8, float8 or text");
}

}  // namespace

void append_sql_number(std::string& out, double value) { append_real(out, value); }
void append_sql_number(std::string& out, float value) { append_real(out, value); }

void append_text(std::string& out, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) append_integer(out, *integer);
  else if (const auto* single = std::get_if<float>(&cell)) append_sql_number(out, *single);
  else if (const auto* real = std::get_if<double>(&cell)) append_sql_number(out, *real);
  else if (const auto* text = std::get_if<std::string>(&cell)) out += *text;
}

void write_value(MessageWriter& out, const Cell& cell, DataType type, Format format) {
  if (std::holds_alternative<std::monostate>(cell)) {
    out.integer<std::int32_t>(-1);
    return;
  }
  const auto begin = out.begin_value();
  if (format == Format::Text) append_as_text(out.buffer(), cell, type);
  else append_binary(out.buffer(), cell, type);
  out.end_value(begin);
}

void write_value(MessageWriter& out, double value, DataType type, Format format) {
  if (type == DataType::Float4) write_value(out, Cell(static_cast<float>(value)), type, format);
  else write_value(out, Cell(value), type, format);
}

ParameterInput read_value(std::string_view value, DataType type, Format format) {
  return format == Format::Text ? read_text(value, type) : read_binary(value, type);
}

}  // namespace eindb

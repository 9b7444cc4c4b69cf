#include "server/values/value_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/hexadecimal.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/array_text.hpp"
#include "engine/sql_functions/bytea_text.hpp"
#include "server/protocol/big_endian.hpp"
#include "server/protocol/body_reader.hpp"
#include "server/values/array_parameter.hpp"
#include "server/values/client_text.hpp"
#include "server/values/declared_type.hpp"
#include "server/values/moment_format.hpp"
#include "server/values/numeric_format.hpp"

namespace eindb {
namespace {

using frontend::Format;

// The range of decimal exponents in which %.15g and %.6g use no exponent.
constexpr int kLeastFixed = -4;
constexpr int kMostFixed32 = 6;
constexpr int kMostFixed64 = 15;

char* put(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

// The exponent in "-05", the text after the "e".
int read_exponent(std::string_view text) {
  int exponent = 0;
  for (const auto digit : text.substr(1)) exponent = 10 * exponent + (digit - '0');
  return text[0] == '-' ? -exponent : exponent;
}

// Writes digits "ddd" with the decimal point after the first `whole` of them: "0.00ddd", "d.dd", "ddd000".
char* put_fixed(char* to, std::string_view digits, int whole) {
  const auto size = static_cast<int>(digits.size());
  if (whole <= 0) return put(std::fill_n(put(to, "0."), -whole, '0'), digits);
  if (size <= whole) return std::fill_n(put(to, digits), whole - size, '0');
  const auto point = static_cast<std::size_t>(whole);
  return put(put(put(to, digits.substr(0, point)), "."), digits.substr(point));
}

// Converts the shortest digits from std::to_chars, "-d.ddde-xx", to the form of %g.
template <class T>
char* put_shortest(char* to, T value) {
  char* const end = std::to_chars(to, to + kMostNumberText, value, std::chars_format::scientific).ptr;
  if (*to == '-') ++to;
  const std::string_view all(to, static_cast<std::size_t>(end - to));
  const auto e = all.rfind('e');
  DCHECK(e != std::string_view::npos && e + 1 < all.size(), "a number in scientific form has an exponent");
  const int exponent = read_exponent(all.substr(e + 1));
  if (exponent < kLeastFixed || exponent >= (sizeof(T) == 4 ? kMostFixed32 : kMostFixed64)) return end;
  std::array<char, kMostNumberText> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  digits[0] = to[0];
  const auto* const digits_end = e > 1 ? std::copy(to + 2, to + e, digits.data() + 1) : digits.data() + 1;
  return put_fixed(to, {digits.data(), static_cast<std::size_t>(digits_end - digits.data())}, exponent + 1);
}

template <class T>
char* put_real(char* to, T value) {
  if (std::isnan(value)) return put(to, "NaN");
  if (std::isinf(value)) return put(to, value < 0 ? "-Infinity" : "Infinity");
  return put_shortest(to, value);
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

// The size of an integer type in bytes; 0 if it is not an integer type.
std::size_t integer_bytes(DataType type) {
  switch (type) {
    case DataType::Bool: return 1;
    case DataType::Int2: return 2;
    case DataType::Int4:
    case DataType::Oid: return 4;
    case DataType::Int8: return 8;
    default: return 0;
  }
}

// Whether the value fits an integer of this type. Object ids are unsigned.
bool fits(std::int64_t value, DataType type) {
  if (type == DataType::Oid) return value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
  DCHECK(integer_bytes(type) > 0, "an integer has bytes");
  const auto bits = 8 * integer_bytes(type) - 1;
  return type == DataType::Int8 || (value >= -(std::int64_t{1} << bits) && value < (std::int64_t{1} << bits));
}

// The cell as an integer of the type. Floating-point numbers without a fraction are accepted.
std::int64_t integer_of_cell(const Cell& cell, DataType type) {
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

bool is_client_text(std::string_view text) {
  try {
    check_client_text(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Appends the bytes of a blob, or those of a text or a number as text.
void append_bytes(std::string& out, const Cell& cell) {
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&cell)) out += text_of_bytes(*bytes);
  else append_text(out, cell);
}

// Appends the cell as text. Invalid UTF-8 in a text of SQLite's is written like bytea.
void append_characters(std::string& out, const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr || is_client_text(*text)) append_text(out, cell);
  else append_bytea(out, *text);
}

/// The characters, and blanks up to the width.
void append_padded(std::string& out, const Cell& cell, std::int64_t width) {
  const auto begin = out.size();
  append_characters(out, cell);
  if (width == 0) return;
  const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };  // of a character
  const auto characters = std::count_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), is_first);
  if (characters < width) out.append(static_cast<std::size_t>(width - characters), ' ');
}

void append_numeric_cell(std::string& out, const Cell& cell, std::int32_t modifier) {
  const auto scale = scale_of(modifier);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) append_numeric(out, *integer, scale);
  else append_numeric(out, real_of(cell, DataType::Numeric), scale);
}

const std::string& kept_text_of(const Cell& cell, DataType type) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) fail_value(cell, type);
  return *text;
}

void append_binary(std::string& out, const Cell& cell, DataType type, std::int32_t modifier);
ParameterInput read_text(std::string_view text, DataType type);

Cell cell_of(ParameterInput input) {
  if (const auto* integer = std::get_if<std::int64_t>(&input)) return *integer;
  if (const auto* real = std::get_if<double>(&input)) return *real;
  if (auto* text = std::get_if<std::string>(&input)) return std::move(*text);
  if (auto* bytes = std::get_if<std::vector<std::byte>>(&input)) return std::move(*bytes);
  return {};
}

// Arrays are kept as texts, whose elements are sent like values of their own.
void append_binary_array(std::string& out, const Cell& cell, DataType type) {
  const auto& text = kept_text_of(cell, type);
  if (text.starts_with("{{"))
    throw Error(ErrorKind::Unsupported, "an array of several dimensions is not sent in binary format", std::nullopt,
                "read the column as text");
  const auto element = element_type(type);
  const auto elements = read_array(text);
  const bool has_null = std::find(elements.begin(), elements.end(), std::nullopt) != elements.end();
  append_big_endian(out, std::int32_t{elements.empty() ? 0 : 1});
  append_big_endian(out, std::int32_t{has_null ? 1 : 0});
  append_big_endian(out, static_cast<std::int32_t>(element));
  if (elements.empty()) return;
  append_big_endian(out, static_cast<std::int32_t>(elements.size()));
  append_big_endian(out, std::int32_t{1});  // the lowest index
  for (const auto& each : elements) {
    if (!each) {
      append_big_endian(out, std::int32_t{-1});
      continue;
    }
    std::string value;
    append_binary(value, cell_of(read_text(*each, element)), element, -1);
    append_big_endian(out, static_cast<std::int32_t>(value.size()));
    out += value;
  }
}

void append_as_text(std::string& out, const Cell& cell, DataType type, std::int32_t modifier) {
  if (type == DataType::Numeric) {
    append_numeric_cell(out, cell, modifier);
  } else if (is_kept_as_text(type)) {
    append_kept_text(out, kept_text_of(cell, type), type);
  } else if (type == DataType::Bool) {
    out += integer_of_cell(cell, type) != 0 ? 't' : 'f';
  } else if (type == DataType::Bytea) {
    std::string bytes;
    append_bytes(bytes, cell);
    append_bytea(out, bytes);
  } else if (integer_bytes(type) > 0) {
    append_sql_number(out, integer_of_cell(cell, type));
  } else if (type == DataType::Float4 || type == DataType::Float8) {
    real_of(cell, type);  // throws unless it is a number
    append_text(out, cell);
  } else {
    append_padded(out, cell, width_of(type, modifier));
  }
}

// "1 2" as an array with one dimension, which begins at 0.
void append_binary_vector(std::string& out, const Cell& cell) {
  std::string text;
  append_text(text, cell);
  std::vector<std::int16_t> numbers;
  std::istringstream words(text);
  for (std::int16_t number = 0; words >> number;) numbers.push_back(number);
  for (const std::int32_t part :
       {1, 0, static_cast<std::int32_t>(DataType::Int2), static_cast<std::int32_t>(numbers.size()), 0})
    append_big_endian(out, part);
  for (const auto number : numbers) {
    append_big_endian(out, std::int32_t{sizeof number});
    append_big_endian(out, number);
  }
}

void append_binary(std::string& out, const Cell& cell, DataType type, std::int32_t modifier) {
  if (is_text(type)) return append_padded(out, cell, width_of(type, modifier));
  if (is_kept_as_text(type)) return append_kept_binary(out, kept_text_of(cell, type), type);
  if (is_array(type)) return append_binary_array(out, cell, type);
  if (type == DataType::Numeric) {
    std::string text;
    append_numeric_cell(text, cell, modifier);
    return append_binary_numeric(out, text);
  }
  if (type == DataType::Bytea || type == DataType::Char) return append_bytes(out, cell);
  if (type == DataType::Int2Vector) return append_binary_vector(out, cell);
  if (const auto size = integer_bytes(type); size > 0) {
    const auto bits = integer_of_cell(cell, type);
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
  throw CodedError("22P02", ErrorKind::Value,
                   "the value '" + std::string(text) + "' is no " + std::string(find_data_type(type)->name));
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
      const auto lower = to_lower(word);
      if (std::find(kTrue.begin(), kTrue.end(), lower) != kTrue.end()) return std::int64_t{1};
      if (std::find(kFalse.begin(), kFalse.end(), lower) != kFalse.end()) return std::int64_t{0};
      fail_text(text, type);
    }
    case Bytea: return bytes_of(read_bytea(text));
    default: break;
  }
  if (is_kept_as_text(type)) return read_kept_text(text, type);
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
    case Numeric: return read_binary_numeric(value);
    default: break;
  }
  if (is_kept_as_text(type)) return read_kept_binary(value, type);
  if (is_text(type)) {
    check_client_text(value);
    return std::string(value);
  }
  if (is_array(type)) return read_binary_array(value, type);
  const auto* const info = find_data_type(type);
  throw Error(ErrorKind::Unsupported,
              "binary parameters of type " +
                  (info != nullptr ? std::string(info->name) : std::to_string(static_cast<std::int32_t>(type))) +
                  " are not read",
              std::nullopt, "send the parameter as text, or as int8, float8 or text");
}

}  // namespace

char* put_sql_number(char* to, std::int64_t value) { return std::to_chars(to, to + kMostNumberText, value).ptr; }
char* put_sql_number(char* to, double value) { return put_real(to, value); }
char* put_sql_number(char* to, float value) { return put_real(to, value); }

void append_text(std::string& out, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) append_sql_number(out, *integer);
  else if (const auto* single = std::get_if<float>(&cell)) append_sql_number(out, *single);
  else if (const auto* real = std::get_if<double>(&cell)) append_sql_number(out, *real);
  else if (const auto* text = std::get_if<std::string>(&cell)) out += *text;
  else if (const auto* bytes = std::get_if<std::vector<std::byte>>(&cell)) append_bytea(out, text_of_bytes(*bytes));
}

void append_typed_text(std::string& out, const Cell& cell, DataType type, std::int32_t modifier) {
  if (!std::holds_alternative<std::monostate>(cell)) append_as_text(out, cell, type, modifier);
}

void write_value(MessageWriter& out, const Cell& cell, DataType type, Format format, std::int32_t modifier) {
  if (std::holds_alternative<std::monostate>(cell)) {
    out.integer<std::int32_t>(-1);
    return;
  }
  const auto begin = out.begin_value();
  if (format == Format::Text) append_as_text(out.buffer(), cell, type, modifier);
  else append_binary(out.buffer(), cell, type, modifier);
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

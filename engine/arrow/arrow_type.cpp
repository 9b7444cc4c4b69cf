#include "engine/arrow/arrow_type.hpp"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "common/error.hpp"

namespace eindb {
namespace {

constexpr int kDeepestArrow = 16;

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

/// The extension of a dense tensor says its shape.
void read_extension(const ArrowField& field, ArrowType& type) {
  if (type.kind != ArrowKind::List) return;
  std::string extension;
  std::string about;
  for (const auto& [key, value] : field.metadata) {
    if (key == "ARROW:extension:name") extension = value;
    else if (key == "ARROW:extension:metadata") about = value;
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

ArrowType arrow_type_of(const ArrowField& field, int depth) {
  ArrowType type;
  type.name = field.name;
  if (depth > kDeepestArrow) bad_arrow(type.name, "is nested more than 16 deep");
  type.format = field.format;
  read_format(type);
  const bool has_parts = type.kind == ArrowKind::List || type.kind == ArrowKind::Struct;
  if ((!has_parts && !field.children.empty()) || (type.kind == ArrowKind::List && field.children.size() != 1))
    bad_arrow(type.name, "has " + std::to_string(field.children.size()) + " children");
  for (const auto& child : field.children) type.parts.push_back(arrow_type_of(child, depth + 1));
  if (!field.dictionary.empty()) {
    if (type.kind != ArrowKind::Signed && type.kind != ArrowKind::Unsigned)
      bad_arrow(type.name, "has a dictionary whose keys are no integers");
    type.parts.push_back(arrow_type_of(field.dictionary.front(), depth + 1));
    if (!type.parts.back().parts.empty()) bad_arrow(type.name, "has a dictionary of no plain values");
    type.kind = ArrowKind::Dictionary;
  }
  read_extension(field, type);
  return type;
}

}  // namespace

void bad_arrow(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::Corrupt, "Arrow's column '" + name.substr(0, 80) + "' " + what);
}

ArrowType arrow_type(const ArrowField& field) { return arrow_type_of(field, 0); }

}  // namespace eindb

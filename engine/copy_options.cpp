#include "engine/copy_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "common/error.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// What FORMAT may say, and the endings that say the same.
struct FormatRow {
  std::string_view name;
  FileFormat format;
  std::array<std::string_view, 2> endings;
  char delimiter = ',';
  bool coordinates = false;
};
constexpr std::array<FormatRow, 7> kFormats{{{"npy", FileFormat::Npy, {"npy"}},
                                             {"csv", FileFormat::Csv, {"csv"}},
                                             {"tsv", FileFormat::Csv, {"tsv"}, '\t'},
                                             {"coo", FileFormat::Csv, {}, ',', true},
                                             {"tns", FileFormat::Tns, {"tns"}},
                                             {"mtx", FileFormat::Mtx, {"mtx"}},
                                             {"jsonl", FileFormat::JsonLines, {"jsonl", "ndjson"}}}};

std::string format_names() {
  std::string out;
  for (const auto& row : kFormats)
    out += (out.empty() ? "" : row.name == kFormats.back().name ? " or " : ", ") + std::string(row.name);
  return out;
}

const FormatRow* format_named(const std::string& name) {
  const auto* row = std::find_if(kFormats.begin(), kFormats.end(), [&](const auto& r) { return r.name == name; });
  return row == kFormats.end() ? nullptr : row;
}

const FormatRow* format_of_ending(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const auto ending = lower(path.substr(dot + 1));
  if (ending.empty()) return nullptr;
  for (const auto& row : kFormats)
    if (std::find(row.endings.begin(), row.endings.end(), ending) != row.endings.end()) return &row;
  return nullptr;
}

std::string text_of(const ast::Option& option) {
  if (!option.value) return "on";
  if (const auto* text = std::get_if<std::string>(&option.value->value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&option.value->value)) return std::to_string(*integer);
  return std::to_string(std::get<double>(option.value->value));
}

[[noreturn]] void refuse(const ast::Option& option, const std::string& takes) {
  throw Error(ErrorKind::Value, lower(option.name.text) + " cannot be '" + text_of(option) + "'",
              option.value ? option.value->span : option.name.span, lower(option.name.text) + " takes " + takes);
}

/// "1000,2000"; nothing for a scalar.
Shape read_shape(const ast::Option& option) {
  const auto text = text_of(option);
  std::vector<std::int64_t> extents;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto skip_spaces = [&] {
    while (at != end && *at == ' ') ++at;
  };
  for (skip_spaces(); at != end; skip_spaces()) {
    if (!extents.empty() && *at++ != ',') refuse(option, "extents, as in '1000,2000'");
    skip_spaces();
    const auto [stop, error] = std::from_chars(at, end, extents.emplace_back());
    if (error != std::errc{} || extents.back() < 0) refuse(option, "extents, as in '1000,2000'");
    at = stop;
  }
  return with_place(option.value ? option.value->span : option.name.span, [&] { return Shape(std::move(extents)); });
}

char read_delimiter(const ast::Option& option) {
  const auto text = text_of(option) == "\\t" ? "\t" : text_of(option);
  if (text.size() != 1 || text == "\n" || text == "\"") refuse(option, "one character");
  return text[0];
}

CsvHeader read_header(const ast::Option& option) {
  const auto value = lower(text_of(option));
  const bool on = value == "on" || value == "true" || value == "1";
  if (!on && value != "off" && value != "false" && value != "0") refuse(option, "on or off");
  return on ? CsvHeader::Present : CsvHeader::Absent;
}

/// The options as they come, in any order.
struct Given {
  const FormatRow* format = nullptr;
  std::optional<char> delimiter;
  CsvHeader header = CsvHeader::Auto;
  const ast::Option* layout = nullptr;
  const ast::Option* base = nullptr;
  const ast::Option* shape = nullptr;
};

void apply(const ast::Option& option, Given& out) {
  const auto name = lower(option.name.text);
  if (name == "format") {
    out.format = format_named(lower(text_of(option)));
    if (out.format == nullptr) refuse(option, format_names());
  } else if (name == "delimiter") {
    out.delimiter = read_delimiter(option);
  } else if (name == "header") {
    out.header = read_header(option);
  } else if (name == "layout") {
    out.layout = &option;
  } else if (name == "base") {
    out.base = &option;
  } else if (name == "shape") {
    out.shape = &option;
  } else {
    static constexpr std::array<std::string_view, 6> kNames{"format", "delimiter", "header", "layout", "base", "shape"};
    const auto nearest = nearest_name(name, kNames);
    throw Error(
        ErrorKind::UnknownName, "COPY has no option " + option.name.text, option.name.span,
        nearest ? "did you mean " + *nearest + "?" : "FORMAT, DELIMITER, HEADER, LAYOUT, BASE and SHAPE are there");
  }
}

void require(bool holds, const ast::Option& option, const std::string& where) {
  if (holds) return;
  throw Error(ErrorKind::Value, lower(option.name.text) + " says nothing here", option.name.span,
              lower(option.name.text) + " is for " + where);
}

void apply_layout(const Given& given, CopyOptions& out) {
  if (given.layout != nullptr) {
    const auto value = lower(text_of(*given.layout));
    if (value != "dense" && value != "coordinates") refuse(*given.layout, "dense or coordinates");
    require(out.format == FileFormat::Csv, *given.layout, "csv and tsv");
    out.coordinates = value == "coordinates";
  }
  if (given.base != nullptr) {
    const auto value = text_of(*given.base);
    if (value != "0" && value != "1") refuse(*given.base, "0 or 1");
    require(out.coordinates, *given.base, "coordinate lists; tns and mtx count from 1");
    out.base = value == "1" ? 1 : 0;
  }
  if (given.shape != nullptr) {
    require(out.coordinates || out.format == FileFormat::Tns, *given.shape, "coordinate lists and tns");
    out.shape = read_shape(*given.shape);
  }
}

}  // namespace

CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options) {
  Given given;
  for (const auto& option : options) apply(option, given);
  const auto* ending = format_of_ending(path);
  const auto* format = given.format != nullptr ? given.format : ending;
  if (format == nullptr) {
    throw Error(ErrorKind::Value, "the ending of '" + path + "' names no format that eindb knows", path_span,
                "add (FORMAT npy): " + format_names());
  }
  CopyOptions out;
  out.format = format->format;
  out.coordinates = format->coordinates;
  // A coordinate list has the delimiter of its ending.
  const auto* delimits = format->coordinates && ending != nullptr ? ending : format;
  out.csv = {.delimiter = given.delimiter.value_or(delimits->delimiter), .header = given.header};
  apply_layout(given, out);
  return out;
}

}  // namespace eindb

#include "engine/copy_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "common/error.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<FileFormat> format_named(const std::string& name) {
  if (name == "npy") return FileFormat::Npy;
  if (name == "csv") return FileFormat::Csv;
  return std::nullopt;
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

void apply(const ast::Option& option, CopyOptions& out, bool& has_format) {
  const auto name = lower(option.name.text);
  const auto value = lower(text_of(option));
  if (name == "format") {
    const auto format = format_named(value);
    if (!format) refuse(option, "npy or csv");
    out.format = *format;
    has_format = true;
  } else if (name == "delimiter") {
    const auto text = text_of(option) == "\\t" ? "\t" : text_of(option);
    if (text.size() != 1 || text == "\n" || text == "\"") refuse(option, "one character");
    out.csv.delimiter = text[0];
  } else if (name == "header") {
    const bool on = value == "on" || value == "true" || value == "1";
    if (!on && value != "off" && value != "false" && value != "0") refuse(option, "on or off");
    out.csv.header = on ? CsvHeader::Present : CsvHeader::Absent;
  } else {
    static constexpr std::array<std::string_view, 3> kNames{"format", "delimiter", "header"};
    const auto nearest = nearest_name(name, kNames);
    throw Error(ErrorKind::UnknownName, "COPY has no option " + option.name.text, option.name.span,
                nearest ? "did you mean " + *nearest + "?" : "FORMAT, DELIMITER and HEADER are there");
  }
}

}  // namespace

CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options) {
  CopyOptions out;
  bool has_format = false;
  for (const auto& option : options) apply(option, out, has_format);
  if (has_format) return out;
  const auto dot = path.rfind('.');
  const auto format = dot == std::string::npos ? std::nullopt : format_named(lower(path.substr(dot + 1)));
  if (!format) {
    throw Error(ErrorKind::Value, "the ending of '" + path + "' names no format that eindb knows", path_span,
                "add (FORMAT npy) or (FORMAT csv)");
  }
  out.format = *format;
  return out;
}

}  // namespace eindb

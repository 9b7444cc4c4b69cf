#include "server/copy/copy_option_reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/files/copy_options.hpp"

namespace eindb {
namespace {

constexpr std::array<std::string_view, 11> kNames{"format",     "delimiter", "null",        "header",
                                                  "quote",      "escape",    "force_quote", "force_not_null",
                                                  "force_null", "encoding",  "freeze"};

// Characters that may follow a backslash in text rows, and characters of numbers.
constexpr std::string_view kNoTextDelimiters = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kLineEnds = "\r\n";

bool is_one_of_ours(std::string_view name) { return std::find(kNames.begin(), kNames.end(), name) != kNames.end(); }

[[noreturn]] void refuse(const CopyOption& option, std::string message, std::string hint = {}) {
  throw Error(ErrorKind::Value, std::move(message), option.span, std::move(hint));
}

const CopyOption* find(const std::vector<CopyOption>& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const auto& one) { return one.name == name; });
  return found == options.end() ? nullptr : &*found;
}

void check_names(const std::vector<CopyOption>& options) {
  for (const auto& option : options) {
    if (!is_one_of_ours(option.name)) {
      const auto nearest = nearest_name(option.name, kNames);
      throw Error(ErrorKind::Syntax, "COPY has no option " + option.name + " for rows of a client", option.span,
                  nearest ? "did you mean " + *nearest + "?" : "");
    }
    if (find(options, option.name) != &option)
      throw Error(ErrorKind::Syntax, "the option " + option.name + " is there twice", option.span);
  }
}

const std::string& option_text(const CopyOption& option) {
  if (!option.text) throw Error(ErrorKind::Syntax, "the option " + option.name + " needs a value", option.span);
  return *option.text;
}

std::optional<bool> truth_of(const CopyOption& option) {
  if (!option.text) return option.columns.empty() ? std::optional(true) : std::nullopt;
  const auto word = to_lower(*option.text);
  if (word == "true" || word == "on" || word == "1") return true;
  if (word == "false" || word == "off" || word == "0") return false;
  return std::nullopt;
}

CopyFormat format_of(const std::vector<CopyOption>& options) {
  const auto* const option = find(options, "format");
  if (option == nullptr) return CopyFormat::Text;
  const auto name = to_lower(option_text(*option));
  if (name == "text") return CopyFormat::Text;
  if (name == "csv") return CopyFormat::Csv;
  if (name == "binary") return CopyFormat::Binary;
  refuse(*option, "there is no format \"" + name + "\" for COPY",
         "there are text, csv and binary, and the formats of files that COPY of a file has");
}

char byte_of(const CopyOption& option) {
  const auto& text = option_text(option);
  if (text.size() != 1) refuse(option, "the " + option.name + " of COPY is a single one-byte character");
  return text[0];
}

CopyHeader header_of(const CopyOption& option, CopySide side) {
  if (option.text && to_lower(*option.text) == "match") {
    if (side == CopySide::ToClient) refuse(option, "a header can only be matched with COPY FROM");
    return CopyHeader::Match;
  }
  const auto on = truth_of(option);
  if (!on) refuse(option, "header is true, false or match");
  return *on ? CopyHeader::Present : CopyHeader::Absent;
}

void check_encoding(const CopyOption& option) {
  const auto name = to_lower(option_text(option));
  if (name != "utf8" && name != "utf-8" && name != "unicode")
    throw Error(ErrorKind::Unsupported, "the encoding " + *option.text + " is not there", option.span,
                "rows are text in UTF8");
}

/// Checks options that apply only to CSV, some of them only in one direction.
void check_fits(const CopyOption& option, CopyFormat format, CopySide side) {
  const auto& name = option.name;
  const bool forced = name.starts_with("force_");
  if ((forced || name == "quote" || name == "escape") && format != CopyFormat::Csv)
    refuse(option, "the option " + name + " is there for the format csv only");
  if (forced && side != (name == "force_quote" ? CopySide::ToClient : CopySide::FromClient))
    refuse(option, "the option " + name + " is for COPY " + (name == "force_quote" ? "TO" : "FROM"));
  if ((name == "delimiter" || name == "null") && format == CopyFormat::Binary)
    refuse(option, "the format binary has no " + name);
}

void check_columns(const CopyOption& option) {
  const bool may_be_all = option.name == "force_quote";
  if (option.columns.empty() || (option.columns.all && !may_be_all))
    refuse(option, "the option " + option.name + " takes a list of columns");
}

void apply(const CopyOption& option, CopySide side, CopyFormatOptions& out) {
  check_fits(option, out.format, side);
  const auto& name = option.name;
  if (name == "delimiter") out.delimiter = byte_of(option);
  else if (name == "null") out.null = option_text(option);
  else if (name == "header") out.header = header_of(option, side);
  else if (name == "quote") out.quote = byte_of(option);
  else if (name == "escape") out.escape = byte_of(option);
  else if (name == "encoding") check_encoding(option);
  else if (name == "freeze" && !truth_of(option)) refuse(option, "freeze is true or false");
  if (!name.starts_with("force_")) return;
  check_columns(option);
  if (name == "force_quote") out.force_quote = option.columns;
  else if (name == "force_null") out.force_null = option.columns;
  else out.force_not_null = option.columns;
}

/// Describes a conflict between characters of the options; empty if there is none.
std::string clash_of(const CopyFormatOptions& out) {
  const bool csv = out.format == CopyFormat::Csv;
  if (out.format == CopyFormat::Binary)
    return out.header == CopyHeader::Absent ? "" : "the format binary has no header";
  if (kLineEnds.find(out.delimiter) != std::string_view::npos)
    return "a delimiter cannot be a newline or carriage return";
  if (out.null.find_first_of(kLineEnds) != std::string::npos)
    return "what stands for NULL cannot have a newline or carriage return";
  if (!csv && kNoTextDelimiters.find(out.delimiter) != std::string_view::npos)
    return std::string("the delimiter of text cannot be \"") + out.delimiter + "\"";
  if (csv && out.delimiter == out.quote) return "delimiter and quote are the same";
  if (out.null.find(out.delimiter) != std::string::npos) return "the delimiter is part of what stands for NULL";
  if (csv && out.null.find(out.quote) != std::string::npos) return "the quote is part of what stands for NULL";
  return "";
}

}  // namespace

bool ask_for_file(const std::vector<CopyOption>& options) {
  const auto* const format = find(options, "format");
  const bool named = format != nullptr && format->text.has_value();
  const auto name = named ? to_lower(*format->text) : "csv";
  if (name == "zarr")
    refuse(*format, "FORMAT zarr is of directories, which are not sent", "COPY TO 'x.zarr' writes one at the server");
  if (name != "csv") return is_file_format(name);
  const auto only_of_files = std::find_if(options.begin(), options.end(), [](const auto& option) {
    return is_file_option(option.name) && !is_one_of_ours(option.name);
  });
  if (only_of_files == options.end()) return false;
  if (!named) {
    refuse(*only_of_files, "the option " + only_of_files->name + " is for formats of files",
           "say which: (FORMAT npy, ...)");
  }
  return true;
}

CopyFormatOptions read_copy_format(const std::vector<CopyOption>& options, CopySide side) {
  check_names(options);
  auto out = CopyFormatOptions::of(format_of(options));
  for (const auto& option : options) apply(option, side, out);
  if (const auto* quote = find(options, "quote"); quote != nullptr && find(options, "escape") == nullptr)
    out.escape = out.quote;
  if (auto clash = clash_of(out); !clash.empty()) {
    CHECK(!options.empty(), "the options that nobody has given go together");
    throw Error(ErrorKind::Value, std::move(clash), cover(options.front().span, options.back().span));
  }
  return out;
}

}  // namespace eindb

#include "engine/files/copy_options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {

/// The name of a format for FORMAT, and the extensions of its files.
struct FormatRow {
  FileFormat format;
  std::string_view name;
  std::vector<std::string_view> endings;
};

const std::vector<FormatRow>& formats() {
  static const std::vector<FormatRow> kRows{
      {FileFormat::Npy, "npy", {"npy"}},
      {FileFormat::Npz, "npz", {"npz"}},
      {FileFormat::Csv, "csv", {"csv"}},
      {FileFormat::Tsv, "tsv", {"tsv"}},
      {FileFormat::Coo, "coo", {"coo"}},
      {FileFormat::Tns, "tns", {"tns"}},
      {FileFormat::Mtx, "mtx", {"mtx"}},
      {FileFormat::Scipy, "scipy", {}},  // files ending in .npz, as those of dense arrays do
      {FileFormat::JsonLines, "jsonl", {"jsonl", "ndjson"}},
      {FileFormat::Safetensors, "safetensors", {"safetensors"}},
      {FileFormat::Hdf5, "hdf5", {"h5", "hdf5", "he5"}},
      {FileFormat::Netcdf, "netcdf", {"nc", "nc4"}},
      {FileFormat::Gguf, "gguf", {"gguf"}},
      {FileFormat::Zarr, "zarr", {"zarr"}},
      {FileFormat::Arrow, "arrow", {"arrow", "feather"}},
      {FileFormat::ArrowStream, "arrows", {"arrows"}},
  };
  return kRows;
}

std::string_view name_of(FileFormat format) {
  const auto row = std::find_if(formats().begin(), formats().end(), [&](const auto& r) { return r.format == format; });
  CHECK(row != formats().end(), "every format has a name");
  return row->name;
}

/// A list such as "npy, npz, csv".
std::string format_names() {
  std::string out;
  for (const auto& row : formats()) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

std::optional<FileFormat> format_named(std::string_view name) {
  for (const auto& row : formats())
    if (row.name == name) return row.format;
  return std::nullopt;
}

std::optional<FileFormat> format_of_ending(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  auto ending = to_lower(path.substr(dot + 1));
  while (ending.ends_with('/')) ending.pop_back();  // of a directory
  for (const auto& row : formats())
    if (std::find(row.endings.begin(), row.endings.end(), ending) != row.endings.end()) return row.format;
  return std::nullopt;
}

std::string option_text(const ast::Option& option) {
  if (!option.value) return "on";
  if (const auto* text = std::get_if<std::string>(&option.value->value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&option.value->value)) return std::to_string(*integer);
  return std::to_string(std::get<double>(option.value->value));
}

[[noreturn]] void refuse(const ast::Option& option, const std::string& takes) {
  const auto name = to_lower(option.name.text);
  throw Error(ErrorKind::Value, name + (option.value ? " cannot be '" + option_text(option) + "'" : " needs a value"),
              option.value ? option.value->span : option.name.span, name + " takes " + takes);
}

bool switch_of(const ast::Option& option) {
  const auto value = to_lower(option_text(option));
  const bool on = value == "on" || value == "true" || value == "1";
  if (!on && value != "off" && value != "false" && value != "0") refuse(option, "on or off");
  return on;
}

void apply_format(const ast::Option& /*option*/, CopyOptions& /*out*/) {}  // chosen_format has read it already

void apply_delimiter(const ast::Option& option, CopyOptions& out) {
  const auto text = option_text(option) == "\\t" ? "\t" : option_text(option);
  if (text.size() != 1 || text == "\n" || text == "\"") refuse(option, "one character");
  out.csv.delimiter = text[0];
}

void apply_header(const ast::Option& option, CopyOptions& out) {
  out.csv.header = switch_of(option) ? CsvHeader::Present : CsvHeader::Absent;
}

void apply_layout(const ast::Option& option, CopyOptions& out) {
  const auto value = to_lower(option_text(option));
  if (value != "dense" && value != "coordinates") refuse(option, "dense or coordinates");
  out.cells.chosen = value == "coordinates";
}

void apply_base(const ast::Option& option, CopyOptions& out) {
  const auto value = option_text(option);
  if (value != "0" && value != "1") refuse(option, "0 or 1");
  out.cells.base = value == "1" ? 1 : 0;
}

/// Parses "1000,2000"; an empty text is the shape of a scalar.
Shape shape_of(const ast::Option& option) {
  const auto text = option_text(option);
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

void apply_shape(const ast::Option& option, CopyOptions& out) { out.shape = shape_of(option); }

void apply_chunks(const ast::Option& option, CopyOptions& out) {
  out.array.chunk = shape_of(option);
  if (out.array.chunk->element_count() == 0) refuse(option, "extents from 1 on, as in '100,200'");
}

void apply_array_name(const ast::Option& option, CopyOptions& out) {
  if (!option.value || option_text(option).empty()) refuse(option, "a name");
  out.array.name = option_text(option);
}

void apply_compression(const ast::Option& option, CopyOptions& out) {
  const auto value = to_lower(option_text(option));
  const bool is_zarr = out.format == FileFormat::Zarr;
  if (value == "none") out.array.compression = Compression::None;
  else if (!is_zarr && value == "deflate") out.array.compression = Compression::Deflate;
  else if (is_zarr && value == "zstd") out.array.compression = Compression::Zstd;
  else if (is_zarr && value == "gzip") out.array.compression = Compression::Gzip;
  else if (is_zarr && value == "blosc") out.array.compression = Compression::Blosc;
  else refuse(option, is_zarr ? "zstd, blosc, gzip or none" : "deflate or none");
}

void apply_version(const ast::Option& option, CopyOptions& out) {
  const auto value = option_text(option);
  if (value != "2" && value != "3") refuse(option, "2 or 3");
  out.array.version = value == "2" ? 2 : 3;
}

void apply_dtype(const ast::Option& option, CopyOptions& out) {
  out.array.type = parse_safetensors_type(option_text(option));
  if (!out.array.type) refuse(option, safetensors_type_names());
}

void apply_chunked(const ast::Option& option, CopyOptions& out) { out.array.chunked = switch_of(option); }

void apply_overwrite(const ast::Option& option, CopyOptions& out) {
  out.array.overwrite = switch_of(option) ? Overwrite::Yes : Overwrite::No;
}

void apply_raw(const ast::Option& option, CopyOptions& out) {
  out.array.packed_values = switch_of(option) ? PackedValues::Keep : PackedValues::Unpack;
}

/// An option, the formats that accept it (none: all), and whether it applies to reading or writing.
struct OptionRow {
  std::string_view name;
  void (*apply)(const ast::Option&, CopyOptions&);
  std::vector<FileFormat> formats;
  bool for_reading = true;
  bool for_writing = true;
  bool for_cells_only = false;  ///< for formats with two layouts: applies to lists of cells, not to matrices
};

const std::vector<OptionRow>& option_rows() {
  static const std::vector<FileFormat> kDelimited{FileFormat::Csv, FileFormat::Tsv, FileFormat::Coo};
  static const std::vector<FileFormat> kWithNames{FileFormat::Npz,    FileFormat::Safetensors, FileFormat::Hdf5,
                                                  FileFormat::Netcdf, FileFormat::Gguf,        FileFormat::Zarr};
  static const std::vector<FileFormat> kOverwritten{FileFormat::Npz,    FileFormat::Safetensors, FileFormat::Hdf5,
                                                    FileFormat::Netcdf, FileFormat::Gguf,        FileFormat::Scipy,
                                                    FileFormat::Zarr};
  static const std::vector<FileFormat> kWithShape{FileFormat::Npy,  FileFormat::Npz, FileFormat::Safetensors,
                                                  FileFormat::Gguf, FileFormat::Csv, FileFormat::Tsv,
                                                  FileFormat::Coo,  FileFormat::Tns};
  static const std::vector<OptionRow> kRows{
      {"format", apply_format, {}},
      {"delimiter", apply_delimiter, kDelimited},
      {"header", apply_header, kDelimited},
      {"layout", apply_layout, {FileFormat::Csv, FileFormat::Tsv}},
      {"base", apply_base, kDelimited, true, true, true},
      {"shape", apply_shape, kWithShape, true, false, true},
      {"member", apply_array_name, kWithNames},  // three names of one option, each from its format
      {"tensor", apply_array_name, kWithNames},
      {"dataset", apply_array_name, kWithNames},
      {"compression",
       apply_compression,
       {FileFormat::Npz, FileFormat::Hdf5, FileFormat::Netcdf, FileFormat::Scipy, FileFormat::Zarr},
       false},
      {"dtype", apply_dtype, {FileFormat::Safetensors}, false},
      {"chunked", apply_chunked, {FileFormat::Hdf5, FileFormat::Netcdf}, false},
      {"overwrite", apply_overwrite, kOverwritten, false},
      {"raw", apply_raw, {FileFormat::Hdf5, FileFormat::Netcdf, FileFormat::Zarr}, true, false},
      {"version", apply_version, {FileFormat::Zarr}, false},
      {"chunks", apply_chunks, {FileFormat::Zarr}, false},
  };
  return kRows;
}

const OptionRow& option_row(const ast::Option& option) {
  const auto name = to_lower(option.name.text);
  std::vector<std::string_view> names;
  for (const auto& row : option_rows()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  const auto nearest = nearest_name(name, names);
  std::string all;
  for (const auto known : names) all += (all.empty() ? "" : ", ") + std::string(known);
  throw Error(ErrorKind::UnknownName, "COPY has no option " + option.name.text, option.name.span,
              nearest ? "did you mean " + *nearest + "?" : "there are " + all);
}

void check_fits(const ast::Option& option, const OptionRow& row, FileFormat format, CopyDirection direction) {
  const auto fail = [&](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::Value, "the option " + option.name.text + " " + what, option.name.span, hint);
  };
  if (!row.formats.empty() && std::find(row.formats.begin(), row.formats.end(), format) == row.formats.end()) {
    std::string names;
    for (const auto one : row.formats) names += (names.empty() ? "" : ", ") + std::string(name_of(one));
    fail("is not there for " + std::string(name_of(format)), "it is there for " + names);
  }
  if (direction == CopyDirection::FromFile && !row.for_reading)
    fail("is for files that are written", "leave it out: what is read is what the file says, and stays as it is");
  if (direction == CopyDirection::ToFile && !row.for_writing)
    fail("is for files that are read", "leave it out: a file has the shape and the values of what is written");
}

void check_layout(const std::vector<ast::Option>& options, const CopyOptions& out) {
  const bool has_both = out.format == FileFormat::Csv || out.format == FileFormat::Tsv;
  if (!has_both || out.cells.chosen) return;
  for (const auto& option : options) {
    if (!option_row(option).for_cells_only) continue;
    throw Error(ErrorKind::Value, "the option " + option.name.text + " is for lists of cells, not for matrices",
                option.name.span, "add LAYOUT coordinates, or leave it out");
  }
}

/// Throws Error for the names and endings of formats of columns.
void refuse_columnar(std::string_view format, SourceSpan place) {
  if (format.starts_with('.')) format.remove_prefix(1);
  if (format != "parquet") return;
  throw Error(
      ErrorKind::Unsupported, "Parquet files are neither read nor written", place,
      "go by Arrow or CSV, or by npy for an array: pandas.read_parquet(...).to_csv('file.csv', index=False), and back "
      "pandas.read_csv('file.csv').to_parquet(...)");
}

FileFormat chosen_format(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options) {
  for (const auto& option : options) {
    if (to_lower(option.name.text) != "format") continue;
    const auto format = format_named(to_lower(option_text(option)));
    if (!format && option.value) refuse_columnar(to_lower(option_text(option)), option.value->span);
    if (!format) refuse(option, format_names());
    return *format;
  }
  if (const auto format = format_of_ending(path)) return *format;
  refuse_columnar(to_lower(path.substr(std::min(path.rfind('.'), path.size()))), path_span);
  throw Error(ErrorKind::Value, "the ending of '" + path + "' names no format that eindb knows", path_span,
              "add (FORMAT name), with one of " + format_names());
}

/// The defaults of a format, before any option.
CopyOptions defaults_of(FileFormat format, const std::string& path) {
  CopyOptions out;
  out.format = format;
  out.cells.chosen = format == FileFormat::Coo || format == FileFormat::Tns || format == FileFormat::Mtx ||
                     format == FileFormat::Scipy || format == FileFormat::Arrow || format == FileFormat::ArrowStream;
  const bool tabs =
      format == FileFormat::Tsv || (format == FileFormat::Coo && format_of_ending(path) == FileFormat::Tsv);
  if (tabs) out.csv.delimiter = '\t';
  return out;
}

}  // namespace

CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options,
                              CopyDirection direction) {
  for (const auto& option : options) option_row(option);  // reports a misspelt name first
  auto out = defaults_of(chosen_format(path, path_span, options), path);
  for (const auto& option : options) {
    const auto& row = option_row(option);
    check_fits(option, row, out.format, direction);
    row.apply(option, out);
  }
  check_layout(options, out);
  return out;
}

bool is_file_format(std::string_view name) { return format_named(name).has_value(); }

bool is_file_option(std::string_view name) {
  return std::any_of(option_rows().begin(), option_rows().end(), [&](const auto& row) { return row.name == name; });
}

}  // namespace eindb

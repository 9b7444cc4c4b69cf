#include "engine/files/table_import.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/hexadecimal.hpp"
#include "common/letter_case.hpp"
#include "engine/files/file_rows.hpp"
#include "engine/files/load_rows.hpp"
#include "engine/sql_types/value_type.hpp"
#include "storage/formats/array_name.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLargestRow = 1 << 30;

// ---- Values --------------------------------------------------------------------------------------------------------

template <class T>
std::optional<Cell> number_in(std::string_view text) {
  text = without_spaces(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (std::isnan(static_cast<double>(value))) return std::nullopt;  // SQLite has no NaN
  return Cell(value);
}

std::optional<Cell> truth_in(std::string_view text) {
  const auto word = to_lower(without_spaces(text));
  for (const char* yes : {"true", "t", "yes", "y", "on", "1"})
    if (word == yes) return Cell(std::int64_t{1});
  for (const char* no : {"false", "f", "no", "n", "off", "0"})
    if (word == no) return Cell(std::int64_t{0});
  return std::nullopt;
}

/// Bytes as COPY TO writes them.
std::optional<Cell> bytes_in(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> out;
  for (std::size_t n = 0; n < text.size(); n += 2) {
    const auto high = hex_digit(text[n]);
    const auto low = hex_digit(text[n + 1]);
    if (!high || !low) return std::nullopt;
    out.push_back(static_cast<std::byte>(*high << 4U | *low));
  }
  return Cell(std::move(out));
}

struct ReadValue {
  std::optional<Cell> cell;
  const char* wanted;  ///< for the message, if there is no cell
};

ReadValue read_value(std::string_view text, ValueType type) {
  switch (type) {
    case ValueType::Integer: return {number_in<std::int64_t>(text), "an integer of 64 bits"};
    case ValueType::Real: return {number_in<double>(text), "a number"};
    case ValueType::Number: {
      auto integer = number_in<std::int64_t>(text);
      return {integer ? std::move(integer) : number_in<double>(text), "a number"};
    }
    case ValueType::Boolean: return {truth_in(text), "true or false"};
    case ValueType::Blob: return {bytes_in(text), "bytes in hexadecimal digits"};
    default: return {Cell(std::string(text)), ""};
  }
}

// ---- Columns -------------------------------------------------------------------------------------------------------

bool has_column(const std::vector<Column>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& column) { return equal_ignoring_case(column.name, name); });
}

std::string list_of(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  return name_list(names);
}

/// The names of a header; empty if the line is none. Error{Corrupt} unless that is certain.
std::vector<std::string> header_of(const std::vector<CopyField>& line, const std::vector<Column>& columns,
                                   CsvHeader wanted) {
  if (wanted == CsvHeader::Absent) return {};
  std::vector<std::string> names;
  for (const auto& field : line) names.emplace_back(field ? without_spaces(*field) : "");
  const auto unknown =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return !has_column(columns, name); });
  if (unknown == names.end()) return names;
  if (wanted == CsvHeader::Present) {
    throw Error(ErrorKind::Corrupt, "the header names a column that the table does not have: " + quoted_name(*unknown),
                std::nullopt, "it has " + list_of(columns));
  }
  const bool has_number = std::any_of(
      line.begin(), line.end(), [](const CopyField& field) { return field && number_in<double>(*field).has_value(); });
  if (has_number) return {};
  throw Error(ErrorKind::Corrupt,
              "it is not certain whether the first line is a header: " + quoted_name(*unknown) +
                  " is no column, and no field is a number",
              std::nullopt, "say HEADER off, if it is a row; the columns are " + list_of(columns));
}

/// Loads rows into columns.
class TableImport {
 public:
  TableImport(const std::string& table, std::vector<std::string> names, SessionState& session)
      : loader_(load_rows({.schema = {}, .name = table, .columns = std::move(names)}, session)) {
    for (const auto& column : loader_->columns()) types_.push_back(declared_type(column.declared_type));
    row_.resize(types_.size());
  }

  void add(const std::vector<CopyField>& fields) {
    if (fields.size() != types_.size()) {
      throw Error(ErrorKind::Corrupt,
                  std::to_string(fields.size()) + (fields.size() == 1 ? " field, and " : " fields, and ") +
                      std::to_string(types_.size()) + " columns: " + list_of(loader_->columns()),
                  std::nullopt, "a value with delimiters or line ends in it stands in quotes");
    }
    for (std::size_t n = 0; n < fields.size(); ++n) row_[n] = fields[n] ? cell(*fields[n], n) : Cell();
    loader_->add(row_);
  }

  void finish() { loader_->finish(); }

 private:
  Cell cell(std::string_view text, std::size_t column) const {
    auto read = read_value(text, types_[column]);
    if (read.cell) return *std::move(read.cell);
    throw Error(ErrorKind::Value,
                "column " + loader_->columns()[column].name + ": " + quoted_name(text) + " is not " + read.wanted);
  }

  std::unique_ptr<RowLoader> loader_;
  std::vector<ValueType> types_;
  Row row_;  // reused for each row
};

}  // namespace

void import_rows(const FilePath& path, const CopyOptions& options, const std::string& table, SessionState& session) {
  if ((options.format != FileFormat::Csv && options.format != FileFormat::Tsv) || options.cells.chosen) {
    throw Error(ErrorKind::Unsupported, table + " is a table: rows are read from csv, tsv and arrow", std::nullopt,
                "read the file into a tensor, under a name that no table has");
  }
  const auto columns = columns_of_table({.schema = {}, .name = table, .columns = {}}, session.database.connection());
  CHECK(!columns.empty(), "rows are read into a table that is there");
  const auto largest_row = std::min(kLargestRow, session.user.settings.memory_limit() / 4);
  FileRows rows(path, options.csv.delimiter, largest_row);
  std::optional<TableImport> target;
  while (const auto* fields = rows.next()) {
    try {
      const bool is_first = !target.has_value();
      const auto header = is_first ? header_of(*fields, columns, options.csv.header) : std::vector<std::string>();
      if (is_first) target.emplace(table, header, session);
      if (header.empty()) target->add(*fields);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Cancelled) throw;
      throw rows.at_line(error);
    }
  }
  if (target) target->finish();
}

}  // namespace eindb

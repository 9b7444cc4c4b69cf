#include "storage/formats/csv_reader.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/csv_number.hpp"
#include "storage/formats/text_lines.hpp"

namespace eindb {
namespace {

/// Rows between two polls for cancellation.
constexpr std::int64_t kRowsPerCheck = 1024;

std::string count_of_fields(std::int64_t n) { return std::to_string(n) + (n == 1 ? " field" : " fields"); }

/// The fields of the first row, which may be names or numbers.
struct FirstRow {
  std::vector<std::string> texts;
  bool has_number = false;
  std::int64_t counted = 0;  // its columns if they are 0, 1, 2, ...
};

FirstRow read_first_row(CsvScanner& scanner) {
  FirstRow row;
  bool counts = true;
  for (CsvField field; scanner.next(field);) {
    row.has_number = row.has_number || parse_csv_real(field.text).has_value();
    if (!field.is_blank_line() && !row.has_number) row.texts.emplace_back(field.text);
    counts = counts && parse_csv_integer(field.text) == field.column - 1;
    if (field.ends_row && counts) row.counted = field.column;
    if (field.ends_row || (row.has_number && !counts)) break;
  }
  return row;
}

}  // namespace

CsvReader::CsvReader(const FilePath& path, CsvOptions options, const Cancellation* cancellation)
    : file_(path), options_(options), cancellation_(cancellation) {
  const auto first = read_first_row(bands_.emplace(file_, options_.delimiter));
  const bool has_header = options_.header == CsvHeader::Present ||
                          (options_.header == CsvHeader::Auto && !first.has_number && !first.texts.empty());
  const bool guessed = has_header && options_.header == CsvHeader::Auto;
  if (options_.header == CsvHeader::Auto) counted_ = first.counted;
  options_.header = has_header ? CsvHeader::Present : CsvHeader::Absent;
  survey();
  if (is_header_of_numbers()) {
    options_.header = CsvHeader::Present;
    --rows_;
  }
  if (guessed && rows_ == 0) check_names();
  survey_header(bands_.emplace(file_, options_.delimiter));
  CHECK(columns_ > 0 && rows_ >= 0, "a file that was surveyed has a shape");
}

void CsvReader::fail(std::int64_t line, const std::string& what) const {
  throw Error(ErrorKind::Corrupt, file_.path() + ", line " + std::to_string(line) + ": " + what);
}

void CsvReader::not_a_number(const CsvField& field) const {
  const auto place = file_.path() + ", line " + std::to_string(field.line) + ": column " + std::to_string(field.column);
  if (field.text.empty()) {
    const bool index = field.line == 1 && field.column == 1;
    throw Error(ErrorKind::Corrupt, place + " is empty", std::nullopt,
                index
                    ? "so pandas begins a file with its index: write it with index=False"
                    : "write nan or 0 where a value is missing; a list of those that are there has LAYOUT coordinates");
  }
  throw Error(ErrorKind::Corrupt, place + " is no number: " + shown_text(field.text), std::nullopt,
              field.line == 1 ? "with HEADER the first row is taken for names" : "each field must be a number");
}

/// Checks the only row of a file, which has no number and would be its header. Numbers with another delimiter between
/// them, or bytes that are no text, are no column names.
void CsvReader::check_names() const {
  CHECK(!header_.empty(), "what was taken for names was kept");
  const auto& row = header_.front();
  const auto fail_with = [&](const std::string& hint) {
    throw Error(ErrorKind::Corrupt, file_.path() + ", line 1: neither numbers nor names of columns: " + shown_text(row),
                std::nullopt, hint);
  };
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7F'; };
  for (const auto& name : header_)
    if (std::any_of(name.begin(), name.end(), is_control)) fail_with("a CSV file is text; FORMAT names another format");
  const auto other = header_.size() == 1 ? row.find_first_of(";\t|") : std::string::npos;
  if (other == std::string::npos) return;
  const std::string delimiter = row[other] == '\t' ? "\\t" : std::string(1, row[other]);
  fail_with("if fields end with it, add (DELIMITER '" + delimiter + "'); if it is a name, add (HEADER)");
}

/// The next field, skipping blank lines at the end of the file. A blank line before further rows is an error.
bool CsvReader::next_field(CsvScanner& scanner, CsvField& field) {
  if (!scanner.next(field)) return false;
  if (!field.is_blank_line()) return true;
  const auto line = field.line;
  while (scanner.next(field))
    if (!field.is_blank_line()) fail(line, "the line is empty");
  return false;
}

/// Reads past the header at the scanner's position, and keeps its names.
void CsvReader::survey_header(CsvScanner& scanner) {
  header_.clear();
  if (options_.header != CsvHeader::Present) return;
  for (CsvField field; next_field(scanner, field);) {
    header_.emplace_back(field.text);
    if (field.ends_row) break;
  }
}

void CsvReader::survey() {
  CsvScanner scanner(file_, options_.delimiter);
  survey_header(scanner);
  columns_ = static_cast<std::int64_t>(header_.size());
  for (CsvField field; next_field(scanner, field);) {
    survey_field(field);
    if (field.ends_row) end_row(field);
  }
  if (columns_ == 0) {
    throw Error(ErrorKind::Corrupt, file_.path() + " has no rows", std::nullopt,
                "a CSV file has at least one row of numbers or names");
  }
  if (rows_ == 0) dtype_ = DType::Float64;
}

/// Compares a field of a row after the first one with the first row, which is 0, 1, 2, ...
void CsvReader::survey_after_count(const CsvField& field) {
  const auto integer = parse_csv_integer(field.text);
  has_other_integers_ = has_other_integers_ || integer.has_value();
  counts_on_ = counts_on_ && integer == rows_ * counted_ + field.column - 1;
}

bool CsvReader::is_header_of_numbers() const {
  constexpr std::int64_t kFewestNames = 3;
  if (counted_ == 0 || counts_on_) return false;
  if (counted_ >= kFewestNames && !has_other_integers_) return true;
  throw Error(ErrorKind::Value,
              file_.path() + ", line 1: 0, 1, 2, ... may be names of columns, as pandas writes them, or numbers",
              std::nullopt, "say which: (HEADER on) or (HEADER off)");
}

void CsvReader::survey_field(const CsvField& field) {
  if (counted_ > 0 && rows_ > 0) survey_after_count(field);
  if (dtype_ == DType::Int64 && parse_csv_integer(field.text)) return;
  if (!parse_csv_real(field.text)) not_a_number(field);
  dtype_ = DType::Float64;
}

void CsvReader::end_row(const CsvField& last) {
  if (columns_ == 0) {
    columns_ = last.column;
    first_line_ = last.line;
  }
  if (last.column != columns_) {
    fail(last.line, count_of_fields(last.column) + ", but line " + std::to_string(first_line_) + " has " +
                        std::to_string(columns_));
  }
  if (++rows_ % kRowsPerCheck == 0 && cancellation_ != nullptr) cancellation_->check();
}

std::optional<Tile> CsvReader::next_band(std::int64_t max_rows) {
  CHECK(max_rows > 0, "a band has a row");
  const auto count = std::min(max_rows, rows_ - rows_given_);
  if (count == 0) return std::nullopt;
  auto band = Tile::uninitialized(dtype_, Shape({count, columns_}));
  fill(band);
  rows_given_ += count;
  CHECK(rows_given_ <= rows_, "each row is given once");
  return band;
}

void CsvReader::fill(Tile& band) {
  const auto changed = [&](bool wrong) {
    if (wrong) throw Error(ErrorKind::Io, file_.path() + " changed while it was read", std::nullopt, "try again");
  };
  CsvField field;
  for (std::int64_t n = 0; n < band.shape().element_count(); ++n) {
    changed(!next_field(*bands_, field) || field.column != n % columns_ + 1 ||
            field.ends_row != (field.column == columns_));
    if (dtype_ == DType::Int64) {
      const auto value = parse_csv_integer(field.text);
      changed(!value);
      band.mutable_data<std::int64_t>()[n] = *value;
    } else {
      const auto value = parse_csv_real(field.text);
      changed(!value);
      band.mutable_data<double>()[n] = *value;
    }
  }
  if (cancellation_ != nullptr) cancellation_->check();
}

}  // namespace eindb

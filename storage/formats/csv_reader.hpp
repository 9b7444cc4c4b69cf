#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/formats/csv_scanner.hpp"
#include "tensor/tile.hpp"

namespace eindb {

enum class CsvHeader : std::uint8_t {
  Auto,     ///< the first row is a header if none of its fields is a number, or all are 0, 1, 2, ... (see below)
  Present,  ///< the first row is a header
  Absent,
};

struct CsvOptions {
  char delimiter = ',';
  CsvHeader header = CsvHeader::Auto;
};

/// A first row of 0, 1, 2, ... is how pandas writes columns without names, and may be numbers as well. If the numbers
/// go on from row to row it is one of them; if there are three columns or more and no other field is an integer, it is
/// a header; else Auto is Error{Value} and the user has to say.
///
/// Reads a dense matrix of numbers from a CSV file in two passes: the constructor finds shape and type, and next_band
/// returns the rows in order. Memory is bounded by the band. Accepts spaces around numbers, quoted fields, empty lines
/// at the end, and inf, infinity and nan in any case. Not thread-safe.
class CsvReader {
 public:
  /// Error{Corrupt} with file, line and the offending text for rows of different lengths, a field that is no number, or
  /// no rows. `cancellation` may be null and must outlive the reader; it is polled.
  explicit CsvReader(const FilePath& path, CsvOptions options = {}, const Cancellation* cancellation = nullptr);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Shape shape() const { return Shape({rows_, columns_}); }
  /// INT64 if every field is an integer that fits, otherwise FLOAT64.
  DType dtype() const { return dtype_; }
  /// Names of the columns; empty without a header.
  const std::vector<std::string>& header() const { return header_; }

  /// The next `max_rows` (positive) rows, fewer at the end, as [rows, columns()] of dtype(); nullopt after the last.
  std::optional<Tile> next_band(std::int64_t max_rows);

 private:
  void survey();
  void survey_header(CsvScanner& scanner);
  void survey_field(const CsvField& field);
  void survey_after_count(const CsvField& field);
  bool is_header_of_numbers() const;
  void end_row(const CsvField& last);
  bool next_field(CsvScanner& scanner, CsvField& field);
  void fill(Tile& band);
  [[noreturn]] void fail(std::int64_t line, const std::string& what) const;
  [[noreturn]] void not_a_number(const CsvField& field) const;
  void check_names() const;

  InputFile file_;
  CsvOptions options_;
  const Cancellation* cancellation_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t first_line_ = 1;
  std::int64_t counted_ = 0;         // columns of a first row 0, 1, 2, ...; 0: it is none
  bool counts_on_ = true;            // whether all other rows continue its count
  bool has_other_integers_ = false;  // whether they have integers
  DType dtype_ = DType::Int64;
  std::vector<std::string> header_;
  std::optional<CsvScanner> bands_;  // of the second pass
  std::int64_t rows_given_ = 0;
};

}  // namespace eindb

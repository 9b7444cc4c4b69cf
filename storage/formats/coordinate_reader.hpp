#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/cells/cell_source.hpp"
#include "storage/formats/csv_reader.hpp"
#include "storage/formats/text_lines.hpp"
#include "tensor/index_names.hpp"

namespace eindb {

/// The form of a coordinate list, which has one cell per line: its key, then its value, of which complex numbers may
/// have the parts in two columns.
struct CoordinateOptions {
  char delimiter = ',';  ///< 0: any number of blanks and tabs
  CsvHeader header = CsvHeader::Auto;
  char comment = '\0';  ///< lines that begin with it are comments; 0: no comments
  std::int64_t base = 0;
  DimensionNames names = {};  ///< that stand in the place of indices
};

/// The form of FROSTT files: blanks, keys from 1, comments after '#'.
CoordinateOptions frostt_options();

/// Reads a list of cells: CSV, TSV, or FROSTT .tns. If shape or type are not given, a first pass over the file finds
/// them: the shape is the largest key of each column plus one; the type is INT64 if all values are integers that fit,
/// COMPLEX128 if one is complex, else FLOAT64. Empty lines are skipped. Memory does not depend on the size of the file.
/// A first line 0,1,2,... may be a header of pandas: if it has the only integer among the values, CsvHeader::Auto is
/// Error{Value}.
class CoordinateReader final : public CellSource {
 public:
  /// Error{Corrupt} with file and line for lines of different lengths or fields that are no numbers; Error{Value} for
  /// keys below the base, and for a file without lines if no shape is given; Error{Shape} for a shape beyond 64 bits.
  CoordinateReader(const FilePath& path, CoordinateOptions options, std::optional<Shape> shape,
                   std::optional<DType> dtype, const Cancellation& cancellation);

  DType dtype() const override { return *dtype_; }
  const Shape& shape() const override { return *shape_; }
  std::vector<std::string> labels() const override { return labels_; }
  std::int64_t base() const override { return options_.base; }
  bool next(KeyedCell& cell) override;
  std::string place(std::int64_t line) const override { return lines_.place(line); }
  std::int64_t done() const override { return lines_.bytes_read(); }
  std::int64_t total() const override { return file_.size(); }
  std::int64_t most_cells() const override { return file_.size() / 8; }  // bytes of a short line

 private:
  bool next_line(std::string_view& line);
  void read_first_line(const Cancellation& cancellation);
  void require_cell(const Cancellation& cancellation);
  bool gives_parts(std::string_view first_line, std::size_t columns, bool has_header) const;
  void survey(const Cancellation& cancellation);
  void extend(std::vector<std::int64_t>& extents, const KeyedCell& cell) const;
  bool take_field(std::string_view& rest, std::string_view& field) const;
  void parse(std::string_view line, KeyedCell& cell) const;
  CellValue parse_value(std::string_view field, std::size_t column) const;
  std::int64_t parse_index(std::string_view field, std::size_t column) const;
  std::int64_t index_called(std::string_view field, std::size_t column, const IndexNames& names) const;
  std::size_t count_fields(std::string_view line) const;
  [[noreturn]] void fail(const std::string& what, std::string hint = {}) const;
  [[noreturn]] void fail_count(std::string_view line) const;

  InputFile file_;
  TextLines lines_;
  CoordinateOptions options_;
  std::optional<Shape> shape_;
  std::optional<DType> dtype_;
  std::optional<std::size_t> rank_;
  bool in_parts_ = false;         // a real and an imaginary part in the place of a value
  std::int64_t header_line_ = 0;  // 0: there is none
  std::vector<std::string> labels_;
};

}  // namespace eindb

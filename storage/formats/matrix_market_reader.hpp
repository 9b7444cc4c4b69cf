#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/cells/cell_source.hpp"
#include "storage/formats/text_lines.hpp"

namespace eindb {

/// Reads a Matrix Market file (.mtx): array or coordinate; real, integer, complex or pattern (all cells are 1);
/// general, symmetric, skew-symmetric or hermitian, with both triangles returned. One pass, in memory that does not
/// depend on the file's size. The format is documented at the head of the source.
class MatrixMarketReader final : public CellSource {
 public:
  /// Reads the header. Error{Corrupt} with file and line if the file is no Matrix Market file or contradicts itself.
  explicit MatrixMarketReader(const FilePath& path);

  /// FLOAT64 for real and pattern, INT64, COMPLEX128.
  DType dtype() const override;
  const Shape& shape() const override { return shape_; }
  std::int64_t base() const override { return 1; }
  bool has_distinct_keys() const override { return is_array_; }
  /// Also throws Error{Corrupt} for entries in the triangle implied by symmetry, and if the number of entries differs
  /// from the header's.
  bool next(KeyedCell& cell) override;
  std::string place(std::int64_t line) const override { return lines_.place(line); }
  std::int64_t done() const override { return lines_.bytes_read(); }
  std::int64_t total() const override { return file_.size(); }
  std::int64_t most_cells() const override { return file_.size() / 8; }  // bytes of a short line

 private:
  enum class Field : std::uint8_t { Real, Integer, Complex, Pattern };
  enum class Symmetry : std::uint8_t { General, Symmetric, Skew, Hermitian };

  void read_banner();
  void read_size();
  bool next_line(std::string_view& line);
  std::int64_t array_entries() const;
  void read_key(std::string_view& line, KeyedCell& cell);
  void next_array_key(KeyedCell& cell);
  CellValue read_value(std::string_view& line) const;
  void check_triangle(const KeyedCell& cell) const;
  CellValue mirrored(const CellValue& value) const;
  std::int64_t take_integer(std::string_view& line, const char* what) const;
  double take_real(std::string_view& line) const;
  [[noreturn]] void fail(const std::string& what, std::string hint = {}) const;

  InputFile file_;
  TextLines lines_;
  bool is_array_ = false;
  Field field_ = Field::Real;
  Symmetry symmetry_ = Symmetry::General;
  Shape shape_;
  std::int64_t entries_ = 0;  // according to the header
  std::int64_t given_ = 0;
  std::int64_t row_ = -1;  // of the last entry of an array
  std::int64_t column_ = 0;
  KeyedCell mirror_;  // the mirror image of the last entry, to be returned next
  bool has_mirror_ = false;
};

}  // namespace eindb

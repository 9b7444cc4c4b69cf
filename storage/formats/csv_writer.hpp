#pragma once

#include <string>
#include <vector>

#include "storage/files/output_file.hpp"
#include "storage/formats/csv_reader.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Writes a matrix, a vector (one value per line) or a scalar as CSV, in bands of rows. Numbers are written in the
/// shortest form that reads back as the same value; reals keep a fraction: 3.0, not 3. The file appears with commit();
/// a pipe or a device receives the text immediately. Not thread-safe.
class CsvWriter {
 public:
  /// `header` names the columns; empty: no header. Error{Unsupported} for complex numbers and for more than two
  /// dimensions.
  CsvWriter(const FilePath& path, DType dtype, const Shape& shape, const std::vector<std::string>& header = {},
            char delimiter = ',');

  /// Appends the next rows: a tile of the file's type and rank, with all columns. All bands together have the file's
  /// shape.
  void append(const Tile& band);
  void commit();

 private:
  void put_name(const std::string& name);
  template <class T>
  void put_rows(const T* values, std::int64_t rows);
  void end_line();
  void flush();

  OutputFile file_;
  DType dtype_;
  std::size_t rank_;
  std::int64_t rows_left_;
  std::int64_t columns_;
  char delimiter_;
  std::string buffer_;
};

}  // namespace eindb

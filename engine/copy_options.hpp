#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "storage/coordinate_reader.hpp"
#include "storage/csv_reader.hpp"
#include "tensor/shape.hpp"

namespace eindb {

enum class FileFormat : std::uint8_t { Npy, Csv, Tns, Mtx, JsonLines };

/// What COPY ... (FORMAT csv, DELIMITER ';', HEADER on) says, checked.
struct CopyOptions {
  FileFormat format = FileFormat::Npy;
  CsvOptions csv;
  bool coordinates = false;  ///< of CSV: a cell per line, its key and its value, rather than a matrix
  std::int64_t base = 0;     ///< of the keys of such a list
  std::optional<Shape> shape;

  /// Whether the file is a list of cells.
  bool is_cell_list() const { return coordinates || format == FileFormat::Tns || format == FileFormat::Mtx; }
};

/// The format is that of FORMAT or else of the path's ending. Throws Error with the place of what does not fit.
CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options);

}  // namespace eindb

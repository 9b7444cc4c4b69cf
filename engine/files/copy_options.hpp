#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "storage/formats/csv_reader.hpp"
#include "storage/formats/npz_writer.hpp"
#include "storage/formats/safetensors_writer.hpp"
#include "tensor/shape.hpp"

namespace eindb {

enum class FileFormat : std::uint8_t { Npy, Npz, Csv, Tsv, Coo, Tns, Mtx, JsonLines, Safetensors, Hdf5 };

enum class CopyDirection : std::uint8_t { FromFile, ToFile };

/// What is said of lists of cells: a line with a key and a value for each.
struct CellListOptions {
  bool chosen = false;    ///< LAYOUT coordinates, or a format that is nothing else
  std::int64_t base = 0;  ///< of keys
};

/// What is said of files that hold arrays by name.
struct ArrayOptions {
  std::string name;  ///< MEMBER, TENSOR or DATASET; empty: the only one, or the tensor's own name
  Compression compression = Compression::None;
  std::optional<SafetensorsType> type;  ///< DTYPE; none: that of the tensor
  bool chunked = false;
};

/// What COPY ... (FORMAT csv, DELIMITER ';', HEADER on) says, checked.
struct CopyOptions {
  FileFormat format = FileFormat::Npy;
  CsvOptions csv;
  std::optional<Shape> shape;  ///< of a list of cells; or what the values of an array are, in row-major order
  CellListOptions cells;
  ArrayOptions array;
};

/// The format is that of FORMAT or else of the path's ending. Throws Error with the place of what does not fit: options
/// and values that do not exist, or that are not for this format or direction.
CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options,
                              CopyDirection direction);

/// Whether FORMAT may be `name`, in lower case.
bool is_file_format(std::string_view name);
/// Whether COPY of files has an option of this name, in lower case.
bool is_file_option(std::string_view name);

}  // namespace eindb

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "storage/formats/compression.hpp"
#include "storage/formats/csv_reader.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/packing.hpp"
#include "storage/formats/safetensors_writer.hpp"
#include "tensor/shape.hpp"

namespace eindb {

enum class FileFormat : std::uint8_t {
  Npy,
  Npz,
  Csv,
  Tsv,
  Coo,
  Tns,
  Mtx,
  Scipy,
  JsonLines,
  Safetensors,
  Hdf5,
  Netcdf,
  Gguf,
  Zarr,
  Arrow,
  ArrowStream
};

enum class CopyDirection : std::uint8_t { FromFile, ToFile };

/// Options of lists of cells, with one key and value per line.
struct CellListOptions {
  bool chosen = false;    ///< by LAYOUT coordinates, or by a format that has no other layout
  std::int64_t base = 0;  ///< the first index of a dimension in keys
};

/// Options of files that hold named arrays.
struct ArrayOptions {
  std::string name;  ///< MEMBER, TENSOR or DATASET; empty: the only array, or the tensor's own name
  Compression compression = Compression::None;
  std::optional<StoredType> type;  ///< DTYPE; none: the tensor's type
  bool chunked = false;
  Overwrite overwrite = Overwrite::No;                ///< of what the file holds already
  PackedValues packed_values = PackedValues::Unpack;  ///< RAW: as they are stored
  std::optional<int> version;                         ///< VERSION of the format; none: that of what is there
  std::optional<Shape> chunk;                         ///< CHUNKS; none: along the tiles
};

/// The options of a COPY statement, checked: (FORMAT csv, DELIMITER ';', HEADER on).
struct CopyOptions {
  FileFormat format = FileFormat::Npy;
  CsvOptions csv;
  std::optional<Shape> shape;  ///< of a list of cells; or the shape for an array's values, in row-major order
  CellListOptions cells;
  ArrayOptions array;
};

/// FORMAT gives the format, or else the extension of the path. Throws Error with the place of any option or value that
/// does not exist or does not apply to this format or direction.
CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options,
                              CopyDirection direction);

/// Whether FORMAT may be `name`, in lower case.
bool is_file_format(std::string_view name);
/// Whether COPY of files has an option of this name, in lower case.
bool is_file_option(std::string_view name);

}  // namespace eindb

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/output_directory.hpp"
#include "storage/formats/compression.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/zarr_metadata.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// An array of Zarr that is to be made.
struct ZarrNewArray {
  std::string name;                  ///< its path below the store; empty: the store is the array
  StoredType type = DType::Float64;  ///< floats that NumPy lacks become FLOAT32
  Shape shape;
  std::vector<std::string> labels;  ///< of the dimensions
  std::vector<std::int64_t> chunk;  ///< extents of a chunk, at least 1 each
  Compression compression = Compression::None;
  std::optional<int> version;  ///< 2 or 3; none: that of the store, or 2
};

/// Writes an array into a directory of Zarr chunk by chunk: a new store, or an array that is added to one, with the
/// groups on the way to it. It appears with commit(), as OutputDirectory says; otherwise nothing remains, and a store
/// is as it was. Chunks that are never written are zeros. Not thread-safe.
class ZarrWriter {
 public:
  /// A store that is an array is replaced by another of its kind, any other array or store only with `overwrite`; what
  /// is no store of Zarr never. Error{DuplicateName} for what is there, Error{Value} for a name that is no path below
  /// the store or that Zarr reserves, Error{Unsupported} for a store of another version, or with consolidated metadata,
  /// Error{Io} if there cannot be such a directory.
  ZarrWriter(const FilePath& path, const ZarrNewArray& made, Overwrite overwrite);

  /// Writes a chunk that has not been written, a tile of its whole extents with the values of the array's type; beyond
  /// the shape they are 0.
  void write_chunk(const std::vector<std::int64_t>& key, const Tile& chunk);
  /// Writes the metadata, and makes the array appear.
  void commit();

 private:
  void find_place(const FilePath& path, const ZarrNewArray& made, Overwrite overwrite);
  void write_text(const std::string& name, const std::string& text);

  ZarrArray array_;
  Compression compression_;
  std::vector<std::string> new_groups_;  // below the directory that appears; "" for itself
  std::string inside_;                   // the array's path below that directory; empty: it is the array
  bool replaces_ = false;
  std::int64_t written_ = 0;  // chunks
  std::optional<OutputDirectory> directory_;
};

}  // namespace eindb

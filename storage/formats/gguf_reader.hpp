#pragma once

#include <string>
#include <vector>

#include "storage/formats/gguf_header.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads blocks of one tensor of a GGUF file. Thread-safe once built.
class GgufReader {
 public:
  /// Opens the tensor `name`, or, if that is empty, the only one. Throws the errors of read_gguf_header and
  /// choose_array; Error{Unsupported} for a tensor of a type that tensors cannot have.
  GgufReader(const FilePath& path, const std::string& name);
  /// Opens a tensor that read_gguf_header has found in the file; Error{Unsupported} as above.
  GgufReader(const FilePath& path, GgufEntry entry);

  DType dtype() const { return type().values; }
  /// That of a tensor that keeps the file's elements.
  StoredType type() const { return *entry_.stored; }
  const Shape& shape() const { return entry_.shape; }
  /// Reads the values in another shape, in row-major order. Error{Shape} unless it has as many elements.
  void reshape(const Shape& shape);
  /// The block of `extents` at `begin`, which must lie within shape(). Takes some MiB beyond the tile.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;
  /// The same, but where its rows begin and end with blocks of cells with a scale, these stay as they are, and the tile
  /// is encoded (Tile::encoding).
  Tile load_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;

 private:
  bool has_whole_units(const std::vector<std::int64_t>& begin, const Shape& extents) const;

  InputFile file_;
  GgufEntry entry_;
};

}  // namespace eindb

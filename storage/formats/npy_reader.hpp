#pragma once

#include <string>
#include <vector>

#include "storage/formats/npy_header.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads blocks of an NPY file: format versions 1 to 3, both byte orders, row-major and column-major, floats, complex
/// numbers, integers and bool. Thread-safe once built.
class NpyReader {
 public:
  /// Opens the file and verifies its header; see read_npy_header.
  explicit NpyReader(const FilePath& path);

  /// The element type of the tensor.
  DType dtype() const { return header_.element.dtype(); }
  /// That of a tensor that keeps the file's elements.
  StoredType type() const { return header_.element.type(); }
  const Shape& shape() const { return header_.shape; }

  /// Reads the values in another shape; see reshape_array.
  void reshape(const Shape& shape) { reshape_array(header_, shape, file_.path()); }
  /// The block of `extents` at `begin`, which must lie within shape(); see read_dense_block.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;

 private:
  InputFile file_;
  NpyHeader header_;
};

}  // namespace eindb

#pragma once

#include <string>
#include <vector>

#include "storage/formats/safetensors_header.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads blocks of one tensor of a safetensors file. Thread-safe once built.
class SafetensorsReader {
 public:
  /// Opens the tensor `name`, or, if that is empty, the only one. Throws the errors of read_safetensors_header and
  /// choose_array; Error{Unsupported} for a tensor of floats of less than 8 bits, and of scales (F8_E8M0).
  SafetensorsReader(const FilePath& path, const std::string& name);
  /// Opens a tensor that read_safetensors_header has found in the file; Error{Unsupported} as above.
  SafetensorsReader(const FilePath& path, const SafetensorsEntry& entry);

  DType dtype() const { return array_.element.dtype(); }
  /// That of a tensor that keeps the file's elements.
  StoredType type() const { return array_.element.type(); }
  const Shape& shape() const { return array_.shape; }
  /// Reads the values in another shape; see reshape_array.
  void reshape(const Shape& shape) { reshape_array(array_, shape, file_.path()); }
  /// The block of `extents` at `begin`, which must lie within shape(); see read_dense_block.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;

 private:
  InputFile file_;
  NpyHeader array_;
};

}  // namespace eindb

#pragma once

#include <string>
#include <vector>

#include "storage/formats/safetensors_header.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads blocks of one tensor of a safetensors file. Thread-safe once built.
class SafetensorsReader {
 public:
  /// The tensor `name`, or if that is empty the only one. Throws what read_safetensors_header and choose_array throw;
  /// Error{Unsupported} for a tensor of 8-bit floats or smaller.
  SafetensorsReader(const FilePath& path, const std::string& name);

  DType dtype() const { return array_.element.dtype(); }
  const Shape& shape() const { return array_.shape; }
  /// Has the values read in another shape; see reshape_array.
  void reshape(const Shape& shape) { reshape_array(array_, shape, file_.path()); }
  /// The block of `extents` at `begin`, which lies in shape(); see read_dense_block.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;

 private:
  InputFile file_;
  NpyHeader array_;
};

}  // namespace eindb

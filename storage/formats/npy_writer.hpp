#pragma once

#include <string>
#include <vector>

#include "storage/files/output_file.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Writes an NPY file (version 1, row-major, little-endian) block by block. The file appears with commit(); without it
/// nothing is left. Blocks that are never written are zeros.
/// Threads: write_block from any once built; the rest one at a time.
class NpyWriter {
 public:
  /// Error{Io} if the file cannot be made, or is a pipe or a device.
  NpyWriter(const FilePath& path, DType dtype, Shape shape);

  /// Puts `block`, whose type is the file's, at `begin`. Blocks come in any order and must not overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  DType dtype_;
  Shape shape_;
  std::int64_t data_offset_ = 0;
};

}  // namespace eindb

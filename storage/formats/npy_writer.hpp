#pragma once

#include <string>
#include <vector>

#include "storage/files/output_file.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Writes an NPY file (version 1, row-major, little-endian) block by block. The file appears with commit(); otherwise
/// nothing remains. Blocks that are never written are zeros. Threads: write_block from any thread once constructed; the
/// rest one at a time.
class NpyWriter {
 public:
  /// Error{Io} if the file cannot be created, or is a pipe or a device.
  NpyWriter(const FilePath& path, StoredType type, Shape shape);

  /// Writes `block`, which has the values of the file's type, at `begin`. Blocks may come in any order and must not
  /// overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  DType dtype_;         // of blocks
  NpyElement element_;  // of the file
  Shape shape_;
  std::int64_t data_offset_ = 0;
};

}  // namespace eindb

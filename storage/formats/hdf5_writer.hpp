#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/files/output_file.hpp"
#include "storage/formats/isolated_process.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// How the values of a data set lie in its file.
struct Hdf5Layout {
  /// Extents of a chunk, at least 1 each; none: contiguous. Chunks larger than 1 MiB are made smaller.
  std::optional<std::vector<std::int64_t>> chunk;
  bool deflate = false;  ///< of chunks only, with the bytes shuffled
};

/// Writes an HDF5 file of one data set block by block; complex numbers are compounds of r and i, as h5py has them. The
/// file appears with commit(); without it nothing is left. Blocks that are never written are zeros. libhdf5, which may
/// crash where memory is short, runs in a process of its own: that is an Error here. One thread at a time.
class Hdf5Writer {
 public:
  /// `name` is a path from the root group; groups on the way are made. Error{Value} for a path that names nothing,
  /// Error{Unsupported} for more than 32 dimensions, Error{Io} if the file cannot be made, or is a pipe or a device.
  /// `cancellation`, which may be null and must outlive the writer, ends every wait for the process.
  Hdf5Writer(const FilePath& path, const std::string& name, DType dtype, Shape shape, const Hdf5Layout& layout = {},
             const Cancellation* cancellation = nullptr);

  /// Puts `block`, whose type is the file's, at `begin`. Blocks come in any order and must not overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void commit();

 private:
  OutputFile output_;
  DType dtype_;
  Shape shape_;
  std::optional<IsolatedProcess> process_;  // ends before output_ removes what it writes
};

}  // namespace eindb

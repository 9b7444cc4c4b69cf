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

/// The storage layout of a data set.
struct Hdf5Layout {
  /// Extents of a chunk, at least 1 each; nullopt: contiguous. Chunks larger than 1 MiB are made smaller.
  std::optional<std::vector<std::int64_t>> chunk;
  bool deflate = false;  ///< compresses chunks, with shuffled bytes; requires chunks
};

/// Writes an HDF5 file with one data set block by block; complex numbers are compounds of r and i, as in h5py. The file
/// appears with commit(); otherwise nothing remains. Blocks that are never written are zeros. libhdf5 may crash if
/// memory is short, so it runs in a separate process, whose crash is an Error here. Not thread-safe.
class Hdf5Writer {
 public:
  /// `name` is a path from the root group; intermediate groups are created. Error{Value} for an invalid path,
  /// Error{Unsupported} for more than 32 dimensions, Error{Io} if the file cannot be created, or is a pipe or a device.
  /// `cancellation` may be null and must outlive the writer; it ends every wait for the process.
  Hdf5Writer(const FilePath& path, const std::string& name, DType dtype, Shape shape, const Hdf5Layout& layout = {},
             const Cancellation* cancellation = nullptr);

  /// Writes `block`, which has the file's type, at `begin`. Blocks may come in any order and must not overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void commit();

 private:
  OutputFile output_;
  DType dtype_;
  Shape shape_;
  std::optional<IsolatedProcess> process_;  // destroyed before output_ removes its file
};

}  // namespace eindb

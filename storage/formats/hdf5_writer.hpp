#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/files/output_file.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/hdf5_new_dataset.hpp"
#include "storage/formats/isolated_process.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Writes a data set to an HDF5 file block by block; complex numbers are compounds of r and i, as in h5py. What an HDF5
/// file that is there holds besides is kept: the bytes of the file are copied first, and the copy appears in its place
/// with commit(). Until then, and if it is never called, the file stays as it was. Blocks that are never written are
/// zeros. libhdf5 may crash if memory is short or the file is damaged, so it runs in a separate process, with limits
/// where it opens a file of others; its crash is an Error here. Not thread-safe.
class Hdf5Writer {
 public:
  /// Groups on the way to the data set are made. With `overwrite` a data set of the same name is replaced, and a file
  /// that is no HDF5 file. Error{Value} for an invalid name, Error{Unsupported} for more than 32 dimensions, Error{Io}
  /// if the file cannot be created, or is a pipe or a device; Error{DuplicateName} for a name that is taken,
  /// Error{Corrupt} for another file or a damaged one, Error{Busy} while another program writes the file.
  /// `cancellation` may be null and must outlive the writer; it ends every wait for the process.
  Hdf5Writer(const FilePath& path, const Hdf5NewDataset& dataset, Overwrite overwrite = Overwrite::No,
             const Cancellation* cancellation = nullptr);

  /// Writes `block`, which has the file's type, at `begin`. Blocks may come in any order and must not overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  /// Error{Conflict} if the file has been made, changed or replaced by others since the constructor.
  void commit();

 private:
  bool copy_target(const FilePath& path, Overwrite overwrite, const Cancellation* cancellation);

  OutputFile output_;
  DType dtype_;
  Shape shape_;
  std::optional<IsolatedProcess> process_;  // destroyed before output_ removes its file
};

}  // namespace eindb

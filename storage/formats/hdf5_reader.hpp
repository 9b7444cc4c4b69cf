#pragma once

#include <string>
#include <vector>

#include "storage/files/input_file.hpp"
#include "storage/formats/isolated_reader.hpp"
#include "storage/formats/packing.hpp"

namespace eindb {

/// Reads blocks of a data set of an untrusted HDF5 file: libhdf5 runs in a separate process. Not thread-safe.
class Hdf5Reader {
 public:
  /// Opens the data set `name`, or, if that is empty, the only one beside coordinates; Hdf5Dataset describes the
  /// supported types. Chunks may have up to a quarter of `memory_limit` bytes. Error{Io} for a path that cannot be
  /// read.
  Hdf5Reader(const FilePath& path, const std::string& name, std::int64_t memory_limit,
             const Cancellation* cancellation = nullptr, PackedValues values = PackedValues::Unpack);

  DType dtype() const { return reader_.dtype(); }
  /// That of a tensor which keeps the file's elements.
  StoredType type() const { return reader_.type(); }
  const Shape& shape() const { return reader_.shape(); }
  /// The names of its dimensions, as netCDF has them.
  const std::vector<std::string>& labels() const { return reader_.labels(); }
  /// The block of `extents` at `begin`, which must lie within shape().
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
    return reader_.read_block(begin, extents);
  }

 private:
  InputFile file_;  // verified to be a regular file
  IsolatedReader reader_;
};

}  // namespace eindb

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/hdf5_library.hpp"
#include "storage/formats/hdf5_new_dataset.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// An HDF5 file that gets one data set. libhdf5 may crash when memory is short, or on a file that others have made, so
/// use it only in a separate process, as Hdf5Writer does. Not thread-safe; takes no lock.
class Hdf5Output {
 public:
  enum class Begin : std::uint8_t { Empty, FromFile };

  /// Opens `target`, a file that no other program knows: makes an empty HDF5 file of it, or takes it as it is. `path`
  /// is for messages. Error{Corrupt} for a file that the library cannot open.
  Hdf5Output(std::string path, const std::string& target, Begin begin);

  /// Makes the data set, and the groups on the way to it. Error{DuplicateName} if there is one of this name and it may
  /// not be replaced, or if the name, or a part of it, is that of something else: only groups are followed, never
  /// links.
  void create(const Hdf5NewDataset& dataset, Overwrite overwrite);
  /// Writes `block`, which has the data set's type, at `begin`.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void close();

 private:
  /// Checks everything on the way to `name`, and removes a data set that is to be replaced.
  void make_room(const std::string& name, Overwrite overwrite);
  std::optional<H5O_type_t> kind_of(const std::string& name) const;
  Hdf5Handle creation_properties(const Hdf5NewDataset& dataset) const;
  void require(herr_t status) const {
    if (status < 0) fail();
  }
  [[noreturn]] void fail() const;
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const;

  // In the reverse order of closing.
  std::string path_;
  bool is_trusted_;
  Hdf5Handle file_;
  Hdf5Handle dataset_;
  Hdf5Handle memory_type_;
};

}  // namespace eindb

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/files/input_file.hpp"
#include "storage/formats/block_reader.hpp"
#include "storage/formats/hdf5_library.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A data set of an HDF5 file of which blocks can be read: floats of 16, 32 and 64 bits, integers of every size and
/// sign and enumerations of them, in either byte order, and complex numbers as compounds of r and i. libhdf5 parses the
/// file and trusts it more than is good: give it strange files in a process of its own only, as Hdf5Reader does. Not
/// thread-safe; the constructor, read_block and the destructor take hdf5_mutex().
class Hdf5Dataset final : public BlockReader {
 public:
  /// The data set `name`, a path from the root group with or without its slash, or if that is empty the only one.
  /// Chunks may have `largest_chunk` bytes, which are held in memory as a whole. `file` outlives this.
  /// Error{Corrupt} for a damaged file; Error{UnknownName} for a name that is not there; Error{Unsupported} for other
  /// elements, for filters that libhdf5 does not have built in, and for values that lie in other files: external
  /// links and files, virtual data sets.
  Hdf5Dataset(const InputFile& file, const std::string& name, std::int64_t largest_chunk);
  ~Hdf5Dataset() override;

  DType dtype() const override { return dtype_; }
  const Shape& shape() const override { return shape_; }
  /// Beyond the tile, memory is that of some chunks: those of the cache (32 MiB) or the largest one, and up to
  /// 24 MiB about them.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override;
  std::int64_t working_bytes() const override { return working_bytes_; }

 private:
  void close();
  void open_file();
  void open_dataset(const std::string& wanted, std::int64_t largest_chunk);
  std::vector<std::string> dataset_names() const;
  void check_storage() const;
  void check_filters(hid_t creation) const;
  std::int64_t check_chunks(hid_t creation, std::int64_t largest_chunk);
  std::int64_t bytes_about_chunks() const;
  void read_type();
  void read_shape();
  void check_size() const;
  void read_part(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& offset,
                 const std::vector<std::int64_t>& extents, Tile& tile);
  void read_hyperslab(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& offset,
                      const std::vector<std::int64_t>& extents, Tile& tile);
  Error fault(const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;

  const InputFile& input_;
  std::string name_;
  Hdf5Handle file_;
  Hdf5Handle dataset_;
  Hdf5Handle memory_type_;
  DType dtype_ = DType::Float64;
  bool is_unsigned_ = false;       // 64 bits, of which the highest must be 0
  std::int64_t element_size_ = 0;  // in the file
  Shape shape_;
  std::vector<std::int64_t> chunk_;  // extents; empty if there are no chunks
  std::int64_t working_bytes_ = 0;
};

}  // namespace eindb

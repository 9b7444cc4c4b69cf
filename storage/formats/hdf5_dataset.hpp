#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/files/input_file.hpp"
#include "storage/formats/block_reader.hpp"
#include "storage/formats/hdf5_entry.hpp"
#include "storage/formats/hdf5_library.hpp"
#include "storage/formats/packing.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A data set of an HDF5 file that is read block by block: floats of 16, 32 and 64 bits, signed and unsigned integers
/// of every size and enumerations of them, in either byte order, and complex numbers as compounds of r and i. Values
/// that netCDF's attributes say to be packed are unpacked, unless told otherwise. libhdf5 parses the file and trusts it
/// too much, so open untrusted files only in a separate process, like Hdf5Reader. Not thread-safe; the constructor,
/// read_block and the destructor take hdf5_mutex().
class Hdf5Dataset final : public BlockReader {
 public:
  /// Opens the data set `name`, a path from the root group with or without its leading slash, or, if that is empty, the
  /// only one, or the only one beside dimension scales. Chunks may have up to `largest_chunk` bytes, as a whole chunk
  /// is held in memory. `file` must outlive this object. Error{Corrupt} for a damaged file; Error{UnknownName} for an
  /// unknown name; Error{Unsupported} for other elements, for filters that are not built into libhdf5, and for values
  /// in other files: external links and files, virtual data sets; and for attributes of packed values that are not what
  /// the conventions say.
  Hdf5Dataset(const InputFile& file, const std::string& name, std::int64_t largest_chunk,
              PackedValues values = PackedValues::Unpack);
  ~Hdf5Dataset() override;

  /// The data sets of a file, as the constructor would open them, without dimensions of netCDF that have no values.
  /// Error{Unsupported} for more than `most`; Error{Corrupt} for a damaged file, but types that cannot be read are no
  /// errors.
  static std::vector<Hdf5Entry> entries_of(const InputFile& file, PackedValues values, std::size_t most);

  DType dtype() const override { return packing_.dtype(); }
  StoredType type() const override { return packing_.is_scaled() ? packing_.dtype() : type_; }
  const Shape& shape() const override { return shape_; }
  std::vector<std::string> labels() const override { return labels_; }
  /// Beyond the tile, takes the memory of some chunks (the cache of 32 MiB, or the largest chunk) and up to 24 MiB for
  /// metadata about them.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override;
  std::int64_t working_bytes() const override { return working_bytes_; }

 private:
  explicit Hdf5Dataset(const InputFile& file) : input_(file) {}
  void close();
  void open_file();
  void open_dataset(const std::string& wanted, std::int64_t largest_chunk, PackedValues values);
  std::vector<std::string> dataset_names(std::size_t most) const;
  Hdf5Entry entry(const std::string& name, PackedValues values);
  std::vector<std::string> names_of_values(std::size_t most) const;
  Hdf5Handle opened(const std::string& name) const;
  void check_storage() const;
  void check_filters(hid_t creation) const;
  std::int64_t check_chunks(hid_t creation, std::int64_t largest_chunk);
  std::int64_t bytes_about_chunks() const;
  void read_type(PackedValues values);
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
  StoredType type_;  // of the values as they are stored
  Packing packing_;
  std::int64_t element_size_ = 0;  // bytes in the file
  Shape shape_;
  std::vector<std::string> labels_;
  std::vector<std::int64_t> chunk_;  // extents; empty if the data set is not chunked
  std::int64_t working_bytes_ = 0;
};

}  // namespace eindb

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/input_file.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/packing.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A variable of a classic file of netCDF.
struct ClassicVariable {
  std::string name;
  std::string file_type;              ///< "short", "double", ...
  std::optional<NpyElement> element;  ///< nullopt: of characters, which are not read
  Shape shape;
  std::vector<std::string> labels;  ///< the names of its dimensions
  std::int64_t begin = 0;           ///< of its values in the file
  std::int64_t record_bytes =
      0;  ///< from one index of the first dimension to the next, of a variable with records; else 0
  bool is_coordinate = false;  ///< of one dimension, whose name it has
  Packing packing;

  /// The type of a tensor that keeps the elements, or the values that are meant; nullopt without an element.
  std::optional<StoredType> type(PackedValues values) const;
};

/// Whether the file begins as classic ones do.
bool is_classic_netcdf(const InputFile& file);

/// Reads and verifies the header of a classic file of netCDF, CDF-1, 2 or 5 (netCDF's File Format Specifications):
/// sizes must not overflow, and values must lie in the file. Error{Corrupt} with the path for another or a damaged
/// file, Error{Unsupported} for headers above 16 MiB.
std::vector<ClassicVariable> read_classic_netcdf(const InputFile& file);

/// Reads blocks of one variable of a classic file. Thread-safe once built.
class ClassicNetcdfReader {
 public:
  /// Opens the variable `name`, or, if that is empty, the only one, or the only one beside coordinates. The errors of
  /// read_classic_netcdf and choose_array; Error{Unsupported} for characters.
  ClassicNetcdfReader(const FilePath& path, const std::string& name, PackedValues values);

  StoredType type() const { return *variable_.type(values_); }
  const Shape& shape() const { return variable_.shape; }
  const std::vector<std::string>& labels() const { return variable_.labels; }
  /// The block of `extents` at `begin`, which must lie within shape(). The errors of read_dense_block and Packing.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;

 private:
  Tile stored_block(const std::vector<std::int64_t>& begin, const Shape& extents) const;

  InputFile file_;
  PackedValues values_;
  ClassicVariable variable_;
};

}  // namespace eindb

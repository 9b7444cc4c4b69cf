#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/cells/cell.hpp"
#include "storage/formats/npy_element.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/zip_inflater.hpp"

namespace eindb {

/// The values of one array of an NPZ file, from the first to the last in the order of the file, in some hundred KiB of
/// memory and without a temporary file. The checksum is verified with the last value. Not thread-safe.
class NpzValues {
 public:
  /// `file` and `cancellation` outlive it. The errors of ZipInflater and of parse_npz_header.
  NpzValues(const InputFile& file, const ZipEntry& member, const Cancellation& cancellation);

  StoredType type() const { return array_.element.type(); }
  const Shape& shape() const { return array_.shape; }
  bool is_column_major() const { return array_.column_major; }
  /// Whether the elements are integers, which a bool is not.
  bool has_integers() const { return array_.element.kind == 'i' || array_.element.kind == 'u'; }
  /// "x.npz: member 'a.npy'".
  const std::string& name() const { return name_; }
  /// How many were taken.
  std::int64_t taken() const { return taken_; }
  bool at_end() const { return taken_ == array_.shape.element_count(); }

  /// The next value; there must be one. Error{Corrupt} if the member is damaged, Error{Value} for an unsigned integer
  /// beyond INT64.
  CellValue next();
  /// The same for an array of integers.
  std::int64_t next_integer();

 private:
  void refill();
  template <class T>
  T taken_value();

  std::string name_;
  const Cancellation& cancellation_;
  ZipInflater contents_;
  NpyHeader array_;
  std::vector<std::byte> raw_;     // bytes of the file that are not converted yet
  std::vector<std::byte> values_;  // converted ones
  std::size_t value_size_ = 0;
  std::size_t at_ = 0;  // the next one's first byte in them
  std::int64_t taken_ = 0;
};

}  // namespace eindb

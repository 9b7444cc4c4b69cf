#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/input_file.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// How one element lies in an NPY file: NumPy's "<f8" is {'f', 8, big_endian = false}. Other formats of dense arrays
/// describe their elements in the same way.
struct NpyElement {
  char kind = 'f';  ///< f(loat), c(omplex), i(nteger), u(nsigned), b(ool), B(rain float), which no NPY file has
  int size = 8;     ///< bytes
  bool big_endian = false;

  /// The type of the tensor that the elements become: integers and bool are INT64, float16 and bfloat16 FLOAT32.
  DType dtype() const;
};

/// What stands before the values of an NPY file, or what another format says of a dense array.
struct NpyHeader {
  NpyElement element;
  bool column_major = false;
  Shape shape;
  std::int64_t data_offset = 0;  ///< of the first value, in bytes
};

/// So many bytes from a file's start hold any header that is accepted.
inline constexpr std::int64_t kNpyPrefix = 65536 + 12;

/// Reads and verifies the header of an NPY file, version 1, 2 or 3; the file is long enough for its values. Bytes after
/// the values are allowed, as in NumPy. Error{Corrupt} with path and offset for what is no such header,
/// Error{Unsupported} for element types that are no numbers of ours. Takes no memory beyond 64 KiB.
NpyHeader read_npy_header(const InputFile& file);

/// The same from the first min(kNpyPrefix, size) bytes of a file of `size` bytes, whose name is for messages.
NpyHeader parse_npy_header(const std::string& name, std::span<const std::byte> prefix, std::int64_t size);

/// The same values in row-major order with other extents, as NumPy's reshape has them. Error{Shape} unless `shape` has
/// as many, Error{Unsupported} for a column-major array of several dimensions; `name` is for messages.
void reshape_array(NpyHeader& array, const Shape& shape, const std::string& name);

/// The header that NumPy writes for a row-major array of `type`; the values follow it.
std::string make_npy_header(DType type, const Shape& shape);

}  // namespace eindb

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/input_file.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// The encoding of an element in an NPY file: NumPy's "<f8" is {'f', 8, big_endian = false}. Other formats of dense
/// arrays use it too.
struct NpyElement {
  char kind = 'f';  ///< f(loat), c(omplex), i(nteger), u(nsigned), b(ool), or B(rain float), which NPY files lack
  int size = 8;     ///< bytes
  bool big_endian = false;

  /// The tensor's element type: INT64 for integers and bool, FLOAT32 for float16 and bfloat16.
  DType dtype() const;
};

/// The header of an NPY file, or the description of a dense array in another format.
struct NpyHeader {
  NpyElement element;
  bool column_major = false;
  Shape shape;
  std::int64_t data_offset = 0;  ///< of the first value, in bytes
};

/// The number of bytes at the start of a file that contain any accepted header.
inline constexpr std::int64_t kNpyPrefix = 65536 + 12;

/// Reads and verifies the header of an NPY file, version 1, 2 or 3, and that the file is long enough for its values.
/// Bytes after the values are allowed, as in NumPy. Error{Corrupt} with path and offset for an invalid header,
/// Error{Unsupported} for element types that are not numbers. Takes at most 64 KiB of memory.
NpyHeader read_npy_header(const InputFile& file);

/// The same for the first min(kNpyPrefix, size) bytes of a file of `size` bytes; `name` is for messages.
NpyHeader parse_npy_header(const std::string& name, std::span<const std::byte> prefix, std::int64_t size);

/// Gives the array other extents with the same values in row-major order, like NumPy's reshape. Error{Shape} unless
/// `shape` has the same number of elements, Error{Unsupported} for a column-major array of several dimensions; `name`
/// is for messages.
void reshape_array(NpyHeader& array, const Shape& shape, const std::string& name);

/// The header that NumPy writes for a row-major array of `type`; the values follow it in the file.
std::string make_npy_header(DType type, const Shape& shape);

}  // namespace eindb

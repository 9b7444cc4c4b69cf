#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/input_file.hpp"
#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The encoding of an element in an NPY file: NumPy's "<f8" is {'f', 8, big_endian = false}. Other formats of dense
/// arrays use it too.
struct NpyElement {
  /// f(loat), c(omplex), i(nteger), u(nsigned), b(ool), or, which NPY files lack, B(rain float), 4 (8 bits, E4M3) and
  /// 5 (8 bits, E5M2).
  char kind = 'f';
  int size = 8;  ///< bytes
  bool big_endian = false;

  /// The type of a tensor that is made from the array. INT64 for unsigned integers of 64 bits.
  StoredType type() const;
  /// Of the values that are read: INT64 for integers and bool, FLOAT32 for floats of less than 64 bits.
  DType dtype() const { return type().values; }
};

/// The element that holds the values of a type, in the order of this machine's bytes. A bool takes a byte; what has a
/// scale for several cells is written as FLOAT32.
NpyElement npy_element_of(StoredType type);

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

/// Where the values of a file begin, by the same bytes of it: for elements that are no numbers. The errors of
/// parse_npy_header for what precedes the dictionary.
std::int64_t npy_values_offset(const std::string& name, std::span<const std::byte> prefix, std::int64_t size);

/// Gives the array other extents with the same values in row-major order, like NumPy's reshape. Error{Shape} unless
/// `shape` has the same number of elements, Error{Unsupported} for a column-major array of several dimensions; `name`
/// is for messages.
void reshape_array(NpyHeader& array, const Shape& shape, const std::string& name);

/// The header that NumPy writes for a row-major array of such elements; the values follow it in the file.
std::string make_npy_header(const NpyElement& element, const Shape& shape);
/// The element that NPY files have for a type: floats that NumPy lacks are FLOAT32.
NpyElement npy_file_element_of(StoredType type);

}  // namespace eindb

#pragma once

#include <cstdint>
#include <string>

#include "storage/input_file.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// How one element lies in an NPY file: NumPy's "<f8" is {'f', 8, big_endian = false}.
struct NpyElement {
  char kind = 'f';  ///< f(loat), c(omplex), i(nteger), u(nsigned), b(ool)
  int size = 8;     ///< bytes
  bool big_endian = false;

  /// The type of the tensor that the elements become: integers and bool are INT64, float16 is FLOAT32.
  DType dtype() const;
};

/// What stands before the values of an NPY file.
struct NpyHeader {
  NpyElement element;
  bool column_major = false;
  Shape shape;
  std::int64_t data_offset = 0;  ///< of the first value, in bytes
};

/// Reads and verifies the header of an NPY file, version 1, 2 or 3; the file is long enough for its values. Bytes after
/// the values are allowed, as in NumPy. Error{Corrupt} with path and offset for what is no such header,
/// Error{Unsupported} for element types that are no numbers of ours. Takes no memory beyond 64 KiB.
NpyHeader read_npy_header(const InputFile& file);

/// The header that NumPy writes for a row-major array of `type`; the values follow it.
std::string make_npy_header(DType type, const Shape& shape);

}  // namespace eindb

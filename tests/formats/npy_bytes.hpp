#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace eindb {

/// The bytes of values as they lie in memory.
template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// An NPY file, version 1, row-major: `descr` "<f8", `shape` "(2, 3)".
inline std::string npy_file(const std::string& descr, const std::string& shape, const std::string& data,
                            bool fortran = false) {
  const auto text =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
  std::string out = "\x93NUMPY";
  out += std::string{'\x01', '\x00', static_cast<char>(text.size()), '\x00'};
  return out + text + data;
}

}  // namespace eindb

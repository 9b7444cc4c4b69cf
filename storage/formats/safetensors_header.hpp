#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/formats/npy_header.hpp"

namespace eindb {

/// One tensor of a safetensors file.
struct SafetensorsEntry {
  std::string name;
  std::string type;         ///< "F32", ...
  NpyHeader array;          ///< data_offset counts from the start of the file
  bool is_readable = true;  ///< whether the type is supported; if not, array.element is meaningless
};

/// Reads and verifies the header of a safetensors file for all its tensors, in the order of the header: types must be
/// known to the format, shapes must not overflow, and values must fill the file without holes or overlaps.
/// Error{Corrupt} with path and tensor for an invalid file; Error{Unsupported} for a header above 3 MiB or a type of
/// another version of the format. Takes at most 64 MB.
std::vector<SafetensorsEntry> read_safetensors_header(const InputFile& file);

}  // namespace eindb

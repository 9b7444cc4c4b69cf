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
  bool is_readable = true;  ///< the type is one of ours; if not, array.element means nothing
};

/// Reads and verifies the header of a safetensors file, of all its tensors: types that the format knows, shapes that do
/// not overflow, values that lie in the file, fill it without a hole and do not overlap. In the order of the header.
/// Error{Corrupt} with path and tensor for what is no such file; Error{Unsupported} for a header above 3 MiB or a type
/// of another version of the format. Takes at most 64 MB.
std::vector<SafetensorsEntry> read_safetensors_header(const InputFile& file);

}  // namespace eindb

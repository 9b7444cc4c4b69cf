#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/formats/npy_header.hpp"

namespace eindb {

/// Converts `count` consecutive elements of a file into elements of NpyElement::dtype() that are `stride` elements
/// apart. Returns the number converted; it is smaller if an element is out of range.
using NpyConversion = std::int64_t (*)(const std::byte* source, std::byte* target, std::int64_t count,
                                       std::int64_t stride);

/// The conversion for the elements of a header accepted by read_npy_header.
NpyConversion npy_conversion(const NpyElement& element);

/// Whether the elements' encoding in the file equals that in a tile.
bool is_native(const NpyElement& element);

}  // namespace eindb

#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/formats/npy_header.hpp"

namespace eindb {

/// Converts `count` consecutive elements of a file into elements of NpyElement::dtype(), `stride` elements apart.
/// Returns how many it converted: fewer if one is out of range.
using NpyConversion = std::int64_t (*)(const std::byte* source, std::byte* target, std::int64_t count,
                                       std::int64_t stride);

/// The conversion for elements of a header that read_npy_header accepted.
NpyConversion npy_conversion(const NpyElement& element);

/// Whether elements lie in the file as they do in a tile.
bool is_native(const NpyElement& element);

}  // namespace eindb

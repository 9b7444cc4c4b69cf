#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "storage/formats/npy_header.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Writes bytes at an offset from the first value of an array in a file.
using RunSink = std::function<void(std::int64_t offset, std::span<const std::byte> bytes)>;

/// Passes the elements of a block of `extents` at `begin` of a row-major array to `put` in contiguous runs, in
/// ascending order of offset. `bytes` are the elements in the file's encoding, row-major, `element_size` bytes each.
void write_dense_block(const Shape& array, const std::vector<std::int64_t>& begin, const Shape& extents,
                       std::span<const std::byte> bytes, std::size_t element_size, const RunSink& put);

/// The same for elements that have the same encoding in the file as in memory.
void write_dense_block(const Shape& array, const std::vector<std::int64_t>& begin, const Tile& block,
                       const RunSink& put);

/// The same for a block whose values are written as `element`, whose dtype() is the block's. Error{Value} for an
/// integer that the element does not hold.
void write_dense_block(const Shape& array, const std::vector<std::int64_t>& begin, const Tile& block,
                       const NpyElement& element, const RunSink& put);

/// Throws Error{Io} if `path` does not support writes at any offset, which files of this format need.
void require_regular_file(bool is_seekable, const std::string& path, const std::string& format);

}  // namespace eindb

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/formats/compression.hpp"

namespace eindb {

/// A step that a chunk's bytes have gone through before they were written.
enum class ZarrFilter : std::uint8_t {
  Blosc,   ///< a buffer of c-blosc, of whichever compressor
  Zstd,    ///< a frame of zstd
  Gzip,    ///< a stream of zlib or gzip
  Crc32c,  ///< the bytes, and their CRC-32C behind them in four bytes
};

/// The bytes of a chunk before the filters, which must be `size` of them. At most one filter may compress. `name`
/// begins messages: Error{Corrupt} for bytes that do not decode, or to another length, or whose checksum is another.
std::vector<std::byte> decode_zarr_chunk(std::vector<std::byte> bytes, const std::vector<ZarrFilter>& filters,
                                         std::size_t size, const std::string& name);

/// The most bytes that a chunk of `size` takes behind the filters, as far as it makes sense to read them.
std::int64_t most_zarr_bytes(std::int64_t size);

/// The bytes compressed, as the codec of that name does it; None leaves them. Elements have `element_size` bytes. Gzip
/// at level 5, Zstd at 3, Blosc as lz4 at 5 with shuffled bytes. Error{Value} for 2 GiB and more, which Blosc cannot
/// compress.
std::vector<std::byte> encode_zarr_chunk(std::span<const std::byte> bytes, Compression compression,
                                         std::size_t element_size);

}  // namespace eindb

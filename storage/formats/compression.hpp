#pragma once

#include <cstdint>

namespace eindb {

/// How the values in a file are compressed: Deflate in npz and HDF5 files, the three others in Zarr's.
enum class Compression : std::uint8_t { None, Deflate, Zstd, Gzip, Blosc };

}  // namespace eindb

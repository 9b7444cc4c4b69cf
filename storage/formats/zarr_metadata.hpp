#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/formats/compression.hpp"
#include "storage/formats/zarr_array.hpp"

namespace eindb {

/// The metadata of a directory.
struct ZarrNode {
  int version = 2;
  std::optional<ZarrArray> array;  ///< none: a group
  bool is_consolidated = false;    ///< a group of version 3 whose metadata repeat those below it
};

/// Reads the metadata of an array of version 2: .zarray, and .zattrs, which may be empty. `name` begins messages.
/// Error{Corrupt} for what is no such metadata, or has sizes that overflow; Error{Unsupported} for types that are no
/// numbers, filters, and codecs other than Blosc, zstd, zlib and gzip.
ZarrArray parse_zarr_v2(std::string_view zarray, std::string_view zattrs, const std::string& name);
/// The same for zarr.json of version 3, of an array or a group. Error{Unsupported} also for extensions that must be
/// understood: other chunk grids, keys and codecs than those of the core specification, crc32c, zstd and sharding.
ZarrNode parse_zarr_v3(std::string_view text, const std::string& name);

/// The metadata of an array that is written, as text: .zarray or zarr.json. Its filters are those of `compression`.
/// Version 2 has no fill value where all chunks are there: xarray would take cells that equal it for missing ones.
std::string zarr_array_text(const ZarrArray& array, Compression compression, bool has_all_chunks);
/// .zattrs of version 2 with the labels.
std::string zarr_attributes_text(const ZarrArray& array);
/// .zgroup, or zarr.json of a group.
std::string zarr_group_text(int version);

}  // namespace eindb

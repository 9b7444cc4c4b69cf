#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/formats/npy_header.hpp"
#include "storage/formats/packing.hpp"
#include "storage/formats/zarr_codecs.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// Several chunks in one file, with an index of where each begins and how many bytes it has.
struct ZarrShards {
  std::vector<std::int64_t> chunks;       ///< of a shard along each dimension, at least 1
  std::vector<ZarrFilter> index_filters;  ///< CRC-32C alone
  bool index_is_big_endian = false;
  bool index_is_first = false;
};

/// The attributes that say how stored values stand for those that are meant, by netCDF's and CF's conventions
/// (Packing).
struct ZarrPacking {
  std::optional<double> scale;            ///< scale_factor
  std::optional<double> offset;           ///< add_offset
  std::vector<Packing::Missing> missing;  ///< _FillValue and missing_value, where they are numbers of the array's type
};

/// The description of an array of Zarr, version 2 or 3.
struct ZarrArray {
  int version = 2;
  NpyElement element;
  std::string file_type;  ///< as the metadata have it: "<f4", "float32"
  Shape shape;
  std::vector<std::int64_t> chunk;  ///< extents of a chunk that is decoded as a whole, at least 1 each
  /// The order of a chunk's dimensions in its bytes, the slowest first: [0, 1] row-major, [1, 0] column-major.
  std::vector<std::size_t> order;
  std::vector<ZarrFilter> filters;
  std::array<std::byte, 16> fill{};  ///< a value of element.dtype(), where a chunk is not there
  bool has_fill = false;             ///< whether the metadata have such a value
  ZarrPacking packing;
  std::string labels_key;           ///< where `labels` come from, for messages
  std::vector<std::string> labels;  ///< of the dimensions, empty where one has none; none at all without names
  char separator = '.';             ///< in the names of chunks
  bool has_chunk_prefix = false;    ///< "c/0/1" in place of "0/1"
  std::optional<ZarrShards> shards;

  /// How its values are read. In version 2 the fill value of packed numbers is a missing one, as xarray writes it.
  Packing packing_of(PackedValues values) const;
  /// The type of a tensor that keeps the elements, or the values that are meant.
  StoredType type_of(PackedValues values) const;
  /// Bytes of a decoded chunk in the encoding of its file.
  std::int64_t chunk_bytes() const;
  /// The number of files, of chunks or of shards, along each dimension.
  std::vector<std::int64_t> files() const;
  /// The path of a file of chunks, below the array's directory.
  std::string file_name(const std::vector<std::int64_t>& file) const;
};

}  // namespace eindb

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "engine/files/copy_options.hpp"
#include "engine/results/result.hpp"
#include "storage/files/file_path.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/compression.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/safetensors_writer.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The tiles of a tensor to export.
struct TileProvider {
  DType dtype = DType::Float64;
  Encoding encoding = Encoding::Plain;  ///< of the stored tensor, which files keep if they can
  TileGrid grid;
  std::function<TilePtr(std::int64_t tile_id)> tile;  ///< null: all zero; called in order of tile_id
  std::vector<std::string> labels = {};               ///< one per dimension
  /// The first tile from `from` on that may be nonzero.
  std::function<std::optional<std::int64_t>(std::int64_t from)> next_tile;
  /// The same as `tile`, but possibly a tile of cells; empty: there are none.
  std::function<TilePtr(std::int64_t tile_id)> tile_or_cells = {};
  DimensionNames names = {};  ///< of its indices

  StoredType type() const { return {dtype, encoding}; }
};

/// The header of an NPY file, which precedes the elements in row-major order.
std::string npy_header(const TensorRelation& tensor);

/// Every export writes a temporary file beside `path` and renames it to `path` at the end. Those of formats with
/// several arrays in a file lose none that is there unless `overwrite` says so: the errors of keep_other_arrays() and
/// Hdf5Writer.
void export_npy(const FilePath& path, const TileProvider& tensor);
/// `progress` is called during the final pass, which checksums or deflates all values.
void export_npz(const FilePath& path, const TileProvider& tensor, const std::string& member, Compression compression,
                Overwrite overwrite, const ByteProgress& progress);
/// Values are written as `type`, if it is given.
void export_safetensors(const FilePath& path, const TileProvider& tensor, const std::string& name,
                        std::optional<StoredType> type, Overwrite overwrite);
/// Compressed data sets are chunked by tiles or parts of tiles. `cancellation` outlives the call.
/// With `named`, dimensions have the names of labels, as netCDF has them, and types are those that netCDF has.
void export_hdf5(const FilePath& path, const TileProvider& tensor, const std::string& dataset,
                 const ArrayOptions& options, bool named, const Cancellation& cancellation);
/// Writes chunks of these extents, or else as large as the largest tile; where tiles are all of that size, they are the
/// chunks. The errors of ZarrWriter. Error{MemoryLimit} for chunks above a quarter of `memory_limit`.
void export_zarr(const FilePath& path, const TileProvider& tensor, const std::string& name, const ArrayOptions& options,
                 std::int64_t memory_limit);
/// Exports at most two dimensions, with memory for one band of tiles. `header` has the column names; empty: no header.
void export_csv(const FilePath& path, const TileProvider& tensor, const std::vector<std::string>& header,
                char delimiter);

}  // namespace eindb

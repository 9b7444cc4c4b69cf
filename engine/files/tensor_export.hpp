#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "engine/results/result.hpp"
#include "storage/files/file_path.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/npz_writer.hpp"
#include "storage/formats/safetensors_writer.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A tensor relation to be written to a file.
struct TileProvider {
  DType dtype = DType::Float64;
  TileGrid grid;
  std::function<TilePtr(std::int64_t tile_id)> tile;  ///< null: all zero; asked for in order of tile_id
  std::vector<std::string> labels = {};               ///< one per dimension
  /// The first tile from `from` on that may hold something; without it every tile may.
  std::function<std::optional<std::int64_t>(std::int64_t from)> next_tile = {};
};

/// What an NPY file has before the elements in row-major order.
std::string npy_header(const TensorRelation& tensor);

/// All write to a temporary file beside `path`, which takes its place in the end.
void export_npy(const FilePath& path, const TileProvider& tensor);
/// `progress` hears of the pass that checksums or deflates all values in the end.
void export_npz(const FilePath& path, const TileProvider& tensor, const std::string& member, Compression compression,
                const ByteProgress& progress);
/// `type`: what real numbers are rounded to, or none.
void export_safetensors(const FilePath& path, const TileProvider& tensor, const std::string& name,
                        std::optional<SafetensorsType> type);
/// Compressed data sets are chunked, by tiles or parts of them. `cancellation` outlives the call.
void export_hdf5(const FilePath& path, const TileProvider& tensor, const std::string& dataset, bool chunked,
                 Compression compression, const Cancellation& cancellation);
/// Up to two dimensions; takes the memory of one band of tiles. `header`: names of the columns, or none.
void export_csv(const FilePath& path, const TileProvider& tensor, const std::vector<std::string>& header,
                char delimiter);

}  // namespace eindb

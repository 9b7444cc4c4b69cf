#include "engine/files/tensor_export.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/formats/csv_writer.hpp"
#include "storage/formats/hdf5_writer.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/npy_writer.hpp"
#include "storage/formats/npz_writer.hpp"
#include "storage/formats/zarr_writer.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

// Joins the tiles of one part of the first dimension into one.
Tile gather_band(const TileProvider& tensor, std::int64_t part) {
  const auto& grid = tensor.grid;
  const auto rank = grid.rank();
  CHECK(rank <= 2, "a band is one of a matrix");
  std::vector<std::int64_t> extents = grid.shape().extents();
  if (rank > 0) extents[0] = grid.range(0, part).size;
  auto band = Tile::zeros(tensor.dtype, Shape(extents));
  const auto tiles = rank > 0 ? grid.tile_count() / grid.partition()[0] : 1;
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  for (auto id = part * tiles; id < (part + 1) * tiles; ++id) {
    const auto tile = tensor.tile(id);
    if (tile == nullptr) continue;
    CHECK(tile->dtype() == tensor.dtype && tile->shape() == grid.tile_shape(grid.key_of(id)),
          "a tile has the type and the shape of its place in the grid");
    const auto column = rank == 2 ? grid.tile_begin(grid.key_of(id))[1] : 0;
    copy_block(band.mutable_bytes().data() + column * size, band.shape().row_major_strides(), tile->bytes().data(),
               tile->shape().row_major_strides(), tile->shape().extents(), size_of(tensor.dtype));
  }
  return band;
}

// Absent tiles stay zero.
template <class Writer>
void write_tiles(Writer& writer, const TileProvider& tensor) {
  for (auto id = tensor.next_tile(0); id; id = tensor.next_tile(*id + 1)) {
    const auto tile = tensor.tile(*id);
    if (tile == nullptr) continue;
    const auto key = tensor.grid.key_of(*id);
    CHECK(tile->dtype() == tensor.dtype && tile->shape() == tensor.grid.tile_shape(key),
          "a tile that is written has the type and the shape of its place in the grid");
    writer.write_block(tensor.grid.tile_begin(key), *tile);
  }
}

// The extents of the largest tile.
std::vector<std::int64_t> tile_extents(const TileGrid& grid) {
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < grid.rank(); ++d) extents.push_back(grid.largest(d));
  return extents;
}

// Copies what a tile and a chunk have in common.
void copy_common(const Tile& tile, const std::vector<std::int64_t>& tile_begin, Tile& chunk,
                 const std::vector<std::int64_t>& chunk_begin) {
  const auto source_strides = tile.shape().row_major_strides();
  const auto target_strides = chunk.shape().row_major_strides();
  std::vector<std::int64_t> extents;
  std::int64_t from = 0;
  std::int64_t to = 0;
  for (std::size_t d = 0; d < chunk_begin.size(); ++d) {
    const auto low = std::max(tile_begin[d], chunk_begin[d]);
    const auto high = std::min(tile_begin[d] + tile.shape()[d], chunk_begin[d] + chunk.shape()[d]);
    CHECK(low < high, "a tile and a chunk that meet have elements in common");
    from += (low - tile_begin[d]) * source_strides[d];
    to += (low - chunk_begin[d]) * target_strides[d];
    extents.push_back(high - low);
  }
  const auto size = size_of(tile.dtype());
  copy_block(chunk.mutable_bytes().data() + to * static_cast<std::int64_t>(size), target_strides,
             tile.bytes().data() + from * static_cast<std::int64_t>(size), source_strides, extents, size);
}

// The chunk `key` of a regular grid, of the tiles that it meets; null if none of them is stored, and with `skips_zeros`
// also if all of it is zero. Beyond the shape it is zero.
TilePtr gather_chunk(const TileProvider& tensor, const std::vector<std::int64_t>& key,
                     const std::vector<std::int64_t>& extents, bool skips_zeros) {
  const auto& grid = tensor.grid;
  std::vector<std::int64_t> begin;
  TileKey first;
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < key.size(); ++d) {
    begin.push_back(key[d] * extents[d]);
    first.push_back(grid.part_at(d, begin[d]));
    counts.push_back(grid.part_at(d, std::min(begin[d] + extents[d], grid.shape()[d]) - 1) + 1 - first[d]);
  }
  std::optional<Tile> chunk;
  std::vector<std::int64_t> at(key.size(), 0);
  do {
    auto tile_key = at;
    for (std::size_t d = 0; d < at.size(); ++d) tile_key[d] += first[d];
    const auto tile = tensor.tile(grid.id_of(tile_key));
    if (tile == nullptr) continue;
    const auto tile_begin = grid.tile_begin(tile_key);
    if (tile_begin == begin && tile->shape().extents() == extents)
      return skips_zeros && tile->is_all_zero() ? nullptr : tile;
    if (!chunk) chunk = Tile::zeros(tensor.dtype, Shape(extents));
    copy_common(*tile, tile_begin, *chunk, begin);
  } while (next_index(at, counts));
  if (!chunk || (skips_zeros && chunk->is_all_zero())) return nullptr;
  return std::make_shared<const Tile>(std::move(*chunk));
}

// Whether a tile is absent, as those of zeros are: then there will be chunks that are not there, too.
bool lacks_tiles(const TileProvider& tensor) {
  for (std::int64_t id = 0; id < tensor.grid.tile_count(); ++id)
    if (tensor.next_tile(id) != id) return true;
  return false;
}

void check_chunk_memory(const std::vector<std::int64_t>& chunk, DType type, std::int64_t memory_limit) {
  const auto bytes = checked_multiply(checked_product(chunk), static_cast<std::int64_t>(size_of(type)));
  if (bytes <= memory_limit / 4) return;
  throw Error(ErrorKind::MemoryLimit,
              "a chunk takes " + std::to_string(bytes) + " bytes, more than a quarter of memory_limit", std::nullopt,
              "name smaller CHUNKS");
}

}  // namespace

std::string npy_header(const TensorRelation& tensor) {
  return make_npy_header(npy_element_of(tensor.dtype), tensor.grid.shape());
}

void export_npy(const FilePath& path, const TileProvider& tensor) {
  NpyWriter writer(path, tensor.type(), tensor.grid.shape());
  write_tiles(writer, tensor);
  writer.commit();
}

void export_npz(const FilePath& path, const TileProvider& tensor, const std::string& member, Compression compression,
                Overwrite overwrite, const ByteProgress& progress) {
  NpzWriter writer(path, member, tensor.type(), tensor.grid.shape(), compression, overwrite);
  write_tiles(writer, tensor);
  writer.commit(progress);
}

void export_safetensors(const FilePath& path, const TileProvider& tensor, const std::string& name,
                        std::optional<StoredType> type, Overwrite overwrite) {
  SafetensorsWriter writer(path, name, tensor.type(), tensor.grid.shape(), type, overwrite);
  write_tiles(writer, tensor);
  writer.commit();
}

void export_hdf5(const FilePath& path, const TileProvider& tensor, const std::string& dataset,
                 const ArrayOptions& options, bool named, const Cancellation& cancellation) {
  Hdf5NewDataset made{.name = dataset, .type = tensor.type(), .shape = tensor.grid.shape(), .layout = {}};
  if (named) made.dimensions = tensor.labels;
  if (named && tensor.encoding == Encoding::Float16) made.type = tensor.dtype;  // which netCDF lacks
  made.layout.deflate = options.compression == Compression::Deflate;
  if (options.chunked || made.layout.deflate) made.layout.chunk = tile_extents(tensor.grid);
  Hdf5Writer writer(path, made, options.overwrite, &cancellation);
  write_tiles(writer, tensor);
  writer.commit();
}

void export_zarr(const FilePath& path, const TileProvider& tensor, const std::string& name, const ArrayOptions& options,
                 std::int64_t memory_limit) {
  const auto& grid = tensor.grid;
  if (options.chunk && options.chunk->rank() != grid.rank())
    throw Error(ErrorKind::Value, "CHUNKS has " + std::to_string(options.chunk->rank()) + " extents, and the array " +
                                      std::to_string(grid.rank()) + " dimensions");
  ZarrNewArray made{.name = name,
                    .type = tensor.type(),
                    .shape = grid.shape(),
                    .labels = tensor.labels,
                    .chunk = options.chunk ? options.chunk->extents() : tile_extents(grid),
                    .compression = options.compression,
                    .version = options.version};
  for (std::size_t d = 0; d < made.chunk.size(); ++d)
    made.chunk[d] = std::clamp<std::int64_t>(made.chunk[d], 1, std::max<std::int64_t>(1, grid.shape()[d]));
  check_chunk_memory(made.chunk, tensor.dtype, memory_limit);
  ZarrWriter writer(path, made, options.overwrite);
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < made.chunk.size(); ++d) counts.push_back(ceil_divide(grid.shape()[d], made.chunk[d]));
  if (grid.shape().element_count() > 0) {
    const bool skips_zeros = lacks_tiles(tensor);
    std::vector<std::int64_t> key(grid.rank(), 0);
    do {
      if (const auto chunk = gather_chunk(tensor, key, made.chunk, skips_zeros)) writer.write_chunk(key, *chunk);
    } while (next_index(key, counts));
  }
  writer.commit();
}

void export_csv(const FilePath& path, const TileProvider& tensor, const std::vector<std::string>& header,
                char delimiter) {
  CsvWriter writer(path, tensor.dtype, tensor.grid.shape(), header, delimiter);
  const auto bands = tensor.grid.rank() > 0 ? tensor.grid.partition()[0] : 1;
  for (std::int64_t part = 0; part < bands; ++part) writer.append(gather_band(tensor, part));
  writer.commit();
}

}  // namespace eindb

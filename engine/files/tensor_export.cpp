#include "engine/files/tensor_export.hpp"

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/csv_writer.hpp"
#include "storage/formats/hdf5_writer.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/npy_writer.hpp"
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

void export_hdf5(const FilePath& path, const TileProvider& tensor, const std::string& dataset, bool chunked,
                 Compression compression, Overwrite overwrite, const Cancellation& cancellation) {
  Hdf5NewDataset made{.name = dataset, .type = tensor.type(), .shape = tensor.grid.shape(), .layout = {}};
  made.layout.deflate = compression == Compression::Deflate;
  if (chunked || made.layout.deflate) made.layout.chunk = tile_extents(tensor.grid);
  Hdf5Writer writer(path, made, overwrite, &cancellation);
  write_tiles(writer, tensor);
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

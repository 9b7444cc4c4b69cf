#include "engine/tensor_export.hpp"

#include "storage/csv_writer.hpp"
#include "storage/npy_writer.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

// The tiles of one part of the first dimension, side by side.
Tile gather_band(const TileProvider& tensor, std::int64_t part) {
  const auto& grid = tensor.grid;
  const auto rank = grid.rank();
  std::vector<std::int64_t> extents = grid.shape().extents();
  if (rank > 0) extents[0] = grid.range(0, part).size;
  auto band = Tile::zeros(tensor.dtype, Shape(extents));
  const auto tiles = rank > 0 ? grid.tile_count() / grid.partition()[0] : 1;
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  for (auto id = part * tiles; id < (part + 1) * tiles; ++id) {
    const auto tile = tensor.tile(id);
    if (tile == nullptr) continue;
    const auto column = rank == 2 ? grid.tile_begin(grid.key_of(id))[1] : 0;
    copy_block(band.mutable_bytes().data() + column * size, band.shape().row_major_strides(), tile->bytes().data(),
               tile->shape().row_major_strides(), tile->shape().extents(), size_of(tensor.dtype));
  }
  return band;
}

}  // namespace

void export_npy(const std::string& path, const TileProvider& tensor) {
  NpyWriter writer(path, tensor.dtype, tensor.grid.shape());
  for (std::int64_t id = 0; id < tensor.grid.tile_count(); ++id)
    if (const auto tile = tensor.tile(id)) writer.write_block(tensor.grid.tile_begin(tensor.grid.key_of(id)), *tile);
  writer.commit();
}

void export_csv(const std::string& path, const TileProvider& tensor, const std::vector<std::string>& header,
                char delimiter) {
  CsvWriter writer(path, tensor.dtype, tensor.grid.shape(), header, delimiter);
  const auto bands = tensor.grid.rank() > 0 ? tensor.grid.partition()[0] : 1;
  for (std::int64_t part = 0; part < bands; ++part) writer.append(gather_band(tensor, part));
  writer.commit();
}

}  // namespace eindb

#include "engine/tensor_import.hpp"

#include "common/check.hpp"
#include "storage/formats/hdf5_reader.hpp"
#include "storage/formats/npy_reader.hpp"
#include "storage/formats/npz_reader.hpp"
#include "storage/formats/safetensors_reader.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

/// The blocks of a reader that gives them in any order.
template <class Reader>
class ReaderBlocks final : public BlockSource {
 public:
  template <class... Arguments>
  explicit ReaderBlocks(const Arguments&... arguments) : reader_(arguments...) {}
  DType dtype() const override { return reader_.dtype(); }
  const Shape& shape() const override { return reader_.shape(); }
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override {
    return reader_.read_block(begin, extents);
  }

 private:
  Reader reader_;
};

class CsvBlocks final : public BlockSource {
 public:
  CsvBlocks(const FilePath& path, CsvOptions options, bool as_vector, const Cancellation& cancellation)
      : reader_(path, options, &cancellation),
        shape_(as_vector && reader_.columns() == 1 ? Shape({reader_.rows()}) : reader_.shape()) {}

  DType dtype() const override { return reader_.dtype(); }
  const Shape& shape() const override { return shape_; }

  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override {
    if (!band_ || begin[0] != band_begin_) {
      band_ = reader_.next_band(extents[0]);
      band_begin_ = begin[0];
    }
    CHECK(band_ && band_->shape()[0] == extents[0], "bands of a CSV file are read in order");
    auto block = Tile::uninitialized(dtype(), extents);
    const auto size = size_of(dtype());
    const auto columns = extents.rank() == 2 ? extents[1] : 1;
    const auto first = extents.rank() == 2 ? begin[1] : 0;
    copy_block(block.mutable_bytes().data(), {columns, 1},
               band_->bytes().data() + first * static_cast<std::int64_t>(size), {reader_.columns(), 1},
               {extents[0], columns}, size);
    return block;
  }

 private:
  CsvReader reader_;
  Shape shape_;
  std::optional<Tile> band_;
  std::int64_t band_begin_ = 0;
};

}  // namespace

std::unique_ptr<BlockSource> open_npy(const FilePath& path) { return std::make_unique<ReaderBlocks<NpyReader>>(path); }

std::unique_ptr<BlockSource> open_npz(const FilePath& path, const std::string& member, const ByteProgress& progress) {
  return std::make_unique<ReaderBlocks<NpzReader>>(path, member, progress);
}

std::unique_ptr<BlockSource> open_safetensors(const FilePath& path, const std::string& tensor) {
  return std::make_unique<ReaderBlocks<SafetensorsReader>>(path, tensor);
}

std::unique_ptr<BlockSource> open_hdf5(const FilePath& path, const std::string& dataset, std::int64_t memory_limit,
                                       const Cancellation& cancellation) {
  return std::make_unique<ReaderBlocks<Hdf5Reader>>(path, dataset, memory_limit, &cancellation);
}

std::unique_ptr<BlockSource> open_csv(const FilePath& path, CsvOptions options, bool as_vector,
                                      const Cancellation& cancellation) {
  return std::make_unique<CsvBlocks>(path, options, as_vector, cancellation);
}

}  // namespace eindb

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/cancellation.hpp"
#include "storage/files/file_path.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/csv_reader.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A file as a dense tensor of which blocks can be read. Memory is bounded by the block (and, for CSV, by a band of
/// full rows). Not thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual DType dtype() const = 0;
  virtual const Shape& shape() const = 0;
  /// Blocks are asked for in order of their first dimension's begin; each begin there comes with one size.
  virtual Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) = 0;
};

/// `shape` has the values read in another shape; see reshape_array. So for the next two.
std::unique_ptr<BlockSource> open_npy(const FilePath& path, const std::optional<Shape>& shape);
/// The array `member`, or if that is empty the only one; so for the next two. `progress` hears of the pass over the
/// member before the first block.
std::unique_ptr<BlockSource> open_npz(const FilePath& path, const std::string& member,
                                      const std::optional<Shape>& shape, const ByteProgress& progress);
std::unique_ptr<BlockSource> open_safetensors(const FilePath& path, const std::string& tensor,
                                              const std::optional<Shape>& shape);
std::unique_ptr<BlockSource> open_hdf5(const FilePath& path, const std::string& dataset, std::int64_t memory_limit,
                                       const Cancellation& cancellation);
/// A matrix; with `as_vector`, a file of one column is a vector.
std::unique_ptr<BlockSource> open_csv(const FilePath& path, CsvOptions options, bool as_vector,
                                      const Cancellation& cancellation);

}  // namespace eindb

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/cancellation.hpp"
#include "storage/files/file_path.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/csv_reader.hpp"
#include "storage/formats/packing.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A file as a dense tensor that is read in blocks. Memory use is bounded by one block (for CSV, by a band of full
/// rows). Not thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual DType dtype() const = 0;
  virtual const Shape& shape() const = 0;
  /// Blocks must be requested by ascending begin in the first dimension; blocks with an equal begin there have equal
  /// extents there.
  virtual Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) = 0;
};

/// `shape`, if given, reshapes the values (see reshape_array); likewise in open_npz and open_safetensors.
std::unique_ptr<BlockSource> open_npy(const FilePath& path, const std::optional<Shape>& shape);
/// Opens the array `member`, or the only array if it is empty; likewise in the next two functions. `progress` is called
/// during the pass over the member that precedes the first block.
std::unique_ptr<BlockSource> open_npz(const FilePath& path, const std::string& member,
                                      const std::optional<Shape>& shape, const ByteProgress& progress);
std::unique_ptr<BlockSource> open_safetensors(const FilePath& path, const std::string& tensor,
                                              const std::optional<Shape>& shape);
std::unique_ptr<BlockSource> open_hdf5(const FilePath& path, const std::string& dataset, PackedValues values,
                                       std::int64_t memory_limit, const Cancellation& cancellation);
/// Opens a matrix. With `as_vector` a file of one column is a vector.
std::unique_ptr<BlockSource> open_csv(const FilePath& path, CsvOptions options, bool as_vector,
                                      const Cancellation& cancellation);

}  // namespace eindb

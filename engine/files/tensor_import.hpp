#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "engine/files/copy_options.hpp"
#include "storage/files/file_path.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/csv_reader.hpp"
#include "storage/formats/packing.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A file as a dense tensor that is read in blocks. Memory use is bounded by one block (for CSV, by a band of full
/// rows). Not thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  DType dtype() const { return type().values; }
  /// That of a tensor which keeps the file's elements.
  virtual StoredType type() const = 0;
  virtual const Shape& shape() const = 0;
  /// The names that the file has for its dimensions; empty without, or where one has none.
  virtual std::vector<std::string> labels() const { return {}; }
  /// A partition whose tiles are read at the least cost; nullopt where one is as good as another.
  virtual std::optional<Partition> natural_partition() const { return std::nullopt; }
  /// Blocks must be requested by ascending begin in the first dimension; blocks with an equal begin there have equal
  /// extents there.
  virtual Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) = 0;
  /// The same block, encoded as type() says where the file has it so (Tile::encoding).
  virtual Tile load_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
    return read_block(begin, extents);
  }
};

/// `shape`, if given, reshapes the values (see reshape_array); likewise in open_npz, open_safetensors and open_gguf.
std::unique_ptr<BlockSource> open_npy(const FilePath& path, const std::optional<Shape>& shape);
/// Opens the array `member`, or the only array if it is empty; likewise in the next three functions. `progress` is
/// called during the pass over the member that precedes the first block.
std::unique_ptr<BlockSource> open_npz(const FilePath& path, const std::string& member,
                                      const std::optional<Shape>& shape, const ByteProgress& progress);
std::unique_ptr<BlockSource> open_safetensors(const FilePath& path, const std::string& tensor,
                                              const std::optional<Shape>& shape);
std::unique_ptr<BlockSource> open_gguf(const FilePath& path, const std::string& tensor,
                                       const std::optional<Shape>& shape);
std::unique_ptr<BlockSource> open_hdf5(const FilePath& path, const std::string& dataset, PackedValues values,
                                       std::int64_t memory_limit, const Cancellation& cancellation);
/// Opens an array of a directory of Zarr.
std::unique_ptr<BlockSource> open_zarr(const FilePath& path, const std::string& name, PackedValues values,
                                       std::int64_t memory_limit);
/// Opens a matrix. With `as_vector` a file of one column is a vector.
std::unique_ptr<BlockSource> open_csv(const FilePath& path, CsvOptions options, bool as_vector,
                                      const Cancellation& cancellation);

/// The labels from a file, if they are valid and distinct, one per dimension; otherwise the default ones.
std::vector<std::string> usable_labels(const std::vector<std::string>& labels, std::size_t rank);

/// A tensor in a file.
struct FileTensor {
  std::string name;                ///< by which the options TENSOR and MEMBER find it; empty in a file of one array
  std::string file_type;           ///< as the format names it: "BF16", "Q4_K"
  std::optional<StoredType> type;  ///< that COPY gives a new tensor; nullopt: the file's type cannot be read
  Shape shape;
  /// Reads it without reading the file's header once more; empty for a sparse matrix, which has no name.
  std::function<std::unique_ptr<BlockSource>()> open;
};

/// The options of a reader of a data set of an HDF5 file (Hdf5Reader), whose memory limit that of Zarr has too.
struct Hdf5Terms {
  PackedValues values = PackedValues::Unpack;
  std::int64_t memory_limit = 0;
  const Cancellation* cancellation = nullptr;  ///< outlives the tensors
};

/// The tensors of an npy, npz, safetensors, GGUF or HDF5 file, or of a directory of Zarr, in its order; reads headers
/// alone. Error{Unsupported}
/// for other formats, and the errors of their readers. `progress` is that of open_npz.
std::vector<FileTensor> tensors_of_file(const FilePath& path, FileFormat format, const ByteProgress& progress,
                                        const Hdf5Terms& hdf5);

}  // namespace eindb

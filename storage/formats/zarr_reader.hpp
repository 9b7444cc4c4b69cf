#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/files/input_directory.hpp"
#include "storage/formats/zarr_metadata.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads blocks of an array in a directory of Zarr, version 2 or 3. A block takes the chunks that it overlaps and no
/// others; those of the last blocks are kept. Not thread-safe.
class ZarrReader {
 public:
  /// Opens the array `name`, a path below the directory, or, if that is empty, the only one; the directory may be the
  /// array. A chunk may have up to a quarter of `memory_limit` bytes, and an eighth of it keeps chunks. Error{Io} for a
  /// path that cannot be read; the errors of zarr_arrays, of the metadata, and of choose_array.
  ZarrReader(const FilePath& path, const std::string& name, std::int64_t memory_limit,
             PackedValues values = PackedValues::Unpack);

  DType dtype() const { return packing_.dtype(); }
  /// That of a tensor which keeps the file's elements.
  StoredType type() const { return packing_.is_scaled() ? StoredType(packing_.dtype()) : array_.element.type(); }
  const Shape& shape() const { return array_.shape; }
  /// The names of dimensions that the file has; empty without, or where one has none.
  const std::vector<std::string>& labels() const { return array_.labels; }
  /// The partition whose tiles are the chunks, where a grid has them; nullopt where the last chunks are smaller.
  std::optional<Partition> chunk_partition() const;

  /// The block of `extents` at `begin`, which must lie within shape(). Error{Corrupt} for chunks that do not decode;
  /// Error{Value} for an unsigned integer beyond INT64, and for missing cells of integers.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents);

 private:
  DType stored_dtype() const { return array_.element.dtype(); }
  struct Kept {
    std::vector<std::int64_t> key;
    TilePtr tile;  // null: the chunk is not there
  };
  struct Shard {
    std::vector<std::int64_t> key;
    std::unique_ptr<InputFile> file;  // null: no chunk of it is there
    std::vector<std::uint64_t> index;
  };

  void choose(const std::string& name);
  void check_chunks(std::int64_t memory_limit) const;
  TilePtr chunk(const std::vector<std::int64_t>& key);
  TilePtr load_chunk(const std::vector<std::int64_t>& key);
  TilePtr load_from_shard(const std::vector<std::int64_t>& key);
  void open_shard(const std::vector<std::int64_t>& key);
  TilePtr decoded_chunk(std::vector<std::byte> bytes, const std::string& name) const;
  Tile filled(const Shape& extents) const;
  void copy_chunk(const std::vector<std::int64_t>& key, const std::vector<std::int64_t>& begin, Tile& tile);

  InputDirectory store_;
  std::string name_;
  ZarrArray array_;
  Packing packing_;
  std::size_t most_kept_ = 1;
  std::list<Kept> kept_;  // the one used last first
  std::optional<Shard> shard_;
};

/// A chunk of the array whose bytes, before the filters, are these: row-major, in the values of its type. Error{Value}
/// for an unsigned integer beyond INT64; `name` begins messages.
Tile zarr_chunk_values(const ZarrArray& array, std::span<const std::byte> bytes, const std::string& name);

}  // namespace eindb

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/files/output_file.hpp"
#include "storage/files/scratch_file.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/zip_writer.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Writes an NPZ file with one array block by block: a ZIP archive with a stored or deflated NPY file, with ZIP64
/// records from 4 GiB on. A stored member is read back for its checksum; a deflated one is first written to a temporary
/// file, so memory stays below 2 MiB. The file appears with commit(); otherwise nothing remains. Blocks that are never
/// written are zeros. Not thread-safe.
class NpzWriter {
 public:
  /// `member` is the array's name, with or without ".npy". Error{Io} if the file cannot be created, or is a pipe or a
  /// device; Error{Value} for a name that a ZIP archive cannot hold; the errors of keep_other_arrays().
  NpzWriter(const FilePath& path, const std::string& member, StoredType type, Shape shape,
            Compression compression = Compression::None, Overwrite overwrite = Overwrite::No);

  /// Writes `block`, which has the values of the file's type, at `begin`. Blocks may come in any order and must not
  /// overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  /// Reads all values once more and publishes the file; `progress` is optional.
  void commit(const ByteProgress& progress = {});

 private:
  struct Contents {
    std::uint32_t crc = 0;
    std::int64_t compressed_size = 0;
  };
  Contents checksum(const ByteProgress& progress) const;
  Contents deflate(const ByteProgress& progress);
  ZipRecord record(const Contents& contents) const;
  void put(std::int64_t offset, std::span<const std::byte> bytes);

  OutputFile file_;
  std::string name_;
  DType dtype_;         // of blocks
  NpyElement element_;  // of the file
  Shape shape_;
  Compression compression_;
  std::int64_t npy_header_ = 0;   // bytes
  std::int64_t size_ = 0;         // of the NPY file
  std::int64_t data_offset_ = 0;  // of the NPY file in the archive
  bool zip64_ = false;
  std::optional<ScratchFile> scratch_;  // holds the NPY file before it is deflated
};

}  // namespace eindb

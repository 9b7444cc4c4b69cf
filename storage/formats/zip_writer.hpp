#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/files/output_file.hpp"
#include "storage/formats/byte_progress.hpp"
#include "storage/formats/compression.hpp"

namespace eindb {

/// The record of a member, which a ZIP archive has in its local header and in its directory.
struct ZipRecord {
  std::string name;
  Compression compression = Compression::None;
  std::uint32_t crc = 0;  ///< of the contents
  std::int64_t compressed_size = 0;
  std::int64_t size = 0;
  std::int64_t header_offset = 0;
  bool zip64 = false;  ///< sizes stand in the ZIP64 fields
};

/// Whether the sizes of a member of so many bytes may need ZIP64 fields, whatever it is compressed to.
bool needs_zip64(std::int64_t size);
/// The local header, which the data follow. Its length depends on the name and on zip64 alone.
std::string zip_local_header(const ZipRecord& member);
/// The central directory, which lies at `offset`, and the end records after it.
std::string zip_directory(const std::vector<ZipRecord>& members, std::int64_t offset);

/// The checksum of a ZIP archive after more bytes.
std::uint32_t zip_checksum(std::uint32_t before, std::span<const std::byte> bytes);

/// Compresses the contents of one member, in some 800 KiB of memory. Not thread-safe.
class Deflater {
 public:
  using Write = std::function<void(std::span<const std::byte>)>;

  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Passes the output to `write`; `last` marks the end of the input.
  void add(std::span<const std::byte> bytes, bool last, const Write& write);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes an archive member by member to a file that can be written at any offset, with ZIP64 records from 4 GiB on.
/// Memory stays below 2 MiB. Not thread-safe.
class ZipWriter {
 public:
  /// `file` is empty, and outlives the writer.
  ZipWriter(OutputFile& file, Compression compression) : file_(file), compression_(compression) {}

  /// Adds a member with these contents; `progress` is optional.
  void add(const std::string& name, const InputFile& contents, const ByteProgress& progress);
  /// Writes the directory; the caller commits the file.
  void finish();

 private:
  OutputFile& file_;
  Compression compression_;
  std::vector<ZipRecord> members_;
  std::int64_t end_ = 0;  // of the members
};

}  // namespace eindb

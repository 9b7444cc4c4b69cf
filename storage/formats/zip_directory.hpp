#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/files/input_file.hpp"

namespace eindb {

/// A size or offset of 32 bits whose value is in the ZIP64 fields.
inline constexpr std::uint32_t kInZip64 = 0xFFFFFFFF;

/// One member of a ZIP archive, from its central directory. The name is only compared and shown, never used as a path.
struct ZipEntry {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint32_t crc = 0;     ///< of the contents
  std::int64_t compressed_size = 0;
  std::int64_t size = 0;
  std::int64_t header_offset = 0;  ///< of the local header
  std::int64_t limit = 0;          ///< upper bound on the end of the local header and the data
};

/// Reads the central directory, ZIP64 or not, in the order of the file. Every member lies in the file, no two overlap,
/// and names are unique. Error{Corrupt} for an invalid archive, Error{Unsupported} for an archive of several volumes.
/// The directory may have 4 MiB; memory is at most a few times that.
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

/// Verifies the local header and returns the offset of the first byte of the data. Error{Corrupt} if it contradicts the
/// directory, Error{Unsupported} for encrypted members and for methods other than stored and deflated.
std::int64_t zip_data_offset(const InputFile& file, const ZipEntry& entry);

}  // namespace eindb

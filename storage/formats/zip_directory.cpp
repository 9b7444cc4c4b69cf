// The part of the ZIP format (PKWARE's APPNOTE 6.3) that is read here. All integers are little-endian.
//
// A member consists of a local header, its name, an extra field and its data. After the members comes the central
// directory, with one header per member, and then the end record, which is found from the end of the file:
//
//     local header (30)          central header (46)        end record (22)
//      0  "PK\3\4"                0  "PK\1\2"                0  "PK\5\6"
//      4  version to read         4  version made by         4  number of this volume
//      6  flags                   6  version to read         6  volume of the directory
//      8  method                  8  flags                   8  entries on this volume
//     10  time, date             10  method                 10  entries
//     14  CRC-32                 12  time, date             12  size of the directory
//     18  compressed size        16  CRC-32                 16  offset of the directory
//     22  size                   20  compressed size        20  length of the comment, which follows
//     26  length of the name     24  size
//     28  length of the extra    28  lengths of name, extra, comment
//                                34  volume, attributes (8)
//                                42  offset of the local header
//
// ZIP64: if a size or an offset is 0xFFFFFFFF, the extra field with id 1 has it in eight bytes, in the order size,
// compressed size, offset. Such an archive has, before the end record, a locator (20 bytes: "PK\6\7", volume, offset
// (8) of the ZIP64 end record, volumes) and a ZIP64 end record (56 bytes: "PK\6\6", its size (8), versions, two
// volumes, entries on the volume (8), entries (8), size (8) and offset (8) of the directory).

#include "storage/formats/zip_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/little_endian.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLocalHeader = 30;
constexpr std::int64_t kCentralHeader = 46;
constexpr std::int64_t kEndRecord = 22;
constexpr std::int64_t kZip64Locator = 20;
constexpr std::int64_t kZip64EndRecord = 56;
constexpr std::int64_t kLongestComment = 65535;
constexpr std::int64_t kLargestDirectory = 4 << 20;
/// Flags: bit 0 encrypted, bit 3 sizes after the data, bit 6 strongly encrypted, bit 13 encrypted directory.
constexpr unsigned kEncrypted = 0x0001U | 0x0040U | 0x2000U;
constexpr unsigned kSizesBehind = 0x0008U;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
/// One deflated byte expands to at most 1032 bytes: 258 per two bits.
constexpr std::int64_t kDeflateRatio = 1032;

[[noreturn]] void corrupt(const InputFile& file, const std::string& what, std::int64_t offset) {
  throw Error(ErrorKind::Corrupt,
              file.path() + " is no valid ZIP archive: " + what + " at byte " + std::to_string(offset));
}

std::vector<std::byte> read_bytes(const InputFile& file, std::int64_t offset, std::int64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.read(offset, bytes);
  return bytes;
}

std::uint16_t load16(const std::byte* at) { return load_little_endian<std::uint16_t>(at); }
std::uint32_t load32(const std::byte* at) { return load_little_endian<std::uint32_t>(at); }
/// Values beyond 63 bits become negative; callers verify the range.
std::int64_t load64(const std::byte* at) { return static_cast<std::int64_t>(load_little_endian<std::uint64_t>(at)); }

bool is_signature(const std::byte* at, char third, char fourth) {
  return at[0] == std::byte{'P'} && at[1] == std::byte{'K'} && at[2] == std::byte(third) && at[3] == std::byte(fourth);
}

struct Directory {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::int64_t entries = 0;
};

/// The offset of the last end record whose comment ends with the file.
std::int64_t find_end_record(const InputFile& file) {
  const auto tail_size = std::min(file.size(), kEndRecord + kLongestComment);
  const auto tail = read_bytes(file, file.size() - tail_size, tail_size);
  for (auto at = tail_size - kEndRecord; at >= 0; --at) {
    const auto* record = tail.data() + at;
    if (is_signature(record, 5, 6) && at + kEndRecord + load16(record + 20) == tail_size)
      return file.size() - tail_size + at;
  }
  corrupt(file, "there is no end record; the file may be cut off,", file.size());
}

[[noreturn]] void several_volumes(const InputFile& file) {
  throw Error(ErrorKind::Unsupported, file.path() + " is one volume of a ZIP archive of several");
}

/// The ZIP64 end record; nullopt if there is no locator before the end record.
std::optional<Directory> read_zip64_end(const InputFile& file, std::int64_t end_record) {
  const auto locator_offset = end_record - kZip64Locator;
  if (locator_offset < 0) return std::nullopt;
  const auto locator = read_bytes(file, locator_offset, kZip64Locator);
  if (!is_signature(locator.data(), 6, 7)) return std::nullopt;
  const auto offset = load64(locator.data() + 8);
  if (offset < 0 || offset > locator_offset - kZip64EndRecord)
    corrupt(file, "the ZIP64 end record is not where the locator says", locator_offset);
  const auto record = read_bytes(file, offset, kZip64EndRecord);
  if (!is_signature(record.data(), 6, 6)) corrupt(file, "there is no ZIP64 end record", offset);
  if (load32(record.data() + 16) != 0 || load32(record.data() + 20) != 0) several_volumes(file);
  return Directory{
      .offset = load64(record.data() + 48), .size = load64(record.data() + 40), .entries = load64(record.data() + 32)};
}

Directory find_directory(const InputFile& file) {
  const auto end = find_end_record(file);
  const auto record = read_bytes(file, end, kEndRecord);
  Directory directory{
      .offset = load32(record.data() + 16), .size = load32(record.data() + 12), .entries = load16(record.data() + 10)};
  if (const auto zip64 = read_zip64_end(file, end)) directory = *zip64;
  else if (load16(record.data() + 4) != 0 || load16(record.data() + 6) != 0) several_volumes(file);
  if (directory.offset < 0 || directory.size < 0 || directory.size > end || directory.offset > end - directory.size)
    corrupt(file, "the central directory does not lie before its end record", end);
  if (directory.size > kLargestDirectory)
    corrupt(file, "a central directory of " + std::to_string(directory.size) + " bytes", directory.offset);
  if (directory.entries < 0 || directory.entries > directory.size / kCentralHeader)
    corrupt(file, "more entries than the central directory has room for", end);
  return directory;
}

/// Reads fields from the ZIP64 extra field. False if they are missing or beyond 63 bits.
bool read_zip64_extra(std::span<const std::byte> extra, ZipEntry& entry) {
  std::vector<std::int64_t*> wanted;
  for (auto* field : {&entry.size, &entry.compressed_size, &entry.header_offset})
    if (*field == kInZip64) wanted.push_back(field);
  if (wanted.empty()) return true;
  while (extra.size() >= 4) {
    const auto id = load16(extra.data());
    const std::size_t size = load16(extra.data() + 2);
    extra = extra.subspan(4);
    if (size > extra.size()) return false;
    if (id == 1) {
      if (size < wanted.size() * 8) return false;
      for (std::size_t n = 0; n < wanted.size(); ++n) *wanted[n] = load64(extra.data() + n * 8);
      return std::all_of(wanted.begin(), wanted.end(), [](const std::int64_t* value) { return *value >= 0; });
    }
    extra = extra.subspan(size);
  }
  return false;
}

std::string described(const ZipEntry& entry) { return "member " + quoted_name(entry.name); }

/// Reads the entry at the front of `bytes` and removes it from there.
ZipEntry read_entry(const InputFile& file, std::span<const std::byte>& bytes, const Directory& directory) {
  const auto offset = directory.offset + directory.size - static_cast<std::int64_t>(bytes.size());
  if (bytes.size() < kCentralHeader || !is_signature(bytes.data(), 1, 2))
    corrupt(file, "there is no entry of the central directory", offset);
  const auto* header = bytes.data();
  const std::size_t name_size = load16(header + 28);
  const std::size_t extra_size = load16(header + 30);
  const auto whole = kCentralHeader + name_size + extra_size + load16(header + 32);
  if (whole > bytes.size()) corrupt(file, "an entry longer than the central directory", offset);
  ZipEntry entry{.name = std::string(reinterpret_cast<const char*>(header + kCentralHeader), name_size),
                 .flags = load16(header + 8),
                 .method = load16(header + 10),
                 .crc = load32(header + 16),
                 .compressed_size = load32(header + 20),
                 .size = load32(header + 24),
                 .header_offset = load32(header + 42)};
  if (!read_zip64_extra(bytes.subspan(kCentralHeader + name_size, extra_size), entry))
    corrupt(file, described(entry) + " has no valid ZIP64 field", offset);
  if (entry.compressed_size > directory.offset || entry.header_offset > directory.offset - entry.compressed_size)
    corrupt(file, described(entry) + " of " + std::to_string(entry.compressed_size) + " bytes ends behind the members",
            offset);
  bytes = bytes.subspan(whole);
  return entry;
}

/// Sets the limits: each member ends at the latest where the next begins.
void check_overlaps(const InputFile& file, std::vector<ZipEntry>& entries, std::int64_t directory_offset) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return entries[a].header_offset < entries[b].header_offset; });
  for (std::size_t n = 0; n < order.size(); ++n) {
    auto& entry = entries[order[n]];
    entry.limit = n + 1 < order.size() ? entries[order[n + 1]].header_offset : directory_offset;
    const auto least = kLocalHeader + static_cast<std::int64_t>(entry.name.size()) + entry.compressed_size;
    if (least > entry.limit - entry.header_offset)
      corrupt(file, described(entry) + " overlaps what follows it", entry.header_offset);
  }
}

void check_names(const InputFile& file, const std::vector<ZipEntry>& entries) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.emplace_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw Error(ErrorKind::Corrupt,
                file.path() + " is no valid ZIP archive: two members have the name " + quoted_name(*twice));
  }
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  const auto directory = find_directory(file);
  const auto bytes = read_bytes(file, directory.offset, directory.size);
  std::span<const std::byte> rest(bytes);
  std::vector<ZipEntry> entries;
  entries.reserve(static_cast<std::size_t>(directory.entries));
  while (static_cast<std::int64_t>(entries.size()) < directory.entries)
    entries.push_back(read_entry(file, rest, directory));
  check_overlaps(file, entries, directory.offset);
  check_names(file, entries);
  return entries;
}

std::int64_t zip_data_offset(const InputFile& file, const ZipEntry& entry) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::Unsupported, file.path() + ": " + described(entry) + " " + what, std::nullopt,
                "write it with numpy.savez or numpy.savez_compressed");
  };
  if ((entry.flags & kEncrypted) != 0) refuse("is encrypted");
  if (entry.method != kStored && entry.method != kDeflated)
    refuse("is compressed with method " + std::to_string(entry.method));
  const auto fault = [&](const std::string& what) {
    corrupt(file, described(entry) + " " + what, entry.header_offset);
  };
  if (entry.method == kStored && entry.size != entry.compressed_size) fault("is stored with two sizes");
  if (entry.size / kDeflateRatio > entry.compressed_size)
    fault("claims " + std::to_string(entry.size) + " bytes, more than " + std::to_string(entry.compressed_size) +
          " can stand for,");

  const auto header = read_bytes(file, entry.header_offset, kLocalHeader);
  if (!is_signature(header.data(), 3, 4)) fault("has no local header");
  const std::int64_t name_size = load16(header.data() + 26);
  const auto data = entry.header_offset + kLocalHeader + name_size + load16(header.data() + 28);
  if (data > entry.limit - entry.compressed_size) fault("overlaps what follows it");
  const auto name = read_bytes(file, entry.header_offset + kLocalHeader, name_size);
  const bool same_name = std::string_view(reinterpret_cast<const char*>(name.data()), name.size()) == entry.name;
  const auto differs = [&](std::size_t field, std::int64_t expected) {
    const auto local = load32(header.data() + field);
    return (entry.flags & kSizesBehind) == 0 && local != kInZip64 && local != expected;
  };
  if (!same_name || load16(header.data() + 8) != entry.method || differs(18, entry.compressed_size) ||
      differs(22, entry.size))
    fault("has a local header that contradicts the directory");
  return data;
}

}  // namespace eindb

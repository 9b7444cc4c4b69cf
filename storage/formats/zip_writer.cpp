// zip_directory.cpp documents the ZIP format. With ZIP64, both sizes of a member are in the extra fields, and the
// offset of its header as well where 32 bits cannot hold it.

#include "storage/formats/zip_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/little_endian.hpp"
#include "storage/formats/zip_directory.hpp"

namespace eindb {
namespace {

constexpr std::size_t kZipBuffer = 512 << 10;
/// 1 January 1980, the beginning of the format's calendar, so that equal tensors give identical files.
constexpr std::uint16_t kDate = 0x0021;
constexpr std::uint16_t kUtf8Name = 0x0800;
constexpr std::int64_t kMostShortMembers = 0xFFFF;

void append16(std::string& out, std::uint16_t value) { append_little_endian(out, value); }
void append32(std::string& out, std::uint32_t value) { append_little_endian(out, value); }
void append64(std::string& out, std::int64_t value) { append_little_endian(out, static_cast<std::uint64_t>(value)); }

/// The value of a 32-bit field whose number is in a ZIP64 field instead.
std::uint32_t short_field(std::int64_t value) {
  return value < kInZip64 ? static_cast<std::uint32_t>(value) : kInZip64;
}

const Bytef* zlib_bytes(std::span<const std::byte> bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }

/// The fields that the local header and the directory have in common, from the version to the size.
void append_fields(std::string& out, const ZipRecord& member, bool zip64) {
  const bool ascii =
      std::all_of(member.name.begin(), member.name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  append16(out, zip64 ? 45 : 20);
  append16(out, ascii ? 0 : kUtf8Name);
  append16(out, member.compression == Compression::Deflate ? 8 : 0);
  append16(out, 0);
  append16(out, kDate);
  append32(out, member.crc);
  append32(out, member.zip64 ? kInZip64 : static_cast<std::uint32_t>(member.compressed_size));
  append32(out, member.zip64 ? kInZip64 : static_cast<std::uint32_t>(member.size));
}

/// The extra field of ZIP64: its kind, its length, and those numbers; nothing without numbers.
std::string zip64_field(const std::vector<std::int64_t>& numbers) {
  std::string out;
  if (numbers.empty()) return out;
  append16(out, 1);
  append16(out, static_cast<std::uint16_t>(8 * numbers.size()));
  for (const auto number : numbers) append64(out, number);
  return out;
}

std::vector<std::int64_t> sizes_of(const ZipRecord& member) {
  if (!member.zip64) return {};
  return {member.size, member.compressed_size};
}

std::string directory_entry(const ZipRecord& member) {
  auto numbers = sizes_of(member);
  if (member.header_offset >= kInZip64) numbers.push_back(member.header_offset);
  const auto extra = zip64_field(numbers);
  std::string out = "PK\x01\x02";
  append16(out, numbers.empty() ? 20 : 45);
  append_fields(out, member, !numbers.empty());
  append16(out, static_cast<std::uint16_t>(member.name.size()));
  append16(out, static_cast<std::uint16_t>(extra.size()));
  append16(out, 0);  // no comment
  append16(out, 0);  // volume
  append16(out, 0);
  append32(out, 0);  // attributes
  append32(out, short_field(member.header_offset));
  return out + member.name + extra;
}

}  // namespace

// Incompressible data grow by five bytes per block of 16 KiB.
bool needs_zip64(std::int64_t size) { return checked_add(checked_add(size, size / 1000), 65536) >= kInZip64; }

std::string zip_local_header(const ZipRecord& member) {
  CHECK(member.zip64 || std::max(member.size, member.compressed_size) < kInZip64,
        "what 32 bits cannot hold stands in ZIP64");
  CHECK(member.name.size() <= 0xFFFF, "a name has a length of two bytes");
  const auto extra = zip64_field(sizes_of(member));
  std::string out = "PK\x03\x04";
  append_fields(out, member, member.zip64);
  append16(out, static_cast<std::uint16_t>(member.name.size()));
  append16(out, static_cast<std::uint16_t>(extra.size()));
  return out + member.name + extra;
}

std::string zip_directory(const std::vector<ZipRecord>& members, std::int64_t offset) {
  std::string out;
  for (const auto& member : members) out += directory_entry(member);
  const auto size = static_cast<std::int64_t>(out.size());
  const auto count = static_cast<std::int64_t>(members.size());
  CHECK(count < kMostShortMembers && size < kInZip64, "a directory has some members");
  const bool zip64 =
      offset >= kInZip64 || std::any_of(members.begin(), members.end(), [](const auto& m) { return m.zip64; });
  if (zip64) {
    out += "PK\x06\x06";
    append64(out, 44);
    append16(out, 45);
    append16(out, 45);
    append32(out, 0);
    append32(out, 0);
    append64(out, count);
    append64(out, count);
    append64(out, size);
    append64(out, offset);
    out += "PK\x06\x07";
    append32(out, 0);
    append64(out, checked_add(offset, size));
    append32(out, 1);
  }
  out += "PK\x05\x06";
  append32(out, 0);
  append16(out, static_cast<std::uint16_t>(count));
  append16(out, static_cast<std::uint16_t>(count));
  append32(out, static_cast<std::uint32_t>(size));
  append32(out, zip64 ? kInZip64 : static_cast<std::uint32_t>(offset));
  append16(out, 0);
  return out;
}

std::uint32_t zip_checksum(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(before, zlib_bytes(bytes), bytes.size()));
}

struct Deflater::State {
  z_stream stream{};
  std::vector<std::byte> out = std::vector<std::byte>(kZipBuffer);
};

Deflater::Deflater() : state_(std::make_unique<State>()) {
  // A negative value selects raw deflate, as ZIP requires.
  CHECK(deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib has memory and the right version");
}

Deflater::~Deflater() { deflateEnd(&state_->stream); }

void Deflater::add(std::span<const std::byte> bytes, bool last, const Write& write) {
  auto& stream = state_->stream;
  auto& out = state_->out;
  stream.next_in = const_cast<Bytef*>(zlib_bytes(bytes));  // NOLINT(cppcoreguidelines-pro-type-const-cast): zlib's C
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    status = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    CHECK(status != Z_STREAM_ERROR, "zlib's stream is intact");
    write(std::span<const std::byte>(out).first(out.size() - stream.avail_out));
  } while (stream.avail_out == 0);
  CHECK(stream.avail_in == 0 && (status == Z_STREAM_END) == last, "zlib has taken and given all");
}

void ZipWriter::add(const std::string& name, const InputFile& contents, const ByteProgress& progress) {
  ZipRecord member{.name = name, .compression = compression_, .size = contents.size(), .header_offset = end_};
  CHECK(member.size > 0, "a member has contents");
  member.zip64 = needs_zip64(member.size);
  const auto begin = end_ + static_cast<std::int64_t>(zip_local_header(member).size());
  const auto write = [&](std::span<const std::byte> bytes) {
    file_.write_at(begin + member.compressed_size, bytes);
    member.compressed_size += static_cast<std::int64_t>(bytes.size());
  };
  std::optional<Deflater> deflater;
  if (compression_ == Compression::Deflate) deflater.emplace();
  std::vector<std::byte> buffer(kZipBuffer);
  for (std::int64_t done = 0; done < member.size;) {
    if (progress) progress(done, member.size);
    const auto part = std::span(buffer).first(std::min(buffer.size(), static_cast<std::size_t>(member.size - done)));
    contents.read(done, part);
    member.crc = zip_checksum(member.crc, part);
    done += static_cast<std::int64_t>(part.size());
    if (deflater) deflater->add(part, done == member.size, write);
    else write(part);
  }
  const auto local = zip_local_header(member);
  file_.write_at(end_, std::as_bytes(std::span(local)));
  end_ = checked_add(begin, member.compressed_size);
  members_.push_back(std::move(member));
}

void ZipWriter::finish() {
  const auto directory = zip_directory(members_, end_);
  file_.write_at(end_, std::as_bytes(std::span(directory)));
}

}  // namespace eindb

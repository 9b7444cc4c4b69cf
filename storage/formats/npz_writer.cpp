// zip_directory.cpp documents the ZIP format. This archive has a single member, at its beginning. With ZIP64, every
// size is in the extra fields and in the ZIP64 end record.

#include "storage/formats/npz_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/little_endian.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/zip_directory.hpp"

namespace eindb {
namespace {

constexpr std::size_t kCopyBytes = 512 << 10;
constexpr std::size_t kLongestMemberName = 4096;
/// 1 January 1980, the beginning of the format's calendar, so that equal tensors give identical files.
constexpr std::uint16_t kDate = 0x0021;
constexpr std::uint16_t kUtf8Name = 0x0800;

void append16(std::string& out, std::uint16_t value) { append_little_endian(out, value); }
void append32(std::string& out, std::uint32_t value) { append_little_endian(out, value); }
void append64(std::string& out, std::int64_t value) { append_little_endian(out, static_cast<std::uint64_t>(value)); }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

const Bytef* zlib_bytes(std::span<const std::byte> bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }

std::string member_name(const std::string& member) {
  if (member.empty() || member.size() > kLongestMemberName)
    throw Error(ErrorKind::Value,
                "the name of a member has between 1 and " + std::to_string(kLongestMemberName) + " bytes");
  return member.ends_with(".npy") ? member : member + ".npy";
}

std::uint32_t checksum_of(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(before, zlib_bytes(bytes), bytes.size()));
}

/// The checksum after `count` more zero bytes. The checksums of 1, 2, 4, ... zeros are combined from each other with
/// zlib's checksum concatenation; 5 zeros are 1 and 4.
std::uint32_t checksum_of_zeros(std::uint32_t before, std::int64_t count) {
  auto result = before;
  const std::byte zero{};
  auto doubled = checksum_of(0, {&zero, 1});
  for (std::int64_t length = 1; length <= count; length *= 2) {
    if ((count & length) != 0) result = static_cast<std::uint32_t>(crc32_combine(result, doubled, length));
    doubled = static_cast<std::uint32_t>(crc32_combine(doubled, doubled, length));
    if (length > count / 2) break;
  }
  return result;
}

std::vector<std::string> members_of(const InputFile& archive) {
  std::vector<std::string> names;
  for (const auto& entry : read_zip_directory(archive)) names.push_back(entry.name);
  return names;
}

/// A zlib stream that ends with its scope.
class Deflater {
 public:
  Deflater() {
    // A negative value selects raw deflate, as ZIP requires.
    CHECK(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          "zlib has memory and the right version");
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Passes the output to `write`; `last` marks the end of the input.
  template <class Write>
  void add(std::span<const std::byte> bytes, bool last, const Write& write) {
    stream_.next_in = const_cast<Bytef*>(zlib_bytes(bytes));  // NOLINT(cppcoreguidelines-pro-type-const-cast): zlib's C
    stream_.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      status = ::deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      CHECK(status != Z_STREAM_ERROR, "zlib's stream is intact");
      write(std::span<const std::byte>(out_).first(out_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
    CHECK(stream_.avail_in == 0 && (status == Z_STREAM_END) == last, "zlib has taken and given all");
  }

 private:
  z_stream stream_{};
  std::vector<std::byte> out_ = std::vector<std::byte>(kCopyBytes);
};

}  // namespace

NpzWriter::NpzWriter(const FilePath& path, const std::string& member, StoredType type, Shape shape,
                     Compression compression, Overwrite overwrite)
    : file_(path),
      name_(member_name(member)),
      dtype_(type.values),
      element_(npy_file_element_of(type)),
      shape_(std::move(shape)),
      compression_(compression) {
  require_regular_file(file_.is_seekable(), file_.path(), "NPZ");
  keep_other_arrays(file_, path, name_, overwrite, members_of);
  const auto header = make_npy_header(element_, shape_);
  npy_header_ = static_cast<std::int64_t>(header.size());
  const auto values = checked_multiply(shape_.element_count(), std::int64_t{element_.size});
  size_ = checked_add(npy_header_, values);
  // Incompressible data grow by five bytes per block of 16 KiB.
  const auto longest = checked_add(checked_add(size_, size_ / 1000), 65536);
  zip64_ = longest >= kInZip64;
  data_offset_ = static_cast<std::int64_t>(local_header({}).size());
  if (compression_ == Compression::Deflate) scratch_.emplace().resize(size_);
  else file_.resize(checked_add(data_offset_, size_));
  put(0, bytes_of(header));
}

void NpzWriter::put(std::int64_t offset, std::span<const std::byte> bytes) {
  CHECK(offset >= 0 && std::cmp_less_equal(bytes.size(), size_ - offset), "bytes lie in the file of the array");
  if (scratch_) scratch_->write_at(offset, bytes);
  else file_.write_at(data_offset_ + offset, bytes);
}

void NpzWriter::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  write_dense_block(shape_, begin, block, element_,
                    [&](std::int64_t offset, auto bytes) { put(npy_header_ + offset, bytes); });
}

NpzWriter::Contents NpzWriter::checksum(const ByteProgress& progress) const {
  Contents contents{.crc = 0, .compressed_size = size_};
  std::vector<std::byte> buffer(kCopyBytes);
  for (std::int64_t done = 0; done < size_;) {
    if (progress) progress(done, size_);
    const auto zeros = std::min(file_.next_written(data_offset_ + done) - data_offset_, size_) - done;
    CHECK(zeros >= 0, "what was written lies ahead");
    contents.crc = checksum_of_zeros(contents.crc, zeros);
    done += zeros;
    const auto part = std::span(buffer).first(std::min(buffer.size(), static_cast<std::size_t>(size_ - done)));
    file_.read_at(data_offset_ + done, part);
    contents.crc = checksum_of(contents.crc, part);
    done += static_cast<std::int64_t>(part.size());
  }
  return contents;
}

NpzWriter::Contents NpzWriter::deflate(const ByteProgress& progress) {
  CHECK(scratch_.has_value(), "what is deflated was written to a temporary file");
  const auto npy = scratch_->read(file_.path());
  Contents contents;
  Deflater deflater;
  std::vector<std::byte> buffer(kCopyBytes);
  for (std::int64_t done = 0; done < size_;) {
    if (progress) progress(done, size_);
    const auto part = std::span(buffer).first(std::min(buffer.size(), static_cast<std::size_t>(size_ - done)));
    npy->read(done, part);
    contents.crc = checksum_of(contents.crc, part);
    done += static_cast<std::int64_t>(part.size());
    deflater.add(part, done == size_, [&](std::span<const std::byte> bytes) {
      file_.write_at(data_offset_ + contents.compressed_size, bytes);
      contents.compressed_size += static_cast<std::int64_t>(bytes.size());
    });
  }
  return contents;
}

std::string NpzWriter::local_header(const Contents& contents) const {
  const bool ascii =
      std::all_of(name_.begin(), name_.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  CHECK(zip64_ || std::max(size_, contents.compressed_size) < kInZip64, "what 32 bits cannot hold stands in ZIP64");
  std::string out = "PK\x03\x04";
  append16(out, zip64_ ? 45 : 20);
  append16(out, ascii ? 0 : kUtf8Name);
  append16(out, compression_ == Compression::Deflate ? 8 : 0);
  append16(out, 0);
  append16(out, kDate);
  append32(out, contents.crc);
  append32(out, zip64_ ? kInZip64 : static_cast<std::uint32_t>(contents.compressed_size));
  append32(out, zip64_ ? kInZip64 : static_cast<std::uint32_t>(size_));
  append16(out, static_cast<std::uint16_t>(name_.size()));
  append16(out, zip64_ ? 20 : 0);
  out += name_;
  if (!zip64_) return out;
  append16(out, 1);
  append16(out, 16);
  append64(out, size_);
  append64(out, contents.compressed_size);
  return out;
}

/// The central directory, followed by the end records.
std::string NpzWriter::directory(const Contents& contents) const {
  const auto local = local_header(contents);
  CHECK(std::cmp_equal(local.size(), data_offset_), "a member's header takes the room that was left for it");
  const auto version_to_extra_length = local.substr(4, 26);
  std::string out = "PK\x01\x02";
  append16(out, zip64_ ? 45 : 20);
  out += version_to_extra_length;
  append16(out, 0);  // no comment
  append16(out, 0);  // volume
  append16(out, 0);
  append32(out, 0);  // attributes
  append32(out, 0);  // offset of the local header
  out += local.substr(30);
  const auto size = out.size();
  const auto offset = data_offset_ + contents.compressed_size;
  CHECK(zip64_ || offset < kInZip64, "a directory beyond 32 bits is found by way of ZIP64");
  if (zip64_) {
    out += "PK\x06\x06";
    append64(out, 44);
    append16(out, 45);
    append16(out, 45);
    append32(out, 0);
    append32(out, 0);
    append64(out, 1);
    append64(out, 1);
    append64(out, static_cast<std::int64_t>(size));
    append64(out, offset);
    out += "PK\x06\x07";
    append32(out, 0);
    append64(out, checked_add(offset, static_cast<std::int64_t>(size)));
    append32(out, 1);
  }
  out += "PK\x05\x06";
  append32(out, 0);
  append16(out, 1);
  append16(out, 1);
  append32(out, static_cast<std::uint32_t>(size));
  append32(out, zip64_ ? kInZip64 : static_cast<std::uint32_t>(offset));
  append16(out, 0);
  return out;
}

void NpzWriter::commit(const ByteProgress& progress) {
  const auto contents = compression_ == Compression::Deflate ? deflate(progress) : checksum(progress);
  file_.write_at(0, bytes_of(local_header(contents)));
  file_.write_at(data_offset_ + contents.compressed_size, bytes_of(directory(contents)));
  file_.commit();
}

}  // namespace eindb

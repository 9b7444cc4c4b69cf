// zip_directory.cpp documents the ZIP format. This archive has a single member, at its beginning.

#include "storage/formats/npz_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/zip_directory.hpp"

namespace eindb {
namespace {

constexpr std::size_t kCopyBytes = 512 << 10;
constexpr std::size_t kLongestMemberName = 4096;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string member_name(const std::string& member) {
  if (member.empty() || member.size() > kLongestMemberName)
    throw Error(ErrorKind::Value,
                "the name of a member has between 1 and " + std::to_string(kLongestMemberName) + " bytes");
  return member.ends_with(".npy") ? member : member + ".npy";
}

/// The checksum after `count` more zero bytes. The checksums of 1, 2, 4, ... zeros are combined from each other with
/// zlib's checksum concatenation; 5 zeros are 1 and 4.
std::uint32_t checksum_of_zeros(std::uint32_t before, std::int64_t count) {
  auto result = before;
  const std::byte zero{};
  auto doubled = zip_checksum(0, {&zero, 1});
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
  zip64_ = needs_zip64(size_);
  data_offset_ = static_cast<std::int64_t>(zip_local_header(record({})).size());
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
    contents.crc = zip_checksum(contents.crc, part);
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
    contents.crc = zip_checksum(contents.crc, part);
    done += static_cast<std::int64_t>(part.size());
    deflater.add(part, done == size_, [&](std::span<const std::byte> bytes) {
      file_.write_at(data_offset_ + contents.compressed_size, bytes);
      contents.compressed_size += static_cast<std::int64_t>(bytes.size());
    });
  }
  return contents;
}

ZipRecord NpzWriter::record(const Contents& contents) const {
  return {.name = name_,
          .compression = compression_,
          .crc = contents.crc,
          .compressed_size = contents.compressed_size,
          .size = size_,
          .zip64 = zip64_};
}

void NpzWriter::commit(const ByteProgress& progress) {
  const auto contents = compression_ == Compression::Deflate ? deflate(progress) : checksum(progress);
  const auto member = record(contents);
  const auto local = zip_local_header(member);
  CHECK(std::cmp_equal(local.size(), data_offset_), "a member's header takes the room that was left for it");
  const auto end = checked_add(data_offset_, contents.compressed_size);
  file_.write_at(0, bytes_of(local));
  file_.write_at(end, bytes_of(zip_directory({member}, end)));
  file_.commit();
}

}  // namespace eindb

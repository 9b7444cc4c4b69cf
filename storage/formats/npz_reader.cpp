#include "storage/formats/npz_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/files/scratch_file.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_reader.hpp"
#include "storage/formats/zip_inflater.hpp"

namespace eindb {
namespace {

constexpr std::size_t kScanBytes = 1 << 20;
constexpr std::string_view kEnding = ".npy";

std::string without_ending(const std::string& name) {
  return name.ends_with(kEnding) ? name.substr(0, name.size() - kEnding.size()) : name;
}

ZipEntry choose_member(const InputFile& file, const std::string& wanted) {
  auto entries = npz_members(file);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(without_ending(entry.name));
  return entries[choose_array(file.path(), names, without_ending(wanted), "MEMBER")];
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

std::vector<ZipEntry> npz_members(const InputFile& file) {
  auto entries = read_zip_directory(file);
  std::erase_if(entries, [](const ZipEntry& entry) { return !entry.name.ends_with(kEnding); });
  return entries;
}

std::string npz_array_name(const ZipEntry& member) { return without_ending(member.name); }

std::string npz_member_text(const InputFile& file, const ZipEntry& member) {
  return file.path() + ": member " + quoted_name(member.name);
}

NpyHeader parse_npz_header(const std::string& name, std::span<const std::byte> prefix, std::int64_t size) {
  auto array = parse_npy_header(name, prefix, size);
  const auto bytes = array.data_offset + array.shape.element_count() * array.element.size;
  if (bytes == size) return array;
  throw Error(ErrorKind::Corrupt,
              name + " has " + std::to_string(size) + " bytes, but its array ends after " + std::to_string(bytes));
}

NpzReader::NpzReader(const FilePath& path, const ZipEntry& member, ByteProgress progress)
    : file_(path), entry_(member), progress_(std::move(progress)) {
  read_header();
}

NpzReader::NpzReader(const FilePath& path, const std::string& member, ByteProgress progress)
    : file_(path), entry_(choose_member(file_, member)), progress_(std::move(progress)) {
  read_header();
}

void NpzReader::read_header() {
  ZipInflater contents(file_, entry_);
  std::vector<std::byte> prefix(static_cast<std::size_t>(std::min(entry_.size, kNpyPrefix)));
  prefix.resize(contents.read(prefix));
  array_ = parse_npz_header(npz_member_text(file_, entry_), prefix, entry_.size);
}

/// Reads the member once: its checksum covers all bytes, and deflated bytes can only be read in order. Runs of zeros,
/// which deflate to almost nothing, take no disk space.
void NpzReader::prepare() {
  CHECK(!prepared_, "a member is prepared once");
  ZipInflater contents(file_, entry_);
  const bool stored = entry_.method == 0;
  std::optional<ScratchFile> scratch;
  if (!stored) scratch.emplace().resize(entry_.size);
  std::vector<std::byte> buffer(kScanBytes);
  std::int64_t done = 0;
  for (;;) {
    if (progress_) progress_(done, entry_.size);
    const auto got = std::span(buffer).first(contents.read(buffer));
    if (got.empty()) break;
    if (scratch && !is_zero(got)) scratch->write_at(done, got);
    done += static_cast<std::int64_t>(got.size());
  }
  CHECK(done == entry_.size, "a member is read whole");
  if (scratch) inflated_ = scratch->read(file_.path());
  else array_.data_offset += contents.data_offset();
  prepared_ = true;
}

Tile NpzReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
  if (!prepared_) prepare();
  return read_dense_block(inflated_ ? *inflated_ : file_, array_, begin, extents);
}

}  // namespace eindb

#include "storage/tiles/scratch_tiles.hpp"

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <new>
#include <span>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kPage = 4096;

std::int64_t room_of(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint64_t checksum_of(const Tile& tile) { return XXH3_64bits(tile.bytes().data(), tile.byte_size()); }

}  // namespace

std::int64_t ScratchTiles::take_room(std::int64_t bytes) {
  CHECK(bytes >= 0 && bytes % kPage == 0, "room in the file is taken in pages");
  const std::lock_guard lock(mutex_);
  if (!file_) file_.emplace(directory_);
  if (const auto found = free_.find(bytes); found != free_.end() && !found->second.empty()) {
    const auto offset = found->second.back();
    found->second.pop_back();
    CHECK(offset >= 0 && bytes <= end_ - offset, "room that is used again lies in the file");
    return offset;
  }
  const auto offset = end_;
  end_ += bytes;
  return offset;
}

ScratchTiles::Place ScratchTiles::write(const Tile& tile) {
  const auto bytes = static_cast<std::int64_t>(tile.byte_size());
  const Place place{.offset = take_room(room_of(bytes)), .bytes = bytes, .checksum = checksum_of(tile)};
  try {
    file_->write_at(place.offset, tile.bytes());
  } catch (...) {
    remove(place);
    throw;
  }
  return place;
}

void ScratchTiles::read(const Place& place, Tile& tile) const {
  CHECK(static_cast<std::int64_t>(tile.byte_size()) == place.bytes, "a tile is read back into one of its size");
  CHECK(file_.has_value(), "a tile is read back from the file that it was written to");
  file_->read_at(place.offset, tile.mutable_bytes());
  if (checksum_of(tile) == place.checksum) return;
  throw Error(ErrorKind::Corrupt,
              "a tile that was written to a temporary file in " + file_->directory() + " came back changed",
              std::nullopt, "check the disk that it lies on");
}

void ScratchTiles::remove(const Place& place) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_[room_of(place.bytes)].push_back(place.offset);
  } catch (const std::bad_alloc&) {  // the space is not reused then
  }
}

}  // namespace eindb

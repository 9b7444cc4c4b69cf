#include "storage/tiles/scratch_tiles.hpp"

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <array>
#include <memory>
#include <new>
#include <numeric>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kPage = 4096;

std::int64_t room_of(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// The pieces of memory that a tile lies in, in the order in which the file has them.
std::vector<std::span<const std::byte>> pieces_of(const Tile& tile) {
  if (!tile.is_of_cells()) return {tile.bytes()};
  const auto& trie = tile.cells().trie();
  std::vector<std::span<const std::byte>> pieces{trie.values};
  for (const auto& level : trie.levels) {
    pieces.push_back(std::as_bytes(std::span(level.coordinates)));
    pieces.push_back(std::as_bytes(std::span(level.begins)));
  }
  return pieces;
}

// Each piece begins with the checksum of those before it.
template <class Pieces>
std::uint64_t checksum_of(const Pieces& pieces) {
  std::uint64_t checksum = 0;
  for (const auto& piece : pieces) checksum = XXH3_64bits_withSeed(piece.data(), piece.size(), checksum);
  return checksum;
}

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
  const auto pieces = pieces_of(tile);
  Place place{.dtype = tile.dtype(), .shape = tile.shape(), .bytes = static_cast<std::int64_t>(tile.byte_size())};
  if (tile.is_of_cells())
    for (const auto& level : tile.cells().trie().levels)
      place.levels.push_back({level.coordinates.size(), level.begins.size()});
  place.checksum = checksum_of(pieces);
  place.offset = take_room(room_of(place.bytes));
  try {
    auto offset = place.offset;
    for (const auto& piece : pieces) {
      if (!piece.empty()) file_->write_at(offset, piece);
      offset += static_cast<std::int64_t>(piece.size());
    }
    CHECK(offset == place.offset + place.bytes, "the pieces of a tile are all of it");
  } catch (...) {
    remove(place);
    throw;
  }
  return place;
}

Tile ScratchTiles::read(const Place& place) const {
  if (place.levels.empty()) {
    auto tile = Tile::uninitialized(place.dtype, place.shape);
    const std::array<std::span<std::byte>, 1> values{tile.mutable_bytes()};
    read_into(place, values);
    return tile;
  }
  GrowingTrie trie{.order = std::vector<std::size_t>(place.levels.size()), .levels = {}, .values = {}};
  std::iota(trie.order.begin(), trie.order.end(), std::size_t{0});
  trie.levels.resize(place.levels.size());
  trie.values.resize(place.levels.back().coordinates * size_of(place.dtype));
  std::vector<std::span<std::byte>> pieces{trie.values};
  for (std::size_t l = 0; l < place.levels.size(); ++l) {
    auto& level = trie.levels[l];
    level.coordinates.resize(place.levels[l].coordinates);
    level.begins.resize(place.levels[l].begins);
    pieces.push_back(std::as_writable_bytes(std::span(level.coordinates)));
    pieces.push_back(std::as_writable_bytes(std::span(level.begins)));
  }
  read_into(place, pieces);
  return Tile::of_cells(std::make_shared<const CellBlock>(place.dtype, place.shape, std::move(trie).take()));
}

void ScratchTiles::read_into(const Place& place, std::span<const std::span<std::byte>> pieces) const {
  CHECK(file_.has_value(), "a tile is read back from the file that it was written to");
  auto offset = place.offset;
  for (const auto& piece : pieces) {
    if (!piece.empty()) file_->read_at(offset, piece);
    offset += static_cast<std::int64_t>(piece.size());
  }
  CHECK(offset == place.offset + place.bytes, "a tile is read back into one of its size");
  if (checksum_of(pieces) == place.checksum) return;
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

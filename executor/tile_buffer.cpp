#include "executor/tile_buffer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// The divisor for the part of the limit that is freed at a time, so that the search for tiles costs little per tile.
constexpr std::int64_t kShareAtATime = 64;

/// Up to so many tiles have a slot each from the beginning.
constexpr std::int64_t kMostSlots = std::int64_t{1} << 20U;

std::int64_t bytes_of(const TilePtr& tile) { return static_cast<std::int64_t>(tile->byte_size()); }

}  // namespace

BufferedTiles::BufferedTiles(std::shared_ptr<MemoryBudget> memory, std::int64_t count, Source source)
    : memory_(std::move(memory)),
      count_(count),
      source_(std::move(source)),
      slots_(static_cast<std::size_t>(count <= kMostSlots ? count : 0)) {
  CHECK(memory_ != nullptr && count >= 0, "tiles count in a budget");
  if (source_ != nullptr)
    for (auto& place : slots_) place.away = true;
  memory_->buffer().add(*this);
}

BufferedTiles::~BufferedTiles() {
  memory_->buffer().remove(*this);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return leaving_ == 0; });
  for (auto& slot : slots_) forget(std::move(slot.written));
  for (auto& [number, slot] : some_) forget(std::move(slot.written));
}

BufferedTiles::Slot& BufferedTiles::slot(std::int64_t number) {
  if (!slots_.empty()) return slots_[static_cast<std::size_t>(number)];
  const auto [found, is_new] = some_.try_emplace(number);
  if (is_new) found->second.away = source_ != nullptr;
  return found->second;
}

bool BufferedTiles::was_never_there(std::int64_t number) const {
  return slots_.empty() && source_ == nullptr && !some_.contains(number);
}

std::optional<std::int64_t> BufferedTiles::next(std::int64_t from) {
  const std::lock_guard lock(mutex_);
  const auto is_present = [](const Slot& slot) { return slot.tile != nullptr || slot.away || slot.coming; };
  if (slots_.empty()) {
    if (source_ != nullptr) return from < count_ ? std::optional(from) : std::nullopt;
    for (auto at = some_.lower_bound(from); at != some_.end(); ++at)
      if (is_present(at->second)) return at->first;
    return std::nullopt;
  }
  for (; from < count_; ++from)
    if (is_present(slots_[static_cast<std::size_t>(from)])) return from;
  return std::nullopt;
}

void BufferedTiles::forget(std::unique_ptr<ScratchTiles::Place> written) noexcept {
  if (written != nullptr) memory_->buffer().scratch_.remove(*written);
}

void BufferedTiles::put(std::int64_t number, TilePtr tile) {
  CHECK(number >= 0 && number < count(), "a tile is put in a place of its relation");
  if (tile == nullptr) return;
  const auto bytes = bytes_of(tile);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const auto now = memory_->buffer().clock_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  auto& place = slot(number);
  CHECK(place.tile == nullptr && !place.away, "a tile is put where there is none");
  place.tile = std::move(tile);
  place.bytes = bytes;
  place.used = now;
}

TilePtr BufferedTiles::get(std::int64_t number) {
  CHECK(number >= 0 && number < count(), "a tile is got from a place of its relation");
  std::unique_lock lock(mutex_);
  if (was_never_there(number)) return nullptr;
  auto& place = slot(number);
  if (place.coming) {
    const MemoryBudget::Waiting scope(*memory_);
    changed_.wait(lock, [&] { return !place.coming; });
  }
  place.used = memory_->buffer().clock_.load(std::memory_order_relaxed);
  if (!place.away) return place.tile;
  place.coming = true;
  const auto* written = place.written.get();
  lock.unlock();
  // No other thread changes the slot meanwhile.
  TilePtr tile;
  try {
    tile = bring_back(number, written);
  } catch (...) {
    lock.lock();
    place.coming = false;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  place.tile = tile;
  place.away = false;
  place.coming = false;
  if (place.bytes == 0 && tile != nullptr) {
    place.bytes = bytes_of(tile);
    bytes_.fetch_add(place.bytes, std::memory_order_relaxed);
  }
  place.used = memory_->buffer().clock_.fetch_add(1, std::memory_order_relaxed);
  changed_.notify_all();
  return tile;
}

TilePtr BufferedTiles::get_values(std::int64_t number) {
  auto tile = get(number);
  if (tile == nullptr || !tile->is_of_cells()) return tile;
  std::call_once(expanding_, [&] {
    expanded_ = std::make_unique<BufferedTiles>(memory_, count_, [this](std::int64_t n) { return expand(n); });
  });
  return expanded_->get(number);
}

TilePtr BufferedTiles::expand(std::int64_t number) {
  const auto cells = get(number);
  CHECK(cells != nullptr && cells->is_of_cells(), "a tile that is expanded has cells");
  auto counted = counted_tile(memory_, cells->dtype(), cells->shape());
  cells->cells().expand(counted.tile.mutable_bytes());
  return memory_->track(std::move(counted));
}

TilePtr BufferedTiles::bring_back(std::int64_t number, const ScratchTiles::Place* written) {
  CHECK(written != nullptr || source_ != nullptr, "a tile that is away was written, or can be made again");
  if (written == nullptr) return source_(number);
  auto& buffer = memory_->buffer();
  MemoryReservation reservation(memory_, written->bytes);
  auto tile = buffer.scratch_.read(*written);
  buffer.read_bytes_.fetch_add(written->bytes, std::memory_order_relaxed);
  return memory_->track(CountedTile{std::move(reservation), std::move(tile)});
}

TilePtr BufferedTiles::take(std::int64_t number) {
  auto tile = get(number);
  drop(number);
  return tile;
}

CountedTile BufferedTiles::take_alone(std::int64_t number) {
  auto tile = take(number);
  {
    // A thread that is about to evict the tile may still read it.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return leaving_ == 0; });
  }
  return memory_->untrack(std::move(tile));
}

void BufferedTiles::drop(std::int64_t number) {
  CHECK(number >= 0 && number < count(), "a tile that is let go has a place in its relation");
  TilePtr tile;
  std::unique_ptr<ScratchTiles::Place> written;
  {
    std::unique_lock lock(mutex_);
    if (was_never_there(number)) return;
    auto& place = slot(number);
    changed_.wait(lock, [&] { return !place.coming; });
    tile = std::move(place.tile);
    written = std::move(place.written);
    place.away = false;
    bytes_.fetch_sub(std::exchange(place.bytes, 0), std::memory_order_relaxed);
  }
  forget(std::move(written));
}

// Null if the tile need not be written: it can be made again, is already written, or is gone.
std::unique_ptr<ScratchTiles::Place> BufferedTiles::write(const Victim& victim) {
  if (source_ != nullptr) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto& place = slot(victim.number);
    if (place.tile != victim.tile || place.written != nullptr) return nullptr;
  }
  auto& buffer = memory_->buffer();
  auto written = std::make_unique<ScratchTiles::Place>(buffer.scratch_.write(*victim.tile));
  buffer.written_bytes_.fetch_add(bytes_of(victim.tile), std::memory_order_relaxed);
  return written;
}

// Returns whether the tile was evicted. A thread that requested it during the write keeps it; a thread that took it
// owns it.
bool BufferedTiles::finish(Victim victim, std::unique_ptr<ScratchTiles::Place>& written) noexcept {
  const std::lock_guard lock(mutex_);
  auto& place = slot(victim.number);
  bool goes = false;
  if (place.tile == victim.tile) {
    if (written != nullptr) place.written = std::move(written);
    goes = place.tile.use_count() == 2 && (place.written != nullptr || source_ != nullptr);
    if (goes) place.tile.reset();
    place.away = goes;
  }
  victim.tile.reset();
  --leaving_;
  changed_.notify_all();  // with the lock held, since otherwise the tiles may be destroyed already
  return goes;
}

// Returns the number of bytes freed.
std::int64_t BufferedTiles::let_go(Victim victim) {
  const auto memory = memory_;  // the tiles may be destroyed at the end
  const auto bytes = bytes_of(victim.tile);
  std::unique_ptr<ScratchTiles::Place> written;
  try {
    written = write(victim);
  } catch (...) {
    finish(std::move(victim), written);
    throw;
  }
  const bool went = finish(std::move(victim), written);
  if (written != nullptr) memory->buffer().scratch_.remove(*written);
  return went ? bytes : 0;
}

void TileBuffer::add(BufferedTiles& tiles) noexcept {
  const std::lock_guard lock(mutex_);
  tiles.before_ = last_;
  (last_ != nullptr ? last_->behind_ : first_) = &tiles;
  last_ = &tiles;
}

void TileBuffer::remove(BufferedTiles& tiles) noexcept {
  const std::lock_guard lock(mutex_);
  (tiles.before_ != nullptr ? tiles.before_->behind_ : first_) = tiles.behind_;
  (tiles.behind_ != nullptr ? tiles.behind_->before_ : last_) = tiles.before_;
}

// Tiles with the furthest next use first; among equals the least recently used ones.
std::vector<BufferedTiles::Victim> TileBuffer::choose(std::int64_t bytes) {
  struct Candidate {
    std::int64_t next_use;
    std::uint64_t used;
    BufferedTiles* tiles;
    std::int64_t number;
    // The heap of the standard library returns the largest element.
    bool operator<(const Candidate& other) const {
      return std::tie(next_use, other.used) < std::tie(other.next_use, used);
    }
  };
  std::vector<Candidate> candidates;
  const std::lock_guard lock(mutex_);
  for (auto* tiles = first_; tiles != nullptr; tiles = tiles->behind_) {
    const std::lock_guard tiles_lock(tiles->mutex_);
    const auto next_use = tiles->next_use_.load(std::memory_order_relaxed);
    const auto consider = [&](std::int64_t number, const BufferedTiles::Slot& slot) {
      if (slot.tile == nullptr || slot.tile.use_count() > 1 || slot.bytes == 0 || slot.tile->is_borrowed()) return;
      candidates.push_back({next_use, slot.used, tiles, number});
    };
    std::int64_t number = 0;
    for (const auto& slot : tiles->slots_) consider(number++, slot);
    for (const auto& [sparse_number, slot] : tiles->some_) consider(sparse_number, slot);
  }
  std::make_heap(candidates.begin(), candidates.end());
  std::vector<BufferedTiles::Victim> victims;
  while (bytes > 0 && !candidates.empty()) {
    const auto [next_use, used, tiles, number] = candidates.front();
    std::pop_heap(candidates.begin(), candidates.end());
    candidates.pop_back();
    const std::lock_guard tiles_lock(tiles->mutex_);
    auto& slot = tiles->slot(number);
    if (slot.tile == nullptr || slot.tile.use_count() > 1) continue;
    bytes -= bytes_of(slot.tile);
    victims.push_back({tiles, number, slot.tile});
    ++tiles->leaving_;
  }
  return victims;
}

std::int64_t TileBuffer::evict(std::int64_t bytes) {
  CHECK(bytes > 0, "room is made for something");
  struct Scope {
    explicit Scope(std::atomic<int>& counter) : count(counter) { ++count; }
    ~Scope() { --count; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    std::atomic<int>& count;
  };
  const Scope scope(evicting_);
  // Tiles requested during their write stay in memory; then other tiles are evicted.
  for (;;) {
    auto victims = choose(std::max(bytes, budget_.limit() / kShareAtATime));
    if (victims.empty()) return 0;
    if (const auto freed = let_go(std::move(victims)); freed > 0) return freed;
  }
}

std::int64_t TileBuffer::let_go(std::vector<BufferedTiles::Victim> victims) {
  std::int64_t freed = 0;
  for (auto victim = victims.begin(); victim != victims.end(); ++victim) {
    auto* tiles = victim->tiles;
    try {
      freed += tiles->let_go(std::move(*victim));
    } catch (...) {
      std::unique_ptr<ScratchTiles::Place> nothing;
      while (++victim != victims.end()) {
        tiles = victim->tiles;
        tiles->finish(std::move(*victim), nothing);
      }
      throw;
    }
  }
  return freed;
}

}  // namespace eindb

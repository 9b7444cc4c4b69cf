#include "engine/tensors/tile_cache.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// The size of an entry without its tile. Absent tiles have entries, too.
constexpr std::int64_t kEntryBytes = 192;
/// Eviction frees at least this part of the limit at a time (as a divisor).
constexpr std::int64_t kShareAtATime = 8;

}  // namespace

TileCache::Statement::Statement(TileCache& cache, std::shared_ptr<MemoryBudget> memory, std::uint64_t version,
                                std::int64_t capacity)
    : cache_(cache), capacity_(capacity) {
  cache_.begin(std::move(memory), version);
}

TileCache::Statement::~Statement() { cache_.end(capacity_); }

TileCache::TileCache(std::shared_ptr<TileCachePool> pool) : pool_(std::move(pool)) {
  if (pool_ != nullptr) in_pool_ = pool_->join(*this);
}

TileCache::~TileCache() {
  if (pool_ != nullptr) pool_->leave(in_pool_);
}

void TileCache::begin(std::shared_ptr<MemoryBudget> memory, std::uint64_t version) {
  CHECK(memory_ == nullptr, "a session runs one statement at a time");
  CHECK(memory != nullptr, "a statement has a budget for the tiles that it reads");
  if (pool_ != nullptr) pool_->begin_use(in_pool_);
  if (std::exchange(version_, version) != version) forget();
  memory_ = std::move(memory);
  memory_->set_keeper(this);
  // Evicts tiles that were kept under a larger limit.
  if (const auto excess = idle_bytes() - memory_->limit(); excess > 0) evict(excess);
}

void TileCache::end(std::int64_t capacity) noexcept {
  Entries gone;
  memory_->set_keeper(nullptr);
  {
    const std::lock_guard lock(mutex_);
    for (auto& tensor : tensors_) end_use(tensor);
  }
  if (pool_ != nullptr) capacity = pool_->grant(in_pool_, std::min<std::int64_t>(idle_, capacity));
  {
    const std::lock_guard lock(mutex_);
    remove(idle_ - capacity, gone);
  }
  memory_.reset();
  if (pool_ != nullptr) pool_->end_use(in_pool_);
}

void TileCache::forget() noexcept {
  by_key_.clear();
  entries_.clear();
  numbers_.clear();
  tensors_.clear();
  idle_ = 0;
}

std::uint32_t TileCache::number_of(const std::string& tensor) {
  const std::lock_guard lock(mutex_);
  if (const auto known = numbers_.find(tensor); known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(tensors_.size());
  tensors_.emplace_back();
  try {
    numbers_.emplace(tensor, number);
  } catch (...) {  // a number without its tensor would be given to another one
    tensors_.pop_back();
    throw;
  }
  CHECK(number < tensors_.size() && numbers_.size() == tensors_.size(), "tensors of a cache are numbered in order");
  return number;
}

void TileCache::end_use(Tensor& tensor) noexcept {
  DCHECK(tensor.counted >= 0, "no more is released than was counted");
  memory_->release(tensor.counted);
  idle_ += std::exchange(tensor.counted, 0);
  ++tensor.use;
}

void TileCache::let_go(std::uint32_t tensor) noexcept {
  const std::lock_guard lock(mutex_);
  end_use(tensors_[tensor]);
}

void TileCache::use(Entries::iterator entry) {
  DCHECK(!entry->coming, "an entry is used when it has come");
  entries_.splice(entries_.begin(), entries_, entry);
  auto& tensor = tensors_[entry->key.tensor];
  if (std::exchange(entry->use, tensor.use) == tensor.use) return;
  CHECK(idle_ >= entry->bytes, "an entry that nobody used is idle");
  // Idle bytes are already counted against the limit, so there is room for them.
  idle_ -= entry->bytes;
  tensor.counted += entry->bytes;
  memory_->add(entry->bytes);
}

TileCache::Found TileCache::find(std::uint32_t tensor, std::int64_t tile_id) {
  const Key key{tensor, tile_id};
  std::unique_lock lock(mutex_);
  CHECK(tensor < tensors_.size(), "a tensor has a number before its tiles are read");
  DCHECK(memory_ != nullptr, "tiles are asked for in a statement");
  DCHECK(by_key_.size() == entries_.size(), "every entry of a cache is found by its key");
  for (;;) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) break;
    if (!found->second->coming) {
      use(found->second);
      return {.tile = found->second->tile};
    }
    const MemoryBudget::Waiting scope(*memory_);
    came_.wait(lock);
  }
  entries_.push_front(Entry{.key = key, .tile = nullptr, .bytes = 0, .use = 0, .coming = true});
  const auto entry = entries_.begin();
  by_key_.emplace(key, entry);
  return {.is_new = true, .entry = entry};
}

bool TileCache::has(std::uint32_t tensor, std::int64_t tile_id) const {
  const std::lock_guard lock(mutex_);
  return by_key_.contains(Key{tensor, tile_id});
}

// No other task uses the entry until its tile has arrived.
TilePtr TileCache::bring(Entries::iterator entry, const std::function<std::int64_t()>& needed,
                         const std::function<TilePtr()>& read) {
  misses_.fetch_add(1, std::memory_order_relaxed);
  try {
    const auto bytes = needed() + kEntryBytes;
    MemoryReservation reservation(memory_, bytes);
    auto tile = read();
    const auto taken = kEntryBytes + (tile == nullptr ? 0 : static_cast<std::int64_t>(tile->byte_size()));
    const std::lock_guard lock(mutex_);
    if (taken != bytes) memory_->add(taken - bytes);
    reservation.hand_over();
    entry->tile = tile;
    entry->bytes = taken;
    entry->coming = false;
    entry->use = tensors_[entry->key.tensor].use;
    tensors_[entry->key.tensor].counted += taken;
    came_.notify_all();
    return tile;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    by_key_.erase(entry->key);
    entries_.erase(entry);
    came_.notify_all();
    throw;
  }
}

std::int64_t TileCache::remove(std::int64_t bytes, Entries& gone) noexcept {
  std::int64_t removed = 0;
  for (auto next = entries_.end(); removed < bytes && next != entries_.begin();) {
    const auto entry = std::prev(next);
    if (entry->coming || entry->tile.use_count() > 1) {
      next = entry;
      continue;
    }
    removed += entry->bytes;
    if (auto& tensor = tensors_[entry->key.tensor]; entry->use == tensor.use) {
      tensor.counted -= entry->bytes;
      memory_->release(entry->bytes);
    } else {
      idle_ -= entry->bytes;
    }
    by_key_.erase(entry->key);
    gone.splice(gone.begin(), entries_, entry);
  }
  return removed;
}

std::int64_t TileCache::evict(std::int64_t bytes) {
  Entries gone;  // freed after the lock
  const std::lock_guard lock(mutex_);
  DCHECK(memory_ != nullptr, "a statement asks for the room of tiles while it runs");
  return remove(std::max(bytes, memory_->limit() / kShareAtATime), gone);
}

std::int64_t TileCache::drop(std::int64_t bytes) {
  Entries gone;  // freed after the lock
  const std::lock_guard lock(mutex_);
  return remove(bytes, gone);
}

}  // namespace eindb

#include "engine/tensors/tile_cache_pool.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "engine/tensors/tile_cache.hpp"

namespace eindb {

std::int64_t TileCachePool::limit_to(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  make_room();
  return bytes_;
}

std::int64_t TileCachePool::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::shared_ptr<const TileMemory::Limit> TileCachePool::resident() {
  const std::lock_guard lock(mutex_);
  auto held = resident_.lock();
  if (held == nullptr) resident_ = held = std::make_shared<const TileMemory::Limit>(memory_);
  return held;
}

TileCachePool::Members::iterator TileCachePool::join(TileCache& cache) {
  const std::lock_guard lock(mutex_);
  return members_.insert(members_.begin(), Member{.cache = &cache});
}

void TileCachePool::leave(Members::iterator member) {
  const std::lock_guard lock(mutex_);
  CHECK(!member->in_use, "a cache leaves after its statement has ended");
  bytes_ -= member->bytes;
  members_.erase(member);
}

void TileCachePool::begin_use(Members::iterator member) {
  const std::lock_guard lock(mutex_);
  CHECK(!member->in_use, "one statement at a time uses a cache");
  member->in_use = true;
}

std::int64_t TileCachePool::grant(Members::iterator member, std::int64_t wanted) {
  const std::lock_guard lock(mutex_);
  members_.splice(members_.begin(), members_, member);
  bytes_ += wanted - member->bytes;
  member->bytes = wanted;
  make_room();
  const auto excess = std::clamp<std::int64_t>(bytes_ - limit_, 0, wanted);
  bytes_ -= excess;
  member->bytes -= excess;
  DCHECK(is_valid(), "a pool counts what its caches were granted");
  return member->bytes;
}

void TileCachePool::end_use(Members::iterator member) {
  const std::lock_guard lock(mutex_);
  member->in_use = false;
  make_room();
}

void TileCachePool::make_room() {
  for (auto member = members_.rbegin(); member != members_.rend() && bytes_ > limit_; ++member) {
    if (member->in_use) continue;
    const auto gone = std::min(member->cache->drop(bytes_ - limit_), member->bytes);
    member->bytes -= gone;
    bytes_ -= gone;
  }
  DCHECK(is_valid(), "what caches drop is no longer counted");
}

bool TileCachePool::is_valid() const {
  std::int64_t bytes = 0;
  for (const auto& member : members_) {
    if (member.bytes < 0) return false;
    bytes += member.bytes;
  }
  return bytes == bytes_;
}

}  // namespace eindb

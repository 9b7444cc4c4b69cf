#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "tensor/tile_memory.hpp"

namespace eindb {

class TileCache;

/// Bounds the total size that the tile caches of several sessions keep between statements. If one cache needs more, the
/// caches of the sessions that have been inactive longest shrink. A cache counts while its session runs a statement,
/// but does not shrink then. Thread-safe; outlives its caches.
class TileCachePool {
 public:
  /// `limit`: bytes of all caches. `memory`: bytes of all tiles of the sessions, cached or not.
  TileCachePool(std::int64_t limit, std::int64_t memory) : memory_(memory), limit_(limit) {}

  /// Sets the limit. Returns the bytes still kept, which exceed it only if statements are running.
  std::int64_t limit_to(std::int64_t bytes);
  std::int64_t bytes() const;
  /// While the result is held, freed blocks of tiles are kept for reuse, up to `memory` bytes including the blocks in
  /// use.
  std::shared_ptr<const TileMemory::Limit> resident();

 private:
  friend class TileCache;

  struct Member {
    TileCache* cache;
    std::int64_t bytes = 0;
    bool in_use = false;
  };
  using Members = std::list<Member>;

  /// The functions for TileCache. The cache must not hold its own mutex, since the pool's mutex is locked first.
  Members::iterator join(TileCache& cache);
  void leave(Members::iterator member);
  void begin_use(Members::iterator member);
  /// The part of `wanted` bytes that the cache may keep. The cache must free the remainder.
  std::int64_t grant(Members::iterator member, std::int64_t wanted);
  void end_use(Members::iterator member);
  void make_room();
  bool is_valid() const;

  const std::int64_t memory_;
  mutable std::mutex mutex_;  // guards the members below
  std::int64_t limit_;
  std::int64_t bytes_ = 0;
  std::weak_ptr<const TileMemory::Limit> resident_;
  Members members_;  // the most recently used first
};

}  // namespace eindb

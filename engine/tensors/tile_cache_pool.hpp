#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "tensor/tile_memory.hpp"

namespace eindb {

class TileCache;

/// Bounds what the tile caches of several sessions keep between statements, all together: where one keeps more, the
/// caches of sessions that ran nothing for the longest time give way. Bytes of a cache whose session runs a statement
/// count, but stay. Thread-safe; outlives its caches.
class TileCachePool {
 public:
  /// `limit`: bytes of the caches. `memory`: of all that sessions have of tiles, cached or not.
  TileCachePool(std::int64_t limit, std::int64_t memory) : memory_(memory), limit_(limit) {}

  /// From now on at most so many bytes; what is kept then: more only where statements run.
  std::int64_t limit_to(std::int64_t bytes);
  std::int64_t bytes() const;
  /// While somebody holds it, blocks of tiles that are gone are kept for others, `memory` in all with those in use.
  std::shared_ptr<const TileMemory::Limit> resident();

 private:
  friend class TileCache;

  struct Member {
    TileCache* cache;
    std::int64_t bytes = 0;
    bool in_use = false;
  };
  using Members = std::list<Member>;

  /// The cache calls these without its own mutex: that of the pool is taken first.
  Members::iterator join(TileCache& cache);
  void leave(Members::iterator member);
  void begin_use(Members::iterator member);
  /// How much of `wanted` the cache may keep: what the others cannot give it must go.
  std::int64_t grant(Members::iterator member, std::int64_t wanted);
  void end_use(Members::iterator member);
  void make_room();
  bool is_valid() const;

  const std::int64_t memory_;
  mutable std::mutex mutex_;  // guards what follows
  std::int64_t limit_;
  std::int64_t bytes_ = 0;
  std::weak_ptr<const TileMemory::Limit> resident_;
  Members members_;  // the one used last first
};

}  // namespace eindb
